#include "lab/apiserver/admission_hooks.h"

#include "lab/apiserver/conversions.h"
#include "lab/apiserver/field_check.h"
#include "lab/apiserver/patch/json_patch.h"
#include "lib/manifest/json_access.h"

#include <algorithm>

namespace regatta::apiserver {
namespace {

constexpr const char* mutating_shelf = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
constexpr const char* validating_shelf =
    "validatingwebhookconfigurations.admissionregistration.k8s.io";
constexpr const char* user_agent = "kube-apiserver-admission";

const Json& null_json() {
  static const Json null;
  return null;
}

std::shared_ptr<const std::vector<Hook>> read_all(const Shelf& shelf, bool mutating) {
  auto hooks = std::make_shared<std::vector<Hook>>();
  for (const auto& [name, configuration] : shelf.objects()) {
    for (Hook& hook : read_hooks(configuration->value(), mutating)) {
      hooks->push_back(std::move(hook));
    }
  }
  return hooks;
}

api::StringMap labels_of(const Json* object) {
  api::StringMap labels;
  if (!object) return labels;
  for (const auto& [key, value] : object_or_empty(*object, {"metadata", "labels"}).items()) {
    if (value.is_string()) labels[key] = value.get<std::string>();
  }
  return labels;
}

Json user_json(const UserInfo& user) {
  Json json = {{"username", user.name}, {"groups", user.groups}};
  if (!user.uid.empty()) json["uid"] = user.uid;
  if (!user.extra.empty()) json["extra"] = user.extra;
  return json;
}

Json kind_json(const ResourceType& type) {
  return {{"group", type.group}, {"version", type.version}, {"kind", type.kind}};
}
Json resource_json(const ResourceType& type) {
  return {{"group", type.group}, {"version", type.version}, {"resource", type.plural}};
}

/// What the server sets on its own, which webhooks do not see of a new object.
constexpr const char* hidden_members[] = {"uid", "creationTimestamp"};

/// A new object as mutating webhooks see it.
Json shown_new(const HookedWrite& write, Json object) {
  Json& metadata = metadata_of(object);
  for (const char* hidden : hidden_members) metadata.erase(hidden);
  if (write.name.empty()) metadata.erase("name");
  return object;
}

/// Puts back what shown_new() hid.
void restore_hidden(Json& object, const Json& before) {
  Json& metadata = metadata_of(object);
  const Json* kept = member(before, "metadata");
  if (!kept) return;
  for (const char* hidden : hidden_members) {
    if (const Json* value = member(*kept, hidden)) metadata[hidden] = *value;
  }
  if (text_at(metadata, "name").empty()) metadata["name"] = text_at(*kept, "name");
}

/// Whether all conditions hold; `error` is set when one could not be evaluated and none is false.
bool conditions_hold(const Hook& hook, std::span<const cel::Value> values, std::string* error) {
  cel::Budget budget;
  for (const MatchCondition& condition : hook.conditions) {
    const cel::Value value = condition.program->evaluate(values, budget);
    if (const auto* failure = value.as<cel::Failure>()) {
      *error = "expression '" + condition.program->expression() +
               "' resulted in error: " + *failure->what;
      continue;
    }
    const bool* holds = value.as<bool>();
    if (!holds || !*holds) {
      error->clear();
      return false;
    }
  }
  return error->empty();
}

}  // namespace

HookedResource AdmissionHooks::Asked::as(const ResourceType& version) const {
  return {version.group, version.version, version.plural,
          subresource,   operation,       version.namespaced};
}

void AdmissionHooks::refresh() {
  const Shelf& mutating = core_.store.shelf(mutating_shelf);
  const Shelf& validating = core_.store.shelf(validating_shelf);
  const std::uint64_t types = core_.registry.revision();
  const bool known = mutating_ && seen_mutating_ == mutating.last_version() &&
                     seen_validating_ == validating.last_version() && seen_types_ == types;
  if (known) return;
  by_resource_.clear();
  mutating_ = read_all(mutating, true);
  validating_ = read_all(validating, false);
  seen_mutating_ = mutating.last_version();
  seen_validating_ = validating.last_version();
  seen_types_ = types;
}

std::vector<Matched> AdmissionHooks::choose(const Asked& asked, bool mutating) const {
  std::vector<Matched> matched;
  std::vector<ResourceTypePtr> others;
  for (const ResourceTypePtr& type : core_.registry.all()) {
    const bool same = type->group == asked.type.group && type->plural == asked.type.plural;
    if (same && type->version != asked.type.version) others.push_back(type);
  }
  for (const Hook& hook : mutating ? *mutating_ : *validating_) {
    if (hook.matches(asked.as(asked.type))) {
      matched.push_back({&hook, nullptr});
      continue;
    }
    const auto as = std::find_if(others.begin(), others.end(), [&](const ResourceTypePtr& type) {
      return !hook.exact && hook.matches(asked.as(*type));
    });
    if (as != others.end()) matched.push_back({&hook, *as});
  }
  return matched;
}

AdmissionHooks::Chosen AdmissionHooks::chosen(const Asked& asked, bool mutating) {
  refresh();
  const auto& hooks = mutating ? mutating_ : validating_;
  // A Scale is no object of the resource.
  if (hooks->empty() || asked.subresource == "scale") return nullptr;
  // Configurations are never sent to webhooks, so that a bad one can be mended.
  if (asked.type.group == "admissionregistration.k8s.io") return nullptr;
  std::string key = asked.type.group;
  for (const std::string_view part :
       {std::string_view(asked.type.version), std::string_view(asked.type.plural),
        asked.subresource, asked.operation, std::string_view(mutating ? "+" : "-")}) {
    key.append("/").append(part);
  }
  const auto known = by_resource_.find(key);
  if (known != by_resource_.end()) return known->second;
  struct Kept {
    std::shared_ptr<const std::vector<Hook>> hooks;
    std::vector<Matched> matched;
  };
  auto kept = std::make_shared<Kept>(Kept{hooks, choose(asked, mutating)});
  Chosen found = kept->matched.empty() ? nullptr : Chosen(kept, &kept->matched);
  by_resource_.emplace(key, found);
  return found;
}

bool AdmissionHooks::any(const ResourceType& type, std::string_view subresource,
                         std::string_view operation) {
  const Asked asked{type, subresource, operation};
  return chosen(asked, true) || chosen(asked, false);
}

const Json* AdmissionHooks::labels_of_namespace(const HookedWrite& write,
                                                const Json* object) const {
  const bool itself = write.type.group.empty() && write.type.plural == "namespaces";
  if (itself) return object ? object : write.old;
  if (!write.type.namespaced) return nullptr;
  const StoredPtr home = core_.store.shelf("namespaces").find("", write.ns);
  return home ? &home->value() : &null_json();
}

Answer<AdmissionHooks::Interest> AdmissionHooks::interest_of(const HookedWrite& write,
                                                             const Hook& hook, const Json* object,
                                                             const Json& request) const {
  const Json* home = labels_of_namespace(write, object);
  if (home && !hook.namespaces.matches(labels_of(home))) return Interest::none;
  if (!hook.objects.matches_everything()) {
    const bool matches = (object && hook.objects.matches(labels_of(object))) ||
                         (write.old && hook.objects.matches(labels_of(write.old)));
    if (!matches) return Interest::none;
  }
  if (hook.conditions.empty()) return Interest::some;
  const std::array values = {
      cel::Value::from_json(request.contains("object") ? request["object"] : null_json(), nullptr),
      cel::Value::from_json(request.contains("oldObject") ? request["oldObject"] : null_json(),
                            nullptr),
      cel::Value::from_json(request, nullptr)};
  std::string error;
  if (conditions_hold(hook, values, &error)) return Interest::some;
  if (error.empty() || hook.fails_open) return Interest::none;
  return forbidden(write.type, write.name, error);
}

Task<Answer<Json>> AdmissionHooks::request_of(const HookedWrite& write, const Matched& matched,
                                              const Json* object) const {
  const ResourceType& as = matched.as ? *matched.as : write.type;
  Json request = {{"kind", kind_json(as)},
                  {"resource", resource_json(as)},
                  {"requestKind", kind_json(write.type)},
                  {"requestResource", resource_json(write.type)},
                  {"operation", write.operation},
                  {"userInfo", user_json(write.exchange.user)},
                  {"object", nullptr},
                  {"oldObject", nullptr},
                  {"dryRun", write.dry_run},
                  {"options", write.options}};
  if (!write.ns.empty()) request["namespace"] = write.ns;
  if (!write.name.empty()) request["name"] = write.name;
  if (!write.subresource.empty()) {
    request["subResource"] = write.subresource;
    request["requestSubResource"] = write.subresource;
  }
  for (const auto& [name, one] : {std::pair{"object", object}, std::pair{"oldObject", write.old}}) {
    if (!one) continue;
    Answer<Json> shown = co_await core_.conversions->convert(*one, write.type, as);
    if (!shown) co_return shown.error();
    request[name] = std::move(*shown);
  }
  co_return request;
}

Task<Answer<std::optional<HookAnswer>>> AdmissionHooks::call(const HookedWrite& write,
                                                             const Matched& matched,
                                                             const Json* object) {
  const Hook& hook = *matched.hook;
  const Answer<Json> made = co_await request_of(write, matched, object);
  if (!made) co_return made.error();
  const Json& request = *made;
  Answer<Interest> interest = interest_of(write, hook, object, request);
  if (!interest) co_return interest.error();
  if (*interest == Interest::none) co_return std::optional<HookAnswer>();
  const std::string uid = core_.rng.uuid();
  Result<net::HttpResponse> response = co_await caller_.post(
      hook.target, user_agent, admission_review(hook, request, uid).dump(), hook.timeout);
  Result<HookAnswer> answer =
      response ? read_answer(hook, uid, *response)
               : Result<HookAnswer>(response.error().within("failed to call webhook"));
  if (!answer) {
    if (hook.fails_open) co_return std::optional<HookAnswer>();
    co_return call_failed(hook, answer.error().what());
  }
  std::vector<std::string>& given = write.exchange.warnings;
  for (std::string& warning : answer->warnings) {
    const bool known = std::find(given.begin(), given.end(), warning) != given.end();
    if (!known) given.push_back(std::move(warning));
  }
  if (!answer->allowed) co_return answer->refusal;
  co_return std::optional<HookAnswer>(std::move(*answer));
}

Task<std::optional<Failure>> AdmissionHooks::mutate_once(const HookedWrite& write,
                                                         const Matched& matched, Json* object,
                                                         bool* changed) {
  const bool is_new = object && write.operation == "CREATE";
  const Json shown = is_new ? shown_new(write, *object) : Json();
  Answer<std::optional<HookAnswer>> answer =
      co_await call(write, matched, is_new ? &shown : object);
  if (!answer) co_return answer.error();
  if (!*answer || (*answer)->patch.empty() || !object) co_return std::nullopt;
  const ResourceType& as = matched.as ? *matched.as : write.type;
  Answer<Json> seen = co_await core_.conversions->convert(is_new ? shown : *object, write.type, as);
  if (!seen) co_return seen.error();
  PatchAnswer<Json> patched = json_patch(std::move(*seen), (*answer)->patch);
  if (!patched) co_return internal_cause(patched.error().message);
  Answer<Json> back = co_await core_.conversions->convert(std::move(*patched), as, write.type);
  if (!back) co_return back.error();
  Json after = std::move(*back);
  if (is_new) restore_hidden(after, *object);
  if (auto bad = complete_object(after, write.type)) co_return internal_cause(*bad);
  if (after == *object) co_return std::nullopt;
  *object = std::move(after);
  *changed = true;
  co_return std::nullopt;
}

Task<std::optional<Failure>> AdmissionHooks::mutate(const HookedWrite& write, Json* object) {
  const Chosen hooks = chosen({write.type, write.subresource, write.operation}, true);
  if (!hooks) co_return std::nullopt;
  std::vector<bool> again(hooks->size(), false);
  for (std::size_t i = 0; i < hooks->size(); ++i) {
    bool changed = false;
    auto refused = co_await mutate_once(write, (*hooks)[i], object, &changed);
    if (refused) co_return refused;
    for (std::size_t before = 0; changed && before < i; ++before) {
      again[before] = (*hooks)[before].hook->called_again;
    }
  }
  for (std::size_t i = 0; i < hooks->size(); ++i) {
    bool changed = false;
    if (!again[i]) continue;
    auto refused = co_await mutate_once(write, (*hooks)[i], object, &changed);
    if (refused) co_return refused;
  }
  co_return std::nullopt;
}

Task<std::optional<Failure>> AdmissionHooks::validate(const HookedWrite& write,
                                                      const Json* object) {
  const Chosen hooks = chosen({write.type, write.subresource, write.operation}, false);
  if (!hooks) co_return std::nullopt;
  for (const Matched& matched : *hooks) {
    Answer<std::optional<HookAnswer>> answer = co_await call(write, matched, object);
    if (!answer) co_return answer.error();
  }
  co_return std::nullopt;
}

}  // namespace regatta::apiserver
