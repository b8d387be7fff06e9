#include "lab/apiserver/decode.h"

#include "lab/apiserver/field_check.h"
#include "lab/apiserver/patch/patch_object.h"
#include "lab/apiserver/protobuf.h"
#include "lab/terms.h"
#include "lib/api/yaml.h"
#include "lib/manifest/json_access.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace regatta::apiserver {
namespace {

constexpr std::size_t summary_bytes_max = 30;

std::string hex(std::string_view bytes) {
  static const char* digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

std::string summary(std::string_view body) {
  if (body.empty()) return "<empty>";
  const bool cut = body.size() > summary_bytes_max;
  const std::string_view head = body.substr(0, summary_bytes_max);
  return (body[0] == '{' ? std::string(head) : hex(head)) + (cut ? " ..." : "");
}

Failure unrecognized(const ResourceType& type, std::string_view body, const std::string& why) {
  return bad_request("the object provided is unrecognized (must be of type " + type.kind +
                     "): " + why + " (" + summary(body) + ")");
}

Failure unsupported_media() {
  return Failure{415, "UnsupportedMediaType",
                 "the body of the request was in an unknown format - accepted media types include: "
                 "application/json, application/yaml, application/vnd.kubernetes.protobuf"};
}

enum class Encoding { json, yaml, protobuf, other };

Encoding encoding_of(const net::HttpRequest& request) {
  const std::string media = media_type(request.headers.get("Content-Type"));
  if (media.empty() || media == "application/json") return Encoding::json;
  if (media == "application/vnd.kubernetes.protobuf") return Encoding::protobuf;
  return media == "application/yaml" ? Encoding::yaml : Encoding::other;
}

/// Go decodes whole numbers written as 1.0 or 1e3 as integers where it can.
void normalize_numbers(Json& value) {
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::abs(number) < 9e15 && number == std::trunc(number)) {
      value = static_cast<std::int64_t>(number);
    }
  } else if (value.is_number_unsigned() &&
             value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
    value = static_cast<double>(value.get<std::uint64_t>());
  } else if (value.is_structured()) {
    for (Json& item : value) normalize_numbers(item);
  }
}

Answer<Json> parse_body(const Exchange& exchange, const ResourceType& type) {
  const std::string& body = exchange.request.body;
  const Encoding encoding = encoding_of(exchange.request);
  if (encoding == Encoding::other) return unsupported_media();
  if (encoding == Encoding::protobuf) {
    std::optional<Json> object = type.custom ? std::nullopt : from_protobuf(body);
    if (!object) return unsupported_media();
    return std::move(*object);
  }
  Result<Json> value = encoding == Encoding::yaml ? api::parse_yaml(body) : parse_json(body);
  if (!value) {
    const std::string why = encoding == Encoding::yaml ? value.error().what() : go_json_error(body);
    return unrecognized(type, body, "couldn't get version/kind; json parse error: " + why);
  }
  if (!value->is_object()) {
    const std::string got = value->is_array() ? "array" : value->is_string() ? "string" : "number";
    return unrecognized(
        type, body,
        "couldn't get version/kind; json parse error: json: cannot unmarshal " + got +
            " into Go value of type struct { APIVersion string "
            "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }");
  }
  // Clients of the scale subresource expect an integer, which 3.0 is not.
  const Json* spec = type.scale ? member(*value, "spec") : nullptr;
  const bool replicas = spec && type.scale->spec_replicas == ".spec.replicas" &&
                        spec->contains("replicas") && (*spec)["replicas"].is_number_float();
  const Json kept = replicas ? (*spec)["replicas"] : Json();
  normalize_numbers(*value);
  if (replicas) (*value)["spec"]["replicas"] = kept;
  return std::move(*value);
}

std::string version_part(const std::string& api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string::npos ? api_version : api_version.substr(slash + 1);
}

std::string group_part(const std::string& api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string::npos ? "" : api_version.substr(0, slash);
}

std::string go_package(const std::string& group) {
  return group.empty() ? "core" : group.substr(0, group.find('.'));
}

std::optional<Failure> check_builtin_kind(Core& core, const ResourceType& type, Json& object) {
  std::string kind = text_at(object, "kind");
  std::string api_version = text_at(object, "apiVersion");
  if (kind.empty()) kind = type.kind;
  if (api_version.empty()) api_version = type.api_version();
  if (kind != type.kind || api_version != type.api_version()) {
    const std::string version = version_part(api_version);
    const std::string head =
        kind + " in version " + in_quotes(version) + " cannot be handled as a " + type.kind + ": ";
    if (core.registry.find_kind(group_part(api_version), version, kind)) {
      return bad_request(head + "converting (" + version + "." + kind + ") to (" +
                         go_package(type.group) + "." + type.kind + "): unknown conversion");
    }
    return bad_request(head + "no kind " + in_quotes(kind) + " is registered for version " +
                       in_quotes(api_version) +
                       " in scheme \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\"");
  }
  object["kind"] = kind;
  object["apiVersion"] = api_version;
  return std::nullopt;
}

std::optional<Failure> check_custom_kind(const ResourceType& type, const Json& object,
                                         std::string_view body) {
  const std::string kind = text_at(object, "kind");
  const std::string api_version = text_at(object, "apiVersion");
  for (const auto& [value, name] :
       {std::pair{&kind, "Kind"}, std::pair{&api_version, "apiVersion"}}) {
    if (value->empty()) {
      return unrecognized(
          type, body,
          "Object '" + std::string(name) + "' is missing in '" + std::string(body) + "'");
    }
  }
  if (api_version != type.api_version()) {
    return bad_request("the API version in the data (" + api_version +
                       ") does not match the expected API version (" + type.api_version() + ")");
  }
  if (kind != type.kind) {
    return invalid(type.group, kind, text_at(object, {"metadata", "name"}),
                   {{"FieldValueInvalid", "kind",
                     "Invalid value: " + in_quotes(kind) + ": must be " + type.kind}});
  }
  return std::nullopt;
}

}  // namespace

Answer<Json> decode_object(Core& core, Exchange& exchange, const ResourceType& type,
                           Validation validation) {
  Answer<Json> object = parse_body(exchange, type);
  if (!object) return object.error();
  auto refused = type.custom ? check_custom_kind(type, *object, exchange.request.body)
                             : check_builtin_kind(core, type, *object);
  if (refused) return std::move(*refused);
  const bool json = encoding_of(exchange.request) == Encoding::json;
  const std::string text = json ? exchange.request.body : std::string();
  if (auto bad = check_fields(exchange, type, *object, text, validation)) return std::move(*bad);
  return object;
}

Answer<std::unique_ptr<Json>> decode_options_body(const Exchange& exchange) {
  const std::string& body = exchange.request.body;
  if (body.empty()) return std::unique_ptr<Json>();
  const Encoding encoding = encoding_of(exchange.request);
  if (encoding == Encoding::other) return unsupported_media();
  if (encoding == Encoding::protobuf) {
    std::optional<Json> options = from_protobuf(body);
    if (!options) return unsupported_media();
    return std::make_unique<Json>(std::move(*options));
  }
  Result<Json> value = encoding == Encoding::yaml ? api::parse_yaml(body) : parse_json(body);
  if (!value) {
    return bad_request("couldn't get version/kind; json parse error: " + go_json_error(body));
  }
  return std::make_unique<Json>(std::move(*value));
}

Answer<Json> decode_any(const Exchange& exchange, std::string_view kind) {
  const std::string& body = exchange.request.body;
  const Encoding encoding = encoding_of(exchange.request);
  if (encoding == Encoding::other) return unsupported_media();
  if (encoding == Encoding::protobuf) {
    std::optional<Json> object = from_protobuf(body);
    if (!object) return unsupported_media();
    return std::move(*object);
  }
  Result<Json> value = encoding == Encoding::yaml ? api::parse_yaml(body) : parse_json(body);
  if (!value || !value->is_object()) {
    return bad_request("the object provided is unrecognized (must be of type " + std::string(kind) +
                       "): couldn't get version/kind; json parse error: " + go_json_error(body) +
                       " (" + summary(body) + ")");
  }
  return std::move(*value);
}

}  // namespace regatta::apiserver
