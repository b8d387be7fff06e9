#include "lab/apiserver/output.h"

#include "lab/apiserver/text.h"
#include "lab/terms.h"
#include "lib/api/yaml.h"
#include "lib/manifest/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

void add_common_headers(const Exchange& exchange, net::HttpResponse& response) {
  response.headers.add("Cache-Control", "no-cache, private");
  for (const std::string& warning : exchange.warnings) {
    response.headers.add("Warning", "299 - " + in_quotes(warning));
  }
}

Json column_json(const TableColumn& column) {
  return {{"name", column.name},
          {"type", column.type},
          {"format", column.format},
          {"description", column.description},
          {"priority", column.priority}};
}

Json table_object(const Json& object, const std::string& include, const std::string& version) {
  if (include == "None") return nullptr;
  if (include == "Object") return object;
  return partial_metadata(object, version);
}

}  // namespace

Json in_version(const Json& stored, const ResourceType& type) {
  if (type.from_stored) return type.from_stored(stored);
  Json object = stored;
  object["kind"] = type.kind;
  object["apiVersion"] = type.api_version();
  return object;
}

std::string text_of(const Stored& object, const ResourceType& type) {
  if (type.from_stored) {
    return object_text(type.kind, type.api_version(),
                       members_text(type.from_stored(object.value())), type.custom);
  }
  return object_text(type.kind, type.api_version(), object.members(), type.custom);
}

net::HttpResponse respond_json(const Exchange& exchange, unsigned status, std::string json_text) {
  net::HttpResponse response(status, "");
  if (exchange.form.media == Form::Media::yaml) {
    const Result<Json> value = parse_json(json_text);
    response.body = value ? api::dump_yaml(*value) : std::move(json_text);
    response.headers.set("Content-Type", "application/yaml");
  } else {
    response.body = exchange.form.pretty ? indented(json_text) : std::move(json_text);
    response.body += '\n';
    response.headers.set("Content-Type", "application/json");
  }
  add_common_headers(exchange, response);
  return response;
}

net::HttpResponse respond_json(const Exchange& exchange, unsigned status, const Json& value) {
  const std::string kind = text_at(value, "kind");
  if (kind.empty() || !value.contains("apiVersion")) {
    return respond_json(exchange, status, kubernetes_text(value));
  }
  const bool custom = false;
  return respond_json(exchange, status,
                      object_text(kind, text_at(value, "apiVersion"), members_text(value), custom));
}

net::HttpResponse respond_text(unsigned status, std::string text) {
  net::HttpResponse response(status, std::move(text));
  response.headers.set("Content-Type", "text/plain; charset=utf-8");
  response.headers.set("X-Content-Type-Options", "nosniff");
  response.headers.set("Cache-Control", "no-cache, private");
  return response;
}

net::HttpResponse respond_failure(const Exchange& exchange, const Failure& failure) {
  if (failure.plain_text) {
    net::HttpResponse response = respond_text(static_cast<unsigned>(failure.code), failure.message);
    if (failure.details && failure.details->retry_after_seconds > 0) {
      response.headers.set("Retry-After", std::to_string(failure.details->retry_after_seconds));
    }
    return response;
  }
  net::HttpResponse response =
      respond_json(exchange, static_cast<unsigned>(failure.code), to_status(failure));
  if (failure.nosniff) response.headers.set("X-Content-Type-Options", "nosniff");
  if (failure.details && failure.details->retry_after_seconds > 0) {
    response.headers.set("Retry-After", std::to_string(failure.details->retry_after_seconds));
  }
  return response;
}

Json partial_metadata(const Json& object, const std::string& version) {
  Json partial = {{"kind", "PartialObjectMetadata"},
                  {"apiVersion", "meta.k8s.io/" + (version.empty() ? "v1" : version)}};
  const Json* metadata = member(object, "metadata");
  partial["metadata"] = metadata ? *metadata : Json::object();
  return partial;
}

Answer<Json> table_of(const std::vector<const Json*>& objects, const ResourceType& type,
                      const Json& list_metadata, const Exchange& exchange, bool with_columns,
                      TimePoint now) {
  const std::string& include = exchange.info.query.get("includeObject");
  if (!include.empty() && include != "None" && include != "Object" && include != "Metadata") {
    return bad_request("Unable to convert to Table as requested: includeObject: Invalid value: " +
                       in_quotes(include) + ": must be 'Metadata', 'Object', 'None', or empty");
  }
  const std::string version = exchange.form.as_version.empty() ? "v1" : exchange.form.as_version;
  Json table = {{"kind", "Table"},
                {"apiVersion", "meta.k8s.io/" + version},
                {"metadata", list_metadata},
                {"rows", Json::array()}};
  if (with_columns) {
    table["columnDefinitions"] = Json::array();
    for (const TableColumn& column : type.strategy->columns()) {
      table["columnDefinitions"].push_back(column_json(column));
    }
  } else {
    table["columnDefinitions"] = nullptr;
  }
  // Kinds without columns of their own have null rows instead of an empty list.
  if (objects.empty() && !type.custom && type.strategy->columns().back().name == "Created At") {
    table["rows"] = nullptr;
  }
  for (const Json* object : objects) {
    table["rows"].push_back({{"cells", type.strategy->cells(*object, now)},
                             {"object", table_object(*object, include, version)}});
  }
  return table;
}

Answer<net::HttpResponse> respond_object(const Exchange& exchange, unsigned status,
                                         const Json& object, const ResourceType& type,
                                         TimePoint now) {
  switch (exchange.form.as) {
    case Representation::object:
      break;
    case Representation::partial_metadata_list:
      return internal_error("content is not a list");
    case Representation::partial_metadata:
      return respond_json(exchange, status, partial_metadata(object, exchange.form.as_version));
    case Representation::table: {
      Json metadata = Json::object();
      const std::string version = text_at(object, {"metadata", "resourceVersion"});
      if (!version.empty()) metadata["resourceVersion"] = version;
      Answer<Json> table = table_of({&object}, type, metadata, exchange, true, now);
      if (!table) return table.error();
      return respond_json(exchange, status, *table);
    }
  }
  return respond_json(
      exchange, status,
      object_text(type.kind, type.api_version(), members_text(object), type.custom));
}

}  // namespace regatta::apiserver
