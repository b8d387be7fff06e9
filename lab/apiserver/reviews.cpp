#include "lab/apiserver/reviews.h"

#include "lab/apiserver/decode.h"
#include "lab/apiserver/managed.h"
#include "lab/apiserver/options.h"
#include "lab/terms.h"
#include "lib/manifest/json_access.h"
#include "lib/manifest/schema/builtin.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

using Reply = Answer<net::HttpResponse>;

constexpr std::string_view authorization_group = "authorization.k8s.io";
constexpr std::string_view authentication_group = "authentication.k8s.io";

class PlainStrategy final : public Strategy {
 public:
  void prepare_for_create(Json&, TimePoint) const override {}
  void prepare_for_update(Json&, const Json&, TimePoint) const override {}
  void prepare_for_status_update(Json&, const Json&, TimePoint) const override {}
  FieldErrors validate_create(const Json&) const override { return {}; }
  FieldErrors validate_update(const Json&, const Json&) const override { return {}; }
  FieldErrors validate_status_update(const Json&, const Json&) const override { return {}; }
  std::vector<TableColumn> columns() const override { return {{"Name", "string", "name", "", 0}}; }
  std::vector<Json> cells(const Json& object, TimePoint) const override {
    return {text_at(object, {"metadata", "name"})};
  }
};

ResourceType review_type(std::string_view group, const char* kind, const char* plural,
                         const char* singular, bool namespaced) {
  ResourceType type;
  type.group = group;
  type.version = "v1";
  type.kind = kind;
  type.plural = plural;
  type.singular = singular;
  type.namespaced = namespaced;
  type.verbs = {"create"};
  type.strategy = plain_strategy();
  type.schema = SchemaPtr(SchemaPtr(), builtin_schema(group, "v1", kind));
  return type;
}

Json user_json(const UserInfo& user) {
  Json json = {{"username", user.name}, {"groups", user.groups}};
  if (!user.uid.empty()) json["uid"] = user.uid;
  for (const auto& [key, values] : user.extra) json["extra"][key] = values;
  return json;
}

Attributes attributes_in(const Json& spec) {
  Attributes what;
  if (const Json* resource = member(spec, "resourceAttributes")) {
    what.verb = text_at(*resource, "verb");
    what.group = text_at(*resource, "group");
    what.version = text_at(*resource, "version");
    what.plural = text_at(*resource, "resource");
    what.subresource = text_at(*resource, "subresource");
    what.ns = text_at(*resource, "namespace");
    what.name = text_at(*resource, "name");
  } else if (const Json* path = member(spec, "nonResourceAttributes")) {
    what.resource_request = false;
    what.verb = text_at(*path, "verb");
    what.path = text_at(*path, "path");
  }
  return what;
}

Answer<Json> access_review(const Authorizer& authorizer, const Exchange& exchange, Json object) {
  const Json* spec = member(object, "spec");
  const Json empty = Json::object();
  const Json& asked = spec ? *spec : empty;
  if (!member(asked, "resourceAttributes") == !member(asked, "nonResourceAttributes")) {
    return invalid(authorization_group, "", "",
                   {{"FieldValueInvalid", "spec.resourceAttributes",
                     "Invalid value: null: exactly one of nonResourceAttributes or "
                     "resourceAttributes must be specified"}});
  }
  UserInfo user = exchange.user;
  if (exchange.info.plural != "selfsubjectaccessreviews") {
    user = UserInfo{};
    user.name = text_at(asked, "user");
    if (const Json* groups = member(asked, "groups"); groups && groups->is_array()) {
      for (const Json& group : *groups) {
        if (group.is_string()) user.groups.push_back(group.get<std::string>());
      }
    }
  }
  const Verdict verdict = authorizer.decide(user, attributes_in(asked));
  object["status"] = {{"allowed", verdict.allowed}};
  if (!verdict.reason.empty()) object["status"]["reason"] = verdict.reason;
  return object;
}

Json rules_review(const Authorizer& authorizer, const Exchange& exchange, const Json& object) {
  Json resource_rules, url_rules;
  authorizer.rules_of(exchange.user, text_at(object, {"spec", "namespace"}), &resource_rules,
                      &url_rules);
  return {{"kind", "SelfSubjectRulesReview"},
          {"apiVersion", "authorization.k8s.io/v1"},
          {"metadata", Json::object()},
          {"spec", Json::object()},
          {"status",
           {{"resourceRules", resource_rules},
            {"nonResourceRules", url_rules},
            {"incomplete", false}}}};
}

Json token_review(const Authenticator& tokens, Json object) {
  const std::optional<UserInfo> user = tokens.user_of_token(text_at(object, {"spec", "token"}));
  if (user) {
    object["status"] = {{"authenticated", true},
                        {"user", user_json(*user)},
                        {"audiences", {"https://kubernetes.default.svc"}}};
  } else {
    object["status"] = {{"user", Json::object()}, {"error", "invalid bearer token"}};
  }
  return object;
}

}  // namespace

std::shared_ptr<const Strategy> plain_strategy() {
  static const auto strategy = std::make_shared<PlainStrategy>();
  return strategy;
}

void add_review_types(Registry& registry) {
  registry.add(review_type("", "Binding", "bindings", "binding", true));
  ResourceType component =
      review_type("", "ComponentStatus", "componentstatuses", "componentstatus", false);
  component.verbs = {"get", "list"};
  component.short_names = {"cs"};
  component.deprecation_warning = "v1 ComponentStatus is deprecated in v1.19+";
  registry.add(std::move(component));
  registry.add(review_type(authorization_group, "LocalSubjectAccessReview",
                           "localsubjectaccessreviews", "localsubjectaccessreview", true));
  registry.add(review_type(authorization_group, "SelfSubjectAccessReview",
                           "selfsubjectaccessreviews", "selfsubjectaccessreview", false));
  registry.add(review_type(authorization_group, "SelfSubjectRulesReview", "selfsubjectrulesreviews",
                           "selfsubjectrulesreview", false));
  registry.add(review_type(authorization_group, "SubjectAccessReview", "subjectaccessreviews",
                           "subjectaccessreview", false));
  registry.add(review_type(authentication_group, "SelfSubjectReview", "selfsubjectreviews",
                           "selfsubjectreview", false));
  registry.add(
      review_type(authentication_group, "TokenReview", "tokenreviews", "tokenreview", false));
}

std::optional<Reply> review(Core& core, const Authenticator& tokens, const Authorizer& authorizer,
                            Exchange& exchange) {
  const RequestInfo& info = exchange.info;
  if (info.group != authorization_group && info.group != authentication_group) return std::nullopt;
  const ResourceTypePtr type = core.registry.find(info.group, info.version, info.plural);
  if (!type) return std::nullopt;
  if (exchange.request.method != "POST" || !info.name.empty()) return Reply(method_not_allowed());
  Answer<Form> form = negotiate(exchange.request.headers.get("Accept"), Offer{});
  if (!form) return Reply(form.error());
  Answer<Json> object = decode_object(core, exchange, *type, Validation::warn);
  if (!object) return Reply(object.error());
  const bool rules = info.plural == "selfsubjectrulesreviews";
  const bool self = info.plural == "selfsubjectreviews";
  Json& metadata = metadata_of(*object);
  if (!rules && !self) {
    const std::string manager =
        manager_name(WriteOptions{}, exchange.request.headers.get("User-Agent"));
    object->erase("status");
    const Json blank = {{"spec", Json::object()}, {"status", Json::object()}};
    track_update(*object, blank, {*type, manager, "", core.clock.now()});
  }
  if (rules) return Reply(respond_json(exchange, 201, rules_review(authorizer, exchange, *object)));
  if (info.plural == "tokenreviews") {
    return Reply(respond_json(exchange, 201, token_review(tokens, std::move(*object))));
  }
  if (self) {
    metadata["creationTimestamp"] = format_rfc3339(core.clock.now());
    (*object)["status"]["userInfo"] = user_json(exchange.user);
    return Reply(respond_json(exchange, 201, *object));
  }
  Answer<Json> answer = access_review(authorizer, exchange, std::move(*object));
  if (!answer) return Reply(answer.error());
  return Reply(respond_json(exchange, 201, *answer));
}

}  // namespace regatta::apiserver
