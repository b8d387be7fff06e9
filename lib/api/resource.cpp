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

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

}  // namespace regatta::api
