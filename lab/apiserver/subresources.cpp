#include "lab/apiserver/decode.h"
#include "lab/apiserver/managed.h"
#include "lab/apiserver/resources.h"
#include "lab/apiserver/reviews.h"
#include "lab/terms.h"
#include "lib/manifest/json_access.h"
#include "lib/manifest/schema/builtin.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

constexpr std::int64_t token_seconds_min = 600;

Failure binding_conflict(const std::string& name, const std::string& why) {
  Failure failure{409, "Conflict",
                  "Operation cannot be fulfilled on pods/binding " + in_quotes(name) + ": " + why};
  failure.details.emplace();
  failure.details->name = name;
  failure.details->kind = "pods/binding";
  return failure;
}

std::vector<std::string> path_parts(std::string_view path) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (at < path.size()) {
    const std::size_t end = std::min(path.find('.', at), path.size());
    if (end > at) parts.emplace_back(path.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

const Json* at_path(const Json& object, std::string_view path) {
  const Json* value = &object;
  for (const std::string& part : path_parts(path)) {
    value = value ? member(*value, part) : nullptr;
  }
  return path.empty() ? nullptr : value;
}

void set_at_path(Json& object, std::string_view path, Json value) {
  Json* place = &object;
  for (const std::string& part : path_parts(path)) {
    if (!place->is_object()) *place = Json::object();
    place = &(*place)[part];
  }
  *place = std::move(value);
}

ScalePaths scale_paths(const ResourceType& type) {
  if (type.scale) return *type.scale;
  return {".spec.replicas", ".status.replicas", ""};
}

Json scale_of(const Json& object, const ResourceType& type) {
  const ScalePaths paths = scale_paths(type);
  Json scale = {{"kind", "Scale"}, {"apiVersion", "autoscaling/v1"}};
  for (const char* field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const Json* value = member(object, {"metadata", field})) scale["metadata"][field] = *value;
  }
  scale["spec"] = Json::object();
  scale["status"] = {{"replicas", 0}};
  if (const Json* replicas = at_path(object, paths.spec_replicas)) {
    scale["spec"]["replicas"] = *replicas;
  }
  if (const Json* replicas = at_path(object, paths.status_replicas)) {
    scale["status"]["replicas"] = *replicas;
  }
  if (const Json* selector = at_path(object, paths.label_selector); selector) {
    scale["status"]["selector"] = *selector;
  }
  return scale;
}

/// The Scale kind, for patches and managedFields of scale subresources.
ResourceType scale_type() {
  ResourceType type;
  type.group = "autoscaling";
  type.version = "v1";
  type.kind = "Scale";
  type.plural = "scales";
  type.strategy = plain_strategy();
  const Schema* schema = builtin_schema("autoscaling", "v1", "Scale");
  type.schema = SchemaPtr(SchemaPtr(), schema);
  return type;
}

/// The scale that the client wants, with its managedFields in its metadata.
Answer<Json> wanted_scale(Core& core, Exchange& exchange, const Json& live,
                          const WriteOptions& options) {
  const ResourceType type = scale_type();
  if (exchange.request.method != "PUT") {
    return patched_object(core, exchange, type, &live, options, "scale");
  }
  Answer<Json> wanted = decode_object(core, exchange, type, options.field_validation);
  if (!wanted) return wanted.error();
  if (auto bad = check_names(exchange, type, *wanted)) return std::move(*bad);
  const ManagedWrite write{type, manager_name(options, exchange.request.headers.get("User-Agent")),
                           "scale", core.clock.now()};
  track_update(*wanted, live, write);
  return wanted;
}

}  // namespace

Task<Reply> scale(Core& core, ObjectWriter& writer, Exchange& exchange,
                  const ResourceTypePtr& type) {
  const RequestInfo& info = exchange.info;
  if (exchange.request.method == "GET") {
    const StoredPtr object = core.store.shelf(type->store_name()).find(info.ns, info.name);
    if (!object) co_return not_found(*type, info.name);
    co_return respond_json(exchange, 200, scale_of(in_version(object->value(), *type), *type));
  }
  if (exchange.request.method != "PUT" && exchange.request.method != "PATCH") {
    co_return method_not_allowed();
  }
  Answer<WriteOptions> options = read_write_options(info.query, "UpdateOptions");
  if (!options) co_return options.error();
  const ObjectWriter::Maker make = [&](const Json* live) -> Answer<Json> {
    const std::string replicas_path = scale_paths(*type).spec_replicas;
    Json present = scale_of(*live, *type);
    metadata_of(present)["managedFields"] = managed_fields_of_scale(*live, replicas_path);
    Answer<Json> wanted = wanted_scale(core, exchange, present, *options);
    if (!wanted) return wanted.error();
    const Json* spec = member(*wanted, "spec");
    const auto replicas = spec ? integer_at(*spec, "replicas") : std::nullopt;
    if (replicas && *replicas < 0) {
      return invalid(
          type->group, type->kind, info.name,
          {{"FieldValueInvalid", replicas_path,
            "Invalid value: " + std::to_string(*replicas) + ": should be a non-negative integer"}});
    }
    Json object = *live;
    set_at_path(object, replicas_path, replicas.value_or(0));
    if (const Json* entries = member(*wanted, {"metadata", "managedFields"})) {
      merge_managed_fields_of_scale(&object, *entries, replicas_path, type->api_version());
    }
    const std::string version = text_at(*wanted, {"metadata", "resourceVersion"});
    if (!version.empty()) object["metadata"]["resourceVersion"] = version;
    return object;
  };
  Answer<Written> result = co_await writer.update(exchange, {type, info.ns, info.name, "scale"},
                                                  make, {.tracked = true}, *options);
  if (!result) co_return result.error();
  co_return respond_json(exchange, 200, scale_of(result->in(*type), *type));
}

Task<Reply> finalize_namespace(Core& core, ObjectWriter& writer, Exchange& exchange,
                               const ResourceTypePtr& type) {
  Answer<WriteOptions> options = read_write_options(exchange.info.query, "UpdateOptions");
  if (!options) co_return options.error();
  Answer<Json> sent = decode_object(core, exchange, *type, options->field_validation);
  if (!sent) co_return sent.error();
  if (auto bad = check_names(exchange, *type, *sent)) co_return std::move(*bad);
  const ObjectWriter::Maker make = [&sent](const Json* live) -> Answer<Json> {
    Json object = *live;
    object["metadata"]["resourceVersion"] = text_at(*sent, {"metadata", "resourceVersion"});
    const Json* finalizers = member(*sent, {"spec", "finalizers"});
    if (finalizers && !finalizers->empty()) {
      object["spec"]["finalizers"] = *finalizers;
    } else if (member(object, "spec")) {
      object["spec"].erase("finalizers");
    }
    return object;
  };
  Answer<Written> result = co_await writer.update(
      exchange, {type, "", exchange.info.name, "finalize"}, make, {.put = true}, *options);
  if (!result) co_return result.error();
  co_return respond_object(exchange, 200, result->in(*type), *type, core.clock.now());
}

Reply pod_binding(Core& core, ObjectWriter& writer, Exchange& exchange,
                  const ResourceTypePtr& type) {
  const RequestInfo& info = exchange.info;
  Answer<WriteOptions> options = read_write_options(info.query, "CreateOptions");
  if (!options) return options.error();
  Answer<Json> binding = decode_any(exchange, "Binding");
  if (!binding) return binding.error();
  const std::string node = text_at(*binding, {"target", "name"});
  const StoredPtr pod = core.store.shelf(type->store_name()).find(info.ns, info.name);
  if (!pod) return not_found(*type, info.name);
  Json object = in_version(pod->value(), *type);
  const std::string bound = text_at(object, {"spec", "nodeName"});
  if (!bound.empty()) {
    return binding_conflict(
        info.name, "pod " + info.name + " is already assigned to node " + in_quotes(bound));
  }
  const Json* gates = member(object, {"spec", "schedulingGates"});
  if (gates && !gates->empty()) {
    return binding_conflict(info.name, "pod " + info.name + " has non-empty .spec.schedulingGates");
  }
  object["spec"]["nodeName"] = node;
  Json condition = {{"type", "PodScheduled"},
                    {"status", "True"},
                    {"lastProbeTime", nullptr},
                    {"lastTransitionTime", format_rfc3339(core.clock.now())}};
  Json conditions = Json::array();
  if (const Json* before = member(object, {"status", "conditions"})) {
    for (const Json& item : *before) {
      if (text_at(item, "type") != "PodScheduled") conditions.push_back(item);
    }
  }
  conditions.push_back(std::move(condition));
  object["status"]["conditions"] = std::move(conditions);
  if (!options->dry_run) writer.put_internal(*type, std::move(object));
  return respond_json(exchange, 201, success_status(std::nullopt, 201));
}

namespace {

Failure disruption(const std::string& why, int retry_after_seconds) {
  Failure failure{429, "TooManyRequests",
                  "Cannot evict pod as it would violate the pod's disruption budget."};
  failure.details.emplace();
  failure.details->causes.push_back({"DisruptionBudget", "", why});
  failure.details->retry_after_seconds = retry_after_seconds;
  return failure;
}

/// The reason why a disruption budget forbids the eviction of `pod`, if one does.
std::optional<Failure> budget_refuses(Core& core, const Json& pod, const std::string& ns) {
  const Json* labels = member(pod, {"metadata", "labels"});
  for (const auto& [key, budget] : core.store.shelf("poddisruptionbudgets.policy").objects()) {
    if (budget->ns() != ns) continue;
    const Json* selector = member(budget->value(), {"spec", "selector"});
    const Json* wanted = selector ? member(*selector, "matchLabels") : nullptr;
    if (!wanted || !labels) continue;
    bool matches = true;
    for (const auto& [name, value] : wanted->items()) {
      matches = matches && labels->contains(name) && (*labels)[name] == value;
    }
    if (!matches) continue;
    const Json none = Json::object();
    const Json* found = member(budget->value(), "status");
    const Json& status = found ? *found : none;
    const Json* metadata = member(budget->value(), "metadata");
    if (integer_at(status, "observedGeneration").value_or(0) <
        integer_at(*metadata, "generation").value_or(0)) {
      return disruption(
          "The disruption budget " + budget->name() + " is still being processed by the server.",
          10);
    }
    if (integer_at(status, "disruptionsAllowed").value_or(0) <= 0) {
      const auto count = [&status](const char* field) {
        return std::to_string(integer_at(status, field).value_or(0));
      };
      return disruption("The disruption budget " + budget->name() + " needs " +
                            count("desiredHealthy") + " healthy pods and has " +
                            count("currentHealthy") + " currently",
                        0);
    }
  }
  return std::nullopt;
}

}  // namespace

Task<Reply> pod_eviction(Core& core, ObjectWriter& writer, Exchange& exchange,
                         const ResourceTypePtr& type) {
  Answer<Json> eviction = decode_any(exchange, "Eviction");
  if (!eviction) co_return eviction.error();
  const Json* sent = member(*eviction, "deleteOptions");
  Answer<DeleteOptions> options = read_delete_options(exchange.info.query, sent);
  if (!options) co_return options.error();
  const StoredPtr pod = core.store.shelf("pods").find(exchange.info.ns, exchange.info.name);
  if (!pod) co_return not_found(*type, exchange.info.name);
  if (auto refused = budget_refuses(core, pod->value(), exchange.info.ns)) {
    co_return std::move(*refused);
  }
  Answer<Deleted> result =
      co_await writer.remove(exchange, {type, exchange.info.ns, exchange.info.name, ""}, *options);
  if (!result) co_return result.error();
  co_return respond_json(exchange, 201, success_status(std::nullopt, 201));
}

Reply pod_stream(Core& core, const Exchange& exchange, const ResourceTypePtr& type) {
  const RequestInfo& info = exchange.info;
  const StoredPtr pod = core.store.shelf(type->store_name()).find(info.ns, info.name);
  if (!pod) return not_found(*type, info.name);
  const std::string node = text_at(pod->value(), {"spec", "nodeName"});
  if (node.empty()) return bad_request("pod " + info.name + " does not have a host assigned");
  if (!core.store.shelf("nodes").find("", node)) return not_found(*type, node);
  return bad_request("Upgrade request required");
}

Reply pod_log(Core& core, Exchange& exchange, const ResourceTypePtr& type) {
  const RequestInfo& info = exchange.info;
  const StoredPtr pod = core.store.shelf(type->store_name()).find(info.ns, info.name);
  if (!pod) return not_found(*type, info.name);
  const std::string& container = info.query.get("container");
  const Json* containers = member(pod->value(), {"spec", "containers"});
  bool known = container.empty();
  for (std::size_t i = 0; containers && !known && i < containers->size(); ++i) {
    known = text_at((*containers)[i], "name") == container;
  }
  if (!known) {
    return bad_request("container " + container + " is not valid for pod " + info.name);
  }
  const std::string node = text_at(pod->value(), {"spec", "nodeName"});
  if (node.empty()) return net::HttpResponse(204, "");
  if (!core.store.shelf("nodes").find("", node)) return not_found(*type, node);
  return respond_text(200, "");
}

Reply account_token(Core& core, const Authenticator& tokens, Exchange& exchange) {
  const RequestInfo& info = exchange.info;
  Answer<Json> request = decode_any(exchange, "TokenRequest");
  if (!request) return request.error();
  const StoredPtr account = core.store.shelf("serviceaccounts").find(info.ns, info.name);
  if (!account) return not_found("", "serviceaccounts", info.name);
  const Json* spec = member(*request, "spec");
  const std::int64_t seconds = spec ? integer_at(*spec, "expirationSeconds").value_or(3600) : 3600;
  if (seconds < token_seconds_min) {
    return invalid("authentication.k8s.io", "TokenRequest", "",
                   {{"FieldValueInvalid", "spec.expirationSeconds",
                     "Invalid value: " + std::to_string(seconds) +
                         ": may not specify a duration less than 10 minutes"}});
  }
  const TimePoint now = core.clock.now(), expires = now + std::chrono::seconds(seconds);
  const TokenAccount whose{info.ns, info.name, text_at(account->value(), {"metadata", "uid"})};
  const std::string token = tokens.accounts().issue(whose, core.rng.uuid(), now, expires);

  Json answer = {{"kind", "TokenRequest"},
                 {"apiVersion", "authentication.k8s.io/v1"},
                 {"metadata",
                  {{"name", info.name},
                   {"namespace", info.ns},
                   {"uid", text_at(account->value(), {"metadata", "uid"})},
                   {"creationTimestamp", format_rfc3339(core.clock.now())}}}};
  answer["spec"] = spec ? *spec : Json::object();
  const Json* audiences = member(answer["spec"], "audiences");
  if (!audiences || audiences->empty()) {
    answer["spec"]["audiences"] = {"https://kubernetes.default.svc"};
  }
  answer["spec"]["expirationSeconds"] = seconds;
  answer["spec"]["boundObjectRef"] = nullptr;
  answer["status"] = {{"token", token}, {"expirationTimestamp", format_rfc3339(expires)}};
  return respond_json(exchange, 201, answer);
}

}  // namespace regatta::apiserver
