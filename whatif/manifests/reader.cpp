#include "whatif/manifests/reader.h"

#include "lib/api/codec.h"
#include "lib/api/convert.h"
#include "lib/api/names.h"
#include "lib/api/yaml.h"
#include "lib/base/joined.h"
#include "lib/base/near_miss.h"
#include "lib/manifest/assets.h"
#include "lib/manifest/builtin/builtin.h"
#include "lib/manifest/builtin/scalars.h"
#include "lib/manifest/crd/definition.h"
#include "lib/manifest/fields/field_validation.h"
#include "lib/manifest/json_access.h"
#include "lib/manifest/object_meta.h"
#include "lib/manifest/registry.h"
#include "lib/manifest/schema/builtin.h"
#include "lib/manifest/schema/structural.h"
#include "webhooks/review.h"
#include "whatif/files.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace regatta::whatif {
namespace {

using manifest::ResourceType;

constexpr std::size_t errors_max = 100;

Error invalid(std::string what) {
  return Error(Errc::invalid, std::move(what));
}

std::string text_of(const manifest::FieldErrors& errors) {
  std::string out;
  for (const auto& error : errors) {
    out += (out.empty() ? "" : "; ") + error.field + ": " + error.message;
  }
  return out;
}

/// The plural of each of Kueue's kinds, which names its definition in the binary.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> plurals{{
    {"AdmissionCheck", "admissionchecks"},
    {"ClusterQueue", "clusterqueues"},
    {"Cohort", "cohorts"},
    {"LocalQueue", "localqueues"},
    {"MultiKueueCluster", "multikueueclusters"},
    {"MultiKueueConfig", "multikueueconfigs"},
    {"ProvisioningRequestConfig", "provisioningrequestconfigs"},
    {"ResourceFlavor", "resourceflavors"},
    {"Topology", "topologies"},
    {"Workload", "workloads"},
    {"WorkloadPriorityClass", "workloadpriorityclasses"},
}};

/// Checks the fields themselves: unknown ones are refused as `kubectl apply` does.
Status check_fields(const ResourceType& type, Json* object) {
  const manifest::BodyKind kind{type.kind, type.schema.get(), type.custom,
                                manifest::object_meta_schema()};
  const manifest::BodyReport report = manifest::check_body(*object, kind);
  if (report.type_error) {
    // The server's own message about a quantity does not name the field.
    Json copy = *object;
    std::string where;
    const bool scalar =
        !type.custom && type.schema &&
        manifest::normalize_scalars(copy, *type.schema, &where) == report.type_error;
    return invalid((scalar ? where + ": " : "") + *report.type_error);
  }
  if (!report.strict.empty()) return invalid(joined(report.strict));
  if (type.custom || !type.schema) return ok();
  manifest::prune(*object, *type.schema);
  manifest::drop_empty_members(object, *type.schema);
  std::string path;
  if (const auto bad = manifest::normalize_scalars(*object, *type.schema, &path)) {
    return invalid(path + ": " + *bad);
  }
  return ok();
}

/// Applies the manager's webhooks to an object that passed the API server.
Status apply_webhooks(const std::string& version, Json* object) {
  if (const Status current = api::convert(*object, version, "v1beta2"); !current) {
    return current.error();
  }
  const api::FieldErrors errors = webhooks::apply_on_create(object, {});
  return errors.empty() ? ok() : Status(invalid(api::to_text(errors)));
}

template <class T>
Result<Object> decode(const Json& json) {
  Result<T> object = api::from_json<T>(json);
  if (!object) return object.error();
  return Object(std::move(*object));
}

using Decoder = Result<Object> (*)(const Json&);

/// By group and kind.
using Decoders = std::map<std::pair<std::string_view, std::string_view>, Decoder>;

template <class... Kinds>
const Decoders& decoders_of(const std::variant<Kinds...>*) {
  static const Decoders all{{{Kinds::resource.group, Kinds::resource.kind}, &decode<Kinds>}...};
  return all;
}

const Decoders& decoders() {
  return decoders_of(static_cast<const Object*>(nullptr));
}

/// Null for a kind that does not matter here.
Decoder decoder_of(std::string_view group, std::string_view kind) {
  const auto found = decoders().find({group, kind});
  return found == decoders().end() ? nullptr : found->second;
}

std::vector<std::string_view> kinds_of(std::string_view group) {
  std::vector<std::string_view> kinds;
  for (const auto& [name, decoder] : decoders()) {
    if (name.first == group) kinds.push_back(name.second);
  }
  return kinds;
}

/// All of Kueue's kinds are known here; for other groups a name that is nearly right is a mistake.
Error no_part(const std::string& group, const std::string& api_version, const std::string& kind) {
  const std::string what = kind + " (" + api_version + ")";
  const bool kueue = group == api::kueue_group;
  const bool exists = kueue && std::any_of(plurals.begin(), plurals.end(),
                                           [&](const auto& one) { return one.first == kind; });
  const std::string meant = did_you_mean(kind, kinds_of(group));
  if (exists || (!kueue && meant.empty())) {
    return Error(Errc::not_found, what + " has no effect in a simulation");
  }
  return invalid("kind: there is no " + what + meant);
}

/// Fields that a server sets and a snapshot already has.
struct ServerFields {
  Json status;
  Json uid;
  Json created;
  Json generation;
  Json taints;
};

ServerFields server_fields(const Json& object) {
  ServerFields out;
  if (const Json* status = member(object, "status")) out.status = *status;
  if (const Json* uid = member(object, {"metadata", "uid"})) out.uid = *uid;
  if (const Json* at = member(object, {"metadata", "creationTimestamp"})) {
    out.created = *at;
  }
  if (const Json* taints = member(object, {"spec", "taints"})) out.taints = *taints;
  if (const Json* number = member(object, {"metadata", "generation"})) {
    out.generation = *number;
  }
  return out;
}

void set_taints(const ServerFields& fields, Json* node) {
  Json& spec = (*node)["spec"];
  if (fields.taints.is_null()) {
    spec.erase("taints");
  } else {
    spec["taints"] = fields.taints;
  }
}

void restore(const ServerFields& fields, Json* object) {
  if (!fields.status.is_null()) (*object)["status"] = fields.status;
  Json& metadata = (*object)["metadata"];
  if (!fields.uid.is_null()) metadata["uid"] = fields.uid;
  if (!fields.created.is_null()) metadata["creationTimestamp"] = fields.created;
  if (!fields.generation.is_null()) metadata["generation"] = fields.generation;
}

}  // namespace

ManifestReader::ManifestReader(TimePoint now, std::uint64_t seed)
    : now_(now), rng_(seed), registry_(std::make_unique<manifest::Registry>()) {
  for (ResourceType& type : manifest::builtin_resources()) {
    type.schema = manifest::SchemaPtr(
        manifest::SchemaPtr(), manifest::builtin_schema(type.group, type.version, type.kind));
    registry_->add(std::move(type));
  }
}

ManifestReader::~ManifestReader() = default;

void ManifestReader::load_definition(const std::string& plural) {
  const std::string path = "charts/regatta/files/crds/kueue.x-k8s.io_" + plural + ".yaml";
  const auto definitions = manifest::objects_below(manifest::kueue_crds(), path);
  if (!definitions) return;
  for (const Json& definition : *definitions) {
    auto types = manifest::resource_types(definition, api::convert);
    if (!types) continue;
    for (ResourceType& type : *types) registry_->add(std::move(type));
  }
}

std::shared_ptr<const ResourceType> ManifestReader::find_type(const std::string& group,
                                                              const std::string& version,
                                                              const std::string& kind) {
  auto found = registry_->find_kind(group, version, kind);
  if (found || group != api::kueue_group) return found;
  for (const auto& [name, plural] : plurals) {
    if (name == kind) load_definition(std::string(plural));
  }
  return registry_->find_kind(group, version, kind);
}

Result<Object> ManifestReader::read_object(Json object, ManifestOrigin origin) {
  if (!object.is_object()) return invalid("expected an object");
  const std::string api_version = text_at(object, "apiVersion");
  const std::string kind = text_at(object, "kind");
  if (api_version.empty()) return invalid("apiVersion: missing");
  if (kind.empty()) return invalid("kind: missing");
  const std::size_t slash = api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : api_version.substr(0, slash);
  const std::string version =
      slash == std::string::npos ? api_version : api_version.substr(slash + 1);
  const Decoder decoder = decoder_of(group, kind);
  if (!decoder) return no_part(group, api_version, kind);
  const auto type = find_type(group, version, kind);
  if (!type)
    return invalid("no matches for kind \"" + kind + "\" in version \"" + api_version + "\"");
  if (!object.contains("metadata")) object["metadata"] = Json::object();
  if (!object["metadata"].is_object()) return invalid("metadata: expected an object");
  const ServerFields given = server_fields(object);
  object["metadata"].erase("managedFields");
  object["metadata"].erase("resourceVersion");
  if (origin == ManifestOrigin::user) object.erase("status");
  if (kind == "Node" && !given.status.is_null()) object["status"] = given.status;
  if (const Status checked = check_fields(*type, &object); !checked) return checked.error();
  Json& metadata = object["metadata"];
  if (type->namespaced && text_at(metadata, "namespace").empty()) {
    metadata["namespace"] = "default";
  }
  manifest::start_metadata(object, now_, rng_);
  type->strategy->set_defaults(object);
  type->strategy->prepare_for_create(object, now_);
  // A new Node has a taint until its kubelet reports; here it has reported.
  if (kind == "Node") set_taints(given, &object);
  manifest::FieldErrors errors = manifest::validate_metadata(object, *type);
  if (errors.empty()) errors = type->strategy->validate_create(object);
  if (!errors.empty()) return invalid(text_of(errors));
  if (origin == ManifestOrigin::snapshot) {
    restore(given, &object);
  } else if (group == api::kueue_group) {
    if (const Status applied = apply_webhooks(version, &object); !applied) return applied.error();
  }
  return decoder(object);
}

void ManifestReader::take(Json document, const Place& place, Manifests* out,
                          ManifestOrigin origin) {
  const std::string kind = document.is_object() ? text_at(document, "kind") : "";
  if (!kind.ends_with("List")) return take_object(std::move(document), place, out, origin);
  if (!document.contains("items") || !document["items"].is_array()) {
    out->errors.push_back(place.str() + ": " + kind + ": items: expected a list");
    return;
  }
  Place inside = place;
  for (std::size_t i = 0; i < document["items"].size(); ++i) {
    inside.item = i;
    Json& item = document["items"][i];
    // In a JobList from a server the items have no kind.
    if (kind != "List" && item.is_object() && !item.contains("kind")) {
      item["kind"] = kind.substr(0, kind.size() - std::string_view("List").size());
      item.emplace("apiVersion", document.value("apiVersion", Json()));
    }
    take_object(std::move(item), inside, out, origin);
  }
}

void ManifestReader::take_object(Json document, const Place& place, Manifests* out,
                                 ManifestOrigin origin) {
  const std::string kind = text_at(document, "kind");
  const std::string name = text_at(document, {"metadata", "name"});
  const std::string api_version = text_at(document, "apiVersion");
  if (out->errors.size() >= errors_max) return;
  if (out->objects.size() >= manifest_objects_max) {
    out->errors.push_back(*place.source + ": more than " + std::to_string(manifest_objects_max) +
                          " objects");
    return;
  }
  auto object = read_object(std::move(document), origin);
  if (object) {
    out->objects.push_back(std::move(*object));
    out->places.push_back(place);
  } else if (object.error().code() == Errc::not_found) {
    ++out->ignored[kind + " (" + api_version + ")"];
  } else {
    out->errors.push_back(place.str() + ": " + (kind.empty() ? "object" : kind) +
                          (name.empty() ? "" : " " + name) + ": " + object.error().what());
    if (out->errors.size() == errors_max) {
      out->errors.push_back(*place.source + ": there are more errors than these");
    }
  }
}

void ManifestReader::read(std::string_view text, const std::string& source, Manifests* out,
                          ManifestOrigin origin) {
  auto documents = api::parse_yaml_documents(text);
  if (!documents) {
    out->errors.push_back(source + ": " + documents.error().what());
    return;
  }
  Place place{std::make_shared<const std::string>(source), 0, std::nullopt};
  for (std::size_t i = 0; i < documents->size(); ++i) {
    if (documents->size() > 1) place.document = i + 1;
    take(std::move((*documents)[i]), place, out, origin);
  }
}

std::string Place::str() const {
  std::string out = *source;
  if (document > 0) out += ": document " + std::to_string(document);
  if (item) out += ": items[" + std::to_string(*item) + "]";
  return out;
}

void ManifestReader::read_path(const std::string& path, Manifests* out) {
  const auto files = files_of(path, {".yaml", ".yml", ".json"});
  if (!files) {
    out->errors.push_back(files.error().what());
    return;
  }
  for (const std::string& file : *files) {
    const auto text = read_file(file, manifest_bytes_max);
    if (!text) {
      out->errors.push_back(text.error().what());
      continue;
    }
    read(*text, file, out);
  }
}

}  // namespace regatta::whatif
