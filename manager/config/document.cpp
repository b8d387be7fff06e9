#include "manager/config/document.h"

#include "lib/api/yaml.h"
#include "lib/base/joined.h"
#include "lib/base/json_access.h"
#include "lib/base/near_miss.h"
#include "manager/config/defaults.h"
#include "webhooks/shape.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace regatta::manager {
namespace {

constexpr std::string_view kind = "Configuration";
constexpr std::string_view group = "config.kueue.x-k8s.io";
constexpr std::size_t bytes_max = 1024 * 1024;

/// The member; nothing when it is there and is no string.
std::optional<std::string> text_or_empty(const Json& document, std::string_view name) {
  const Json* value = member(document, name);
  if (!value) return std::string();
  if (!value->is_string()) return std::nullopt;
  return value->get<std::string>();
}

/// Whether the document is one of v1beta1. What it does not say about itself is taken for v1beta2.
Result<bool> is_old(const Json& document) {
  const auto own_kind = text_or_empty(document, "kind");
  const auto version = text_or_empty(document, "apiVersion");
  if (!own_kind || !version) {
    return Error(Errc::invalid, "couldn't get version/kind: both are strings");
  }
  const std::string in_group = std::string(group) + "/";
  const bool old = *version == in_group + "v1beta1";
  const bool known =
      old || version->empty() || *version == in_group || *version == in_group + "v1beta2";
  if (known && (own_kind->empty() || *own_kind == kind)) return old;
  return Error(Errc::invalid, "no kind \"" + (own_kind->empty() ? std::string(kind) : *own_kind) +
                                  "\" is registered for version \"" + *version +
                                  "\": expected Configuration of " + in_group + "v1beta2 or " +
                                  in_group + "v1beta1");
}

/// YAML has one type of numbers where it becomes JSON: 2.0 is 2.
void unify_numbers(Json* value) {
  constexpr double whole_max = 9e15;
  if (value->is_structured()) {
    for (Json& one : *value) unify_numbers(&one);
  } else if (value->is_number_float()) {
    const auto number = value->get<double>();
    if (number == std::floor(number) && std::abs(number) < whole_max) {
      *value = static_cast<std::int64_t>(number);
    }
  }
}

/// What only a strict reader refuses.
std::vector<std::string> strict_problems(std::string_view text, const Json& document,
                                         const webhooks::ShapeType& type) {
  std::vector<std::string> out;
  const auto strict = api::parse_yaml_strict(text);
  if (!strict) out.push_back(strict.error().what());
  for (const webhooks::UnknownMember& one : webhooks::unknown_members(document, type)) {
    out.push_back("unknown field \"" + one.path + "\"" + did_you_mean(one.name, one.known));
  }
  return out;
}

}  // namespace

Result<ConfigDocument> read_document(std::string_view text, const std::string& default_namespace) {
  if (text.size() > bytes_max) {
    return Error(Errc::invalid, "the configuration has more than 1 MiB");
  }
  Result<Json> parsed = api::parse_yaml(text);
  if (!parsed) return parsed.error();
  if (parsed->is_null()) *parsed = Json::object();
  if (!parsed->is_object()) return Error(Errc::invalid, "the configuration is not an object");
  const Result<bool> old = is_old(*parsed);
  if (!old) return old.error();
  ConfigDocument out{std::move(*parsed), *old, {}};
  unify_numbers(&out.written);
  const auto type =
      webhooks::shape_type(out.old ? "config.v1beta1.Configuration" : "config.Configuration");
  Result<Json> read = webhooks::read_shaped(out.written, type);
  if (!read) return read.error();
  const auto problems = strict_problems(text, out.written, type);
  if (!problems.empty()) {
    return Error(Errc::invalid, "strict decoding error: " + joined(problems));
  }
  out.effective = std::move(*read);
  if (out.old) {
    set_old_defaults(&out.effective, default_namespace);
    convert_old(&out.effective);
  } else {
    set_defaults(&out.effective, default_namespace);
  }
  out.effective["apiVersion"] = std::string(group) + "/v1beta2";
  out.effective["kind"] = kind;
  return out;
}

Json shown_configuration(const Json& effective) {
  const auto type = webhooks::shape_type("config.Configuration");
  return parse_json(webhooks::shaped_text(&effective, type)).value();
}

}  // namespace regatta::manager
