#include "lab/apiserver/patch/managed_fields.h"

#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace regatta::apiserver {
namespace {

constexpr std::size_t manager_name_max = 128;

Json encode_entry(const ManagedEntry& entry) {
  Json encoded = {{"manager", entry.manager},
                  {"operation", entry.applied ? "Apply" : "Update"},
                  {"apiVersion", entry.api_version},
                  {"fieldsType", "FieldsV1"},
                  {"fieldsV1", encode_field_set(entry.fields)}};
  if (!entry.time.empty()) encoded["time"] = entry.time;
  if (!entry.subresource.empty()) encoded["subresource"] = entry.subresource;
  return encoded;
}

Result<ManagedEntry> decode_entry(const Json& encoded) {
  if (!encoded.is_object()) return Error(Errc::invalid, "an entry of managedFields is no object");
  ManagedEntry entry;
  entry.manager = text_at(encoded, "manager");
  std::string operation = text_at(encoded, "operation");
  if (operation != "Apply" && operation != "Update") {
    return Error(Errc::invalid, "managedFields has the operation \"" + operation + "\"");
  }
  entry.applied = operation == "Apply";
  entry.api_version = text_at(encoded, "apiVersion");
  entry.subresource = text_at(encoded, "subresource");
  entry.time = text_at(encoded, "time");
  auto fields = encoded.find("fieldsV1");
  if (fields != encoded.end() && !fields->is_null()) {
    Result<FieldSet> set = decode_field_set(*fields);
    if (!set) return set.error();
    entry.fields = std::move(*set);
  }
  return entry;
}

auto order_of(const ManagedEntry& e) {
  return std::tie(e.time, e.manager, e.api_version, e.subresource);
}

}  // namespace

std::vector<std::string> default_ignored_fields(bool custom, bool has_status,
                                                std::string_view subresource) {
  if (subresource == "status") {
    return custom ? std::vector<std::string>{"spec", "metadata"} : std::vector<std::string>{"spec"};
  }
  if (subresource.empty() && has_status) return {"status"};
  return {};
}

std::string manager_of_user_agent(std::string_view user_agent) {
  std::string manager;
  for (char c : user_agent.substr(0, user_agent.find('/'))) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) continue;
    if (manager.size() == manager_name_max) break;
    manager += c;
  }
  return manager;
}

namespace {

/// The JSON that Go writes for an empty object of each kind: structs, and fields without omitempty.
/// `T` stands for a pod template.
constexpr std::string_view blank_objects = R"(
/v1/Event {"involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,+
 "eventTime":null,"reportingComponent":"","reportingInstance":""}
/v1/LimitRange {"spec":{"limits":null}}
/v1/Namespace {"spec":{},"status":{}}
/v1/Node {"spec":{},"status":{}}
/v1/PersistentVolume {"spec":{},"status":{}}
/v1/PersistentVolumeClaim {"spec":{"resources":{}},"status":{}}
/v1/Pod {"spec":{"containers":null},"status":{}}
/v1/PodTemplate {"template":T}
/v1/ReplicationController {"spec":{},"status":{"replicas":0}}
/v1/ResourceQuota {"spec":{},"status":{}}
/v1/Service {"spec":{},"status":{"loadBalancer":{}}}
admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy {"spec":{},"status":{}}
admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding {"spec":{}}
apiextensions.k8s.io/v1/CustomResourceDefinition +
 {"spec":{"names":{},"versions":null},"status":{"acceptedNames":{}}}
apiregistration.k8s.io/v1/APIService +
 {"spec":{"groupPriorityMinimum":0,"versionPriority":0},"status":{}}
apps/v1/ControllerRevision {"revision":0}
apps/v1/DaemonSet {"spec":{"selector":null,"template":T,"updateStrategy":{}},"status":{}}
apps/v1/Deployment {"spec":{"selector":null,"template":T,"strategy":{}},"status":{}}
apps/v1/ReplicaSet {"spec":{"selector":null,"template":T},"status":{"replicas":0}}
apps/v1/StatefulSet {"spec":{"selector":null,"template":T,"updateStrategy":{}},"status":{}}
autoscaling/v1/HorizontalPodAutoscaler {"spec":{"scaleTargetRef":{},"maxReplicas":0},"status":{}}
autoscaling/v2/HorizontalPodAutoscaler {"spec":{"scaleTargetRef":{},"maxReplicas":0},"status":{}}
batch/v1/CronJob +
 {"spec":{"schedule":"","jobTemplate":{"metadata":{},"spec":{"template":T}}},"status":{}}
batch/v1/Job {"spec":{"template":T},"status":{}}
certificates.k8s.io/v1/CertificateSigningRequest {"spec":{"request":null},"status":{}}
coordination.k8s.io/v1/Lease {"spec":{}}
discovery.k8s.io/v1/EndpointSlice {"addressType":"","endpoints":null,"ports":null}
events.k8s.io/v1/Event {"eventTime":null,"regarding":{},"deprecatedSource":{},+
 "deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null}
flowcontrol.apiserver.k8s.io/v1/FlowSchema +
 {"spec":{"priorityLevelConfiguration":{},"matchingPrecedence":0},"status":{}}
flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfiguration {"spec":{},"status":{}}
networking.k8s.io/v1/Ingress {"spec":{},"status":{"loadBalancer":{}}}
networking.k8s.io/v1/IngressClass {"spec":{}}
networking.k8s.io/v1/IPAddress {"spec":{}}
networking.k8s.io/v1/NetworkPolicy {"spec":{"podSelector":{}}}
networking.k8s.io/v1/ServiceCIDR {"spec":{},"status":{}}
node.k8s.io/v1/RuntimeClass {"handler":""}
policy/v1/PodDisruptionBudget {"spec":{},"status":{}}
resource.k8s.io/v1/DeviceClass {"spec":{}}
resource.k8s.io/v1/ResourceClaim {"spec":{"devices":{}},"status":{}}
resource.k8s.io/v1/ResourceClaimTemplate {"spec":{"metadata":{},"spec":{"devices":{}}}}
scheduling.k8s.io/v1/PriorityClass {"value":0}
storage.k8s.io/v1/CSIDriver {"spec":{}}
storage.k8s.io/v1/CSINode {"spec":{"drivers":null}}
storage.k8s.io/v1/StorageClass {"provisioner":""}
storage.k8s.io/v1/VolumeAttachment {"spec":{"source":{}},"status":{}}
)";

std::map<std::string, Json, std::less<>> read_blanks() {
  std::map<std::string, Json, std::less<>> blanks;
  std::string line;
  for (const char c : blank_objects) {
    if (c != '\n') {
      line += c;
    } else if (line.ends_with('+')) {
      line.pop_back();
    } else if (!line.empty()) {
      const std::size_t space = line.find(' ');
      std::string text = line.substr(space);
      if (const std::size_t at = text.find(":T"); at != std::string::npos) {
        text.replace(at + 1, 1, R"({"metadata":{},"spec":{"containers":null}})");
      }
      blanks.emplace(line.substr(0, space), Json::parse(text));
      line.clear();
    }
  }
  return blanks;
}

}  // namespace

const Json& blank_object(std::string_view group, std::string_view version, std::string_view kind) {
  static const Json empty = Json::object();
  static const std::map<std::string, Json, std::less<>> blanks = read_blanks();
  std::string key(group);
  key += "/";
  key += version;
  key += "/";
  key += kind;
  auto found = blanks.find(key);
  return found != blanks.end() ? found->second : empty;
}

bool ManagedEntry::same_manager(const ManagedEntry& other) const {
  return manager == other.manager && applied == other.applied && subresource == other.subresource &&
         (applied || api_version == other.api_version);
}

Result<ManagedEntries> decode_managed_fields(const Json& list) {
  if (!list.is_array()) return Error(Errc::invalid, "managedFields is no list");
  ManagedEntries entries;
  entries.reserve(list.size());
  for (const Json& encoded : list) {
    Result<ManagedEntry> entry = decode_entry(encoded);
    if (!entry) return entry.error();
    auto same = [&](const ManagedEntry& e) { return e.same_manager(*entry); };
    std::erase_if(entries, same);
    entries.push_back(std::move(*entry));
  }
  return entries;
}

Json encode_managed_fields(const ManagedEntries& entries) {
  std::vector<const ManagedEntry*> sorted;
  for (const ManagedEntry& entry : entries) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    if (a->applied != b->applied) return a->applied;
    return order_of(*a) < order_of(*b);
  });
  Json list = Json::array();
  for (const ManagedEntry* entry : sorted) list.push_back(encode_entry(*entry));
  return list;
}

ManagedEntries managed_entries_of(const Json& object) {
  auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return {};
  auto list = metadata->find("managedFields");
  if (list == metadata->end()) return {};
  Result<ManagedEntries> entries = decode_managed_fields(*list);
  return entries ? std::move(*entries) : ManagedEntries{};
}

void set_managed_entries(Json* object, const ManagedEntries& entries) {
  Json& metadata = (*object)["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  if (entries.empty()) {
    metadata.erase("managedFields");
  } else {
    metadata["managedFields"] = encode_managed_fields(entries);
  }
}

FieldSet field_set_of_paths(const std::vector<std::string>& dotted_paths) {
  FieldSet set;
  for (const std::string& path : dotted_paths) {
    std::vector<std::string> elements;
    std::size_t from = 0;
    while (from <= path.size()) {
      std::size_t to = std::min(path.find('.', from), path.size());
      if (to > from) elements.push_back(field_element(path.substr(from, to - from)));
      from = to + 1;
    }
    set.insert(elements);
  }
  return set;
}

const FieldSet& unowned_fields() {
  static const FieldSet set = field_set_of_paths(
      {"apiVersion", "kind", "metadata", "metadata.name", "metadata.namespace",
       "metadata.creationTimestamp", "metadata.selfLink", "metadata.uid", "metadata.clusterName",
       "metadata.generation", "metadata.managedFields", "metadata.resourceVersion"});
  return set;
}

namespace {

std::vector<std::string> elements_of(std::string_view dotted_path) {
  std::vector<std::string> elements;
  std::size_t from = 0;
  while (from < dotted_path.size()) {
    std::size_t to = std::min(dotted_path.find('.', from), dotted_path.size());
    if (to > from) elements.push_back(field_element(dotted_path.substr(from, to - from)));
    from = to + 1;
  }
  return elements;
}

const FieldSet& replicas_of_scale() {
  static const FieldSet set = field_set_of_paths({"spec.replicas"});
  return set;
}

ManagedEntry* find_manager(ManagedEntries* entries, const ManagedEntry& wanted) {
  for (ManagedEntry& entry : *entries) {
    // Their versions always differ: autoscaling/v1 is the version of the Scale.
    if (entry.manager == wanted.manager && entry.applied == wanted.applied &&
        entry.subresource == wanted.subresource) {
      return &entry;
    }
  }
  return nullptr;
}

}  // namespace

Json managed_fields_of_scale(const Json& object, std::string_view replicas_path) {
  std::vector<std::string> path = elements_of(replicas_path);
  ManagedEntries entries;
  for (ManagedEntry& entry : managed_entries_of(object)) {
    if (!entry.fields.has(path)) continue;
    entry.fields = replicas_of_scale();
    entry.api_version = "autoscaling/v1";
    entries.push_back(std::move(entry));
  }
  return encode_managed_fields(entries);
}

void merge_managed_fields_of_scale(Json* object, const Json& scale_entries,
                                   std::string_view replicas_path, std::string_view api_version) {
  FieldSet replicas;
  replicas.insert(elements_of(replicas_path));
  Result<ManagedEntries> decoded = decode_managed_fields(scale_entries);
  ManagedEntries scale = decoded ? std::move(*decoded) : ManagedEntries{};
  ManagedEntries merged;
  for (ManagedEntry& entry : managed_entries_of(*object)) {
    if (!intersection(entry.fields, replicas).empty()) {
      if (ManagedEntry* kept = find_manager(&scale, entry)) {
        scale.erase(scale.begin() + (kept - scale.data()));
      } else {
        entry.fields = difference(entry.fields, replicas);
      }
    }
    if (!entry.fields.empty()) merged.push_back(std::move(entry));
  }
  for (ManagedEntry& entry : scale) {
    entry.fields = replicas;
    entry.api_version = api_version;
    entry.time.clear();
    merged.push_back(std::move(entry));
  }
  set_managed_entries(object, merged);
}

}  // namespace regatta::apiserver
