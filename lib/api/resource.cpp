#include "lib/api/resource.h"

namespace regatta::api {

std::string ResourceInfo::api_version() const {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

std::string ResourceInfo::group_resource() const {
  return group.empty() ? std::string(plural) : std::string(plural) + "." + std::string(group);
}

std::string ResourceInfo::path(std::string_view ns, std::string_view name) const {
  std::string out = group.empty() ? "/api/" : "/apis/";
  out += api_version();
  if (namespaced && !ns.empty()) (out += "/namespaces/") += ns;
  (out += "/") += plural;
  if (!name.empty()) (out += "/") += name;
  return out;
}

}  // namespace regatta::api
