#include "lab/apiserver/resources.h"

#include "lab/apiserver/conversions.h"
#include "lab/apiserver/decode.h"
#include "lab/apiserver/selector.h"
#include "lab/terms.h"
#include "lib/manifest/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

bool method_known(const std::string& method) {
  for (const char* known : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    if (method == known) return true;
  }
  return false;
}

/// Whether a built-in resource allows the verb at this path.
bool builtin_allows(const RequestInfo& info, const ResourceType& type, const std::string& method) {
  const bool named = !info.name.empty();
  const bool across = type.namespaced && !info.has_namespace;
  if (named) return method != "POST";
  if (method == "GET") return true;
  return !across && (method == "POST" || method == "DELETE");
}

}  // namespace

Answer<ResourceTypePtr> find_type(const Core& core, const RequestInfo& info,
                                  const std::string& method) {
  const bool builtin = core.registry.is_builtin_version(info.group, info.version);
  const ResourceTypePtr type = core.registry.find(info.group, info.version, info.plural);
  if (!core.registry.has_version(info.group, info.version) && !info.group.empty()) {
    const bool known_group = core.registry.has_group(info.group);
    for (const ResourceTypePtr& other : core.registry.all()) {
      if (known_group && other->group == info.group && !other->custom) return resource_not_found();
    }
    return page_not_found();
  }
  const Failure missing = builtin || info.group.empty() ? resource_not_found() : page_not_found();
  if (!type || info.too_long) return missing;
  const bool across = type->namespaced && !info.has_namespace;
  if (across && (!info.name.empty() || (type->custom && method != "GET"))) return missing;
  if (!type->namespaced && info.has_namespace) return missing;
  if (!method_known(method)) return method_not_allowed();
  if (type->custom) return type;
  if (!info.subresource.empty()) {
    const Subresource* sub = type->subresource(info.subresource);
    if (!sub) return missing;
    const bool can = std::find(sub->verbs.begin(), sub->verbs.end(), info.verb) != sub->verbs.end();
    return can ? Answer<ResourceTypePtr>(type) : method_not_allowed();
  }
  if (!builtin_allows(info, *type, method) || !type->has_verb(info.verb)) {
    return method_not_allowed();
  }
  return type;
}

std::optional<Failure> check_names(const Exchange& exchange, const ResourceType& type,
                                   Json& object) {
  Json& metadata = metadata_of(object);
  const std::string ns = text_at(metadata, "namespace");
  if (!ns.empty() && ns != exchange.info.ns) {
    return bad_request(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  if (type.namespaced) metadata["namespace"] = exchange.info.ns;
  const std::string& wanted = exchange.info.name;
  if (wanted.empty() || exchange.request.method == "POST") return std::nullopt;
  const std::string name = text_at(metadata, "name");
  if (name.empty()) {
    return bad_request("the name of the object (" + wanted +
                       " based on URL) was undeterminable: name must be provided");
  }
  if (name != wanted) {
    return bad_request("the name of the object (" + name +
                       ") does not match the name on the URL (" + wanted + ")");
  }
  return std::nullopt;
}

Task<Reply> ResourceHandler::handle(Exchange& exchange) {
  const std::string& method = exchange.request.method;
  Answer<ResourceTypePtr> found = find_type(core_, exchange.info, method);
  if (!found) co_return found.error();
  const ResourceTypePtr type = std::move(*found);
  const Offer offer{.watch = exchange.info.verb == "watch", .builtin = !type->custom};
  Answer<Form> form = negotiate(exchange.request.headers.get("Accept"), offer);
  if (!form) co_return form.error();
  const bool pretty = exchange.form.pretty;
  exchange.form = std::move(*form);
  exchange.form.pretty = pretty;
  if (!type->deprecation_warning.empty()) exchange.warnings.push_back(type->deprecation_warning);
  if (exchange.request.body.size() > core_.options.body_bytes_max) {
    co_return Failure{
        413, "RequestEntityTooLarge",
        "Request entity too large: limit is " + std::to_string(core_.options.body_bytes_max)};
  }
  if (!exchange.info.subresource.empty()) co_return co_await subresource(exchange, type);
  if (method == "GET") co_return co_await read(exchange, type);
  if (method == "DELETE" && exchange.info.name.empty()) {
    co_return co_await collection_delete(exchange, type);
  }
  if (method == "DELETE") co_return co_await remove(exchange, type);
  if (method == "POST") co_return co_await create(exchange, type);
  if (exchange.info.name.empty()) co_return bad_request("name must be provided");
  if (method == "PUT") co_return co_await update(exchange, type);
  co_return co_await patch(exchange, type);
}

Task<Reply> ResourceHandler::read(Exchange& exchange, ResourceTypePtr type) {
  const RequestInfo& info = exchange.info;
  if (info.verb == "get") {
    std::string ns = info.ns;
    std::string name = info.name;
    co_return co_await get_object(core_, exchange, std::move(type), std::move(ns), std::move(name));
  }
  Answer<ListOptions> options = read_list_options(info);
  if (!options) co_return options.error();
  Scope scope{std::move(type), info.ns, std::move(*options)};
  if (info.verb == "watch") {
    if (!info.name.empty()) scope.options.field_selector = "metadata.name=" + info.name;
    co_return watch_objects(core_, exchange, std::move(scope));
  }
  co_return co_await list_objects(core_, exchange, std::move(scope));
}

Task<Reply> ResourceHandler::written(const Exchange& exchange, const ResourceType& type,
                                     const Written& result) {
  if (result.stored && Conversions::concerns(type)) {
    auto failed = co_await core_.conversions->prepare(type, {result.stored});
    if (failed) co_return *failed;
  }
  const unsigned status = result.created ? 201 : 200;
  const bool plain =
      exchange.form.as == Representation::object && exchange.form.media == Form::Media::json;
  // Watches of the object use the same text.
  if (plain && result.stored)
    co_return respond_json(exchange, status, text_of(*result.stored, type));
  co_return respond_object(exchange, status, result.in(type), type, core_.clock.now());
}

Task<Reply> ResourceHandler::create(Exchange& exchange, const ResourceTypePtr& type) {
  Answer<WriteOptions> options = read_write_options(exchange.info.query, "CreateOptions");
  if (!options) co_return options.error();
  Answer<Json> object = decode_object(core_, exchange, *type, options->field_validation);
  if (!object) co_return object.error();
  if (auto bad = check_names(exchange, *type, *object)) co_return std::move(*bad);
  Answer<Written> result = co_await writer_.create(exchange, {type, exchange.info.ns, "", ""},
                                                   std::move(*object), *options);
  if (!result) co_return result.error();
  co_return co_await written(exchange, *type, *result);
}

Task<Reply> ResourceHandler::update(Exchange& exchange, const ResourceTypePtr& type) {
  Answer<WriteOptions> options = read_write_options(exchange.info.query, "UpdateOptions");
  if (!options) co_return options.error();
  Answer<Json> object = decode_object(core_, exchange, *type, options->field_validation);
  if (!object) co_return object.error();
  if (auto bad = check_names(exchange, *type, *object)) co_return std::move(*bad);
  const ObjectWriter::Maker make = [&object](const Json*) -> Answer<Json> { return *object; };
  Answer<Written> result = co_await writer_.update(
      exchange, {type, exchange.info.ns, exchange.info.name, exchange.info.subresource}, make,
      {.put = true, .creates = type->strategy->allow_create_on_update()}, *options);
  if (!result) co_return result.error();
  co_return co_await written(exchange, *type, *result);
}

Task<Reply> ResourceHandler::patch(Exchange& exchange, const ResourceTypePtr& type) {
  Answer<WriteOptions> options = read_write_options(exchange.info.query, "PatchOptions");
  if (!options) co_return options.error();
  if (auto bad = check_patch(exchange, *type, *options)) co_return std::move(*bad);
  const bool apply = is_apply(exchange);
  const ObjectWriter::Maker make = [&](const Json* live) -> Answer<Json> {
    Answer<Json> object =
        patched_object(core_, exchange, *type, live, *options, exchange.info.subresource);
    if (!object) return object.error();
    if (auto bad = check_names(exchange, *type, *object)) return std::move(*bad);
    return object;
  };
  const bool main = exchange.info.subresource.empty();
  Answer<Written> result = co_await writer_.update(
      exchange, {type, exchange.info.ns, exchange.info.name, exchange.info.subresource}, make,
      {.tracked = true, .defaulted = true, .creates = apply && main}, *options);
  if (!result) co_return result.error();
  co_return co_await written(exchange, *type, *result);
}

Task<Reply> ResourceHandler::remove(Exchange& exchange, const ResourceTypePtr& type) {
  Answer<std::unique_ptr<Json>> body = decode_options_body(exchange);
  if (!body) co_return body.error();
  Answer<DeleteOptions> options = read_delete_options(exchange.info.query, body->get());
  if (!options) co_return options.error();
  Answer<Deleted> result =
      co_await writer_.remove(exchange, {type, exchange.info.ns, exchange.info.name, ""}, *options);
  if (!result) co_return result.error();
  if (result->object) {
    co_return respond_object(exchange, 200, *result->object, *type, core_.clock.now());
  }
  FailureDetails details;
  details.name = exchange.info.name;
  details.group = type->group;
  details.kind = type->plural;
  details.uid = result->uid;
  co_return respond_json(exchange, 200, success_status(details));
}

Task<Reply> ResourceHandler::collection_delete(Exchange& exchange, ResourceTypePtr type) {
  Answer<std::unique_ptr<Json>> body = decode_options_body(exchange);
  if (!body) co_return body.error();
  Answer<DeleteOptions> options = read_delete_options(exchange.info.query, body->get());
  if (!options) co_return options.error();
  Answer<ListOptions> list = read_list_options(exchange.info);
  if (!list) co_return list.error();
  Answer<LabelSelector> labels = LabelSelector::parse(list->label_selector);
  if (!labels) co_return labels.error();
  Answer<FieldSelector> fields = FieldSelector::parse(list->field_selector, *type);
  if (!fields) co_return fields.error();

  const std::string version = std::to_string(core_.store.version());
  std::vector<StoredPtr> chosen;
  for (const auto& [key, object] : core_.store.shelf(type->store_name()).objects()) {
    if (!exchange.info.ns.empty() && object->ns() != exchange.info.ns) continue;
    if (!labels->matches(object->value())) continue;
    if (!fields->matches(in_version(object->value(), *type), *type)) continue;
    chosen.push_back(object);
  }
  for (const StoredPtr& object : chosen) {
    const Answer<Deleted> removed =
        co_await writer_.remove(exchange, {type, object->ns(), object->name(), ""}, *options);
    if (!removed && removed.error().code != 404) co_return removed.error();
  }
  if (Conversions::concerns(*type)) {
    if (auto failed = co_await core_.conversions->prepare(*type, chosen)) co_return *failed;
  }
  Json metadata = {{"resourceVersion", version}};
  if (type->custom) metadata["continue"] = "";
  co_return respond_list(core_, exchange, *type, chosen, metadata);
}

Task<Reply> ResourceHandler::status(Exchange& exchange, const ResourceTypePtr& type) {
  if (exchange.request.method == "PUT") co_return co_await update(exchange, type);
  co_return co_await patch(exchange, type);
}

Task<Reply> ResourceHandler::subresource(Exchange& exchange, ResourceTypePtr type) {
  const RequestInfo& info = exchange.info;
  const std::string& sub = info.subresource;
  if (!type->subresource(sub)) co_return not_found(*type, info.name);
  const bool whole =
      sub == "status" || sub == "approval" || sub == "resize" || sub == "ephemeralcontainers";
  if (exchange.request.method == "GET" && whole) {
    std::string ns = info.ns;
    std::string name = info.name;
    co_return co_await get_object(core_, exchange, std::move(type), std::move(ns), std::move(name));
  }
  if (sub == "status") {
    if (exchange.request.method == "POST") co_return method_not_supported(*type, "create");
    if (exchange.request.method == "DELETE") co_return method_not_supported(*type, "delete");
    co_return co_await status(exchange, type);
  }
  if (whole) co_return co_await status(exchange, type);
  if (sub == "exec" || sub == "attach" || sub == "portforward") {
    co_return pod_stream(core_, exchange, type);
  }
  if (sub == "scale") co_return co_await scale(core_, writer_, exchange, type);
  if (sub == "finalize") co_return co_await finalize_namespace(core_, writer_, exchange, type);
  if (exchange.request.method != "POST" && sub != "log") co_return method_not_allowed();
  if (sub == "binding") co_return pod_binding(core_, writer_, exchange, type);
  if (sub == "eviction") co_return co_await pod_eviction(core_, writer_, exchange, type);
  if (sub == "log") co_return pod_log(core_, exchange, type);
  if (sub == "token") co_return account_token(core_, tokens_, exchange);
  co_return method_not_allowed();
}

}  // namespace regatta::apiserver
