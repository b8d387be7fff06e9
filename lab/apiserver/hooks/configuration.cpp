#include "lab/apiserver/hooks/configuration.h"

#include "lib/base/base64.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::apiserver {
namespace {

namespace cel = manifest::cel;

std::vector<std::string> texts_at(const Json& value, std::string_view name) {
  std::vector<std::string> texts;
  for (const Json& item : list_or_empty(value, name)) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

bool has(const std::vector<std::string>& list, std::string_view value) {
  return std::any_of(list.begin(), list.end(),
                     [value](const std::string& item) { return item == "*" || item == value; });
}

/// "pods", "pods/status", "*", "*/*", "pods/*" or "*/scale".
bool resource_matches(std::string_view rule, const HookedResource& what) {
  const std::size_t slash = rule.find('/');
  const std::string_view plural = rule.substr(0, slash);
  const std::string_view sub =
      slash == std::string_view::npos ? std::string_view() : rule.substr(slash + 1);
  return (plural == "*" || plural == what.plural) && (sub == "*" || sub == what.subresource);
}

api::Selector read_selector(const Json& hook, std::string_view name) {
  api::LabelSelector selector;
  const Json* value = object_at(hook, name);
  if (!value) return api::Selector();
  for (const auto& [key, wanted] : object_or_empty(*value, {"matchLabels"}).items()) {
    if (wanted.is_string()) selector.match_labels[key] = wanted.get<std::string>();
  }
  for (const Json& term : list_or_empty(*value, "matchExpressions")) {
    selector.match_expressions.push_back(
        {text_at(term, "key"), text_at(term, "operator"), texts_at(term, "values")});
  }
  Result<api::Selector> compiled = api::Selector::from(selector);
  return compiled ? std::move(*compiled) : api::Selector::nothing();
}

HookRule read_rule(const Json& value) {
  HookRule rule;
  rule.operations = texts_at(value, "operations");
  rule.groups = texts_at(value, "apiGroups");
  rule.versions = texts_at(value, "apiVersions");
  rule.resources = texts_at(value, "resources");
  rule.scope = text_at(value, "scope");
  return rule;
}

Hook read_hook(const Json& value, bool mutating) {
  Hook hook;
  hook.name = text_at(value, "name");
  hook.mutating = mutating;
  hook.target = read_target(object_or_empty(value, {"clientConfig"}));
  for (const Json& rule : list_or_empty(value, "rules")) hook.rules.push_back(read_rule(rule));
  hook.exact = text_at(value, "matchPolicy") == "Exact";
  hook.fails_open = text_at(value, "failurePolicy") == "Ignore";
  hook.called_again = text_at(value, "reinvocationPolicy") == "IfNeeded";
  hook.timeout = std::chrono::seconds(integer_at(value, "timeoutSeconds").value_or(10));
  hook.namespaces = read_selector(value, "namespaceSelector");
  hook.objects = read_selector(value, "objectSelector");
  for (const Json& condition : list_or_empty(value, "matchConditions")) {
    Result<cel::Program> program =
        cel::Program::compile(text_at(condition, "expression"), match_variables());
    if (!program) continue;
    hook.conditions.push_back(
        {text_at(condition, "name"), std::make_shared<const cel::Program>(std::move(*program))});
  }
  for (const std::string& version : texts_at(value, "admissionReviewVersions")) {
    if (version != "v1" && version != "v1beta1") continue;
    hook.review_version = version;
    break;
  }
  return hook;
}

}  // namespace

std::string HookTarget::shown_url() const {
  if (!url.empty()) return url;
  return "https://" + service + "." + service_namespace + ".svc:" + std::to_string(port) + path;
}

HookTarget read_target(const Json& client) {
  HookTarget target;
  target.url = text_at(client, "url");
  if (const Json* service = object_at(client, "service")) {
    target.service_namespace = text_at(*service, "namespace");
    target.service = text_at(*service, "name");
    target.path = text_at(*service, "path");
    target.port = static_cast<std::uint16_t>(integer_at(*service, "port").value_or(443));
  }
  Result<std::string> bundle = base64_decode(text_at(client, "caBundle"));
  if (bundle) target.ca_pem = std::move(*bundle);
  return target;
}

bool HookRule::matches(const HookedResource& what) const {
  if (!has(operations, what.operation) || !has(groups, what.group)) return false;
  if (!has(versions, what.version)) return false;
  if (scope == "Namespaced" && !what.namespaced) return false;
  if (scope == "Cluster" && what.namespaced) return false;
  return std::any_of(resources.begin(), resources.end(), [&what](const std::string& resource) {
    return resource_matches(resource, what);
  });
}

bool Hook::matches(const HookedResource& what) const {
  return std::any_of(rules.begin(), rules.end(),
                     [&what](const HookRule& rule) { return rule.matches(what); });
}

std::vector<Hook> read_hooks(const Json& configuration, bool mutating) {
  std::vector<Hook> hooks;
  for (const Json& value : list_or_empty(configuration, "webhooks")) {
    hooks.push_back(read_hook(value, mutating));
  }
  return hooks;
}

std::vector<cel::Variable> match_variables() {
  return {{"object", {}}, {"oldObject", {}}, {"request", {}}};
}

}  // namespace regatta::apiserver
