#include "visibility/discovery.h"

#include "visibility/api.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace regatta::visibility {
namespace {

struct Resource {
  const char* plural;
  const char* singular;
  bool namespaced;
};
constexpr Resource resources[] = {{"clusterqueues", "clusterqueue", false},
                                  {"localqueues", "localqueue", true}};
constexpr const char* kind = "PendingWorkloadsSummary";

std::string group_version(const std::string& version) {
  return std::string(group) + "/" + version;
}

Json version_entry(const std::string& version) {
  return Json{{"groupVersion", group_version(version)}, {"version", version}};
}

Json bare_group() {
  Json all = Json::array();
  for (const char* version : versions) all.push_back(version_entry(version));
  return Json{{"name", group}, {"versions", all}, {"preferredVersion", version_entry(versions[0])}};
}

Json aggregated(const Resource& resource) {
  const Json response{{"group", ""}, {"version", ""}, {"kind", kind}};
  Json sub{{"subresource", "pendingworkloads"},
           {"responseKind", response},
           {"verbs", Json::array({"get"})}};
  return Json{{"resource", resource.plural},
              {"responseKind", response},
              {"scope", resource.namespaced ? "Namespaced" : "Cluster"},
              {"singularResource", resource.singular},
              {"verbs", Json::array()},
              {"subresources", Json::array({std::move(sub)})}};
}

}  // namespace

bool known_version(std::string_view version) {
  return std::find(std::begin(versions), std::end(versions), version) != std::end(versions);
}

Json group_list() {
  return Json{
      {"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", Json::array({bare_group()})}};
}

Json group_discovery() {
  Json all = Json::array();
  for (const char* version : versions) {
    Json list = Json::array();
    for (const Resource& resource : resources) list.push_back(aggregated(resource));
    all.push_back(Json{{"version", version}, {"resources", list}, {"freshness", "Current"}});
  }
  const Json item{{"metadata", Json{{"name", group}}}, {"versions", all}};
  return Json{{"kind", "APIGroupDiscoveryList"},
              {"apiVersion", "apidiscovery.k8s.io/v2"},
              {"metadata", Json::object()},
              {"items", Json::array({item})}};
}

Json group_document() {
  Json out = bare_group();
  out["kind"] = "APIGroup";
  out["apiVersion"] = "v1";
  return out;
}

Json resource_list(const std::string& version) {
  Json list = Json::array();
  for (const Resource& resource : resources) {
    Json bare{{"name", resource.plural},
              {"singularName", resource.singular},
              {"namespaced", resource.namespaced},
              {"kind", kind},
              {"verbs", Json::array()}};
    Json sub = bare;
    sub["name"] = std::string(resource.plural) + "/pendingworkloads";
    sub["singularName"] = "";
    sub["verbs"] = Json::array({"get"});
    list.push_back(std::move(bare));
    list.push_back(std::move(sub));
  }
  return Json{{"kind", "APIResourceList"},
              {"apiVersion", "v1"},
              {"groupVersion", group_version(version)},
              {"resources", list}};
}

}  // namespace regatta::visibility
