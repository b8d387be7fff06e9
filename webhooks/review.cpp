#include "webhooks/review.h"

#include "lib/api/names.h"
#include "lib/base/base64.h"
#include "lib/base/json_access.h"
#include "webhooks/rules.h"
#include "webhooks/shape.h"

#include <nlohmann/json.hpp>

#include <array>

namespace regatta::webhooks {
namespace {

/// What differs between the kinds. A rule that is null does nothing.
struct KindRules {
  std::string_view kind;
  std::string_view path;
  void (*set_defaults)(Json*, const Gates&);
  api::FieldErrors (*create)(const Json&, const Gates&);
  api::FieldErrors (*update)(const Json&, const Json&, const Gates&);
};

constexpr std::array<KindRules, 4> all_rules{{
    {"Workload", "workload", default_workload, validate_workload, validate_workload_update},
    {"ClusterQueue", "clusterqueue",
     [](Json* object, const Gates&) { default_cluster_queue(object); }, validate_cluster_queue,
     validate_cluster_queue_update},
    {"ResourceFlavor", "resourceflavor",
     [](Json* object, const Gates&) { default_resource_flavor(object); },
     [](const Json& object, const Gates&) { return validate_resource_flavor(object); },
     [](const Json&, const Json& object, const Gates&) {
       return validate_resource_flavor(object);
     }},
    {"Cohort", "cohort", nullptr,
     [](const Json& object, const Gates&) { return validate_cohort(object); },
     [](const Json&, const Json& object, const Gates&) { return validate_cohort(object); }},
}};

const KindRules* rules_of(std::string_view kind) {
  for (const KindRules& rules : all_rules) {
    if (rules.kind == kind) return &rules;
  }
  return nullptr;
}

Error bad(std::string message) {
  return Error(Errc::invalid, std::move(message));
}

/// The object as the kind's type. Absent apiVersion and kind stand for the right ones.
Result<Json> read_object(const Json& object, const KindRules& rules) {
  if (object.is_null()) return bad("there is no content to decode");
  if (!object.is_object()) return bad("the object to review must be a JSON object");
  const std::string group(api::kueue_group);
  const std::string& version = text_at(object, "apiVersion");
  const std::string& kind = text_at(object, "kind");
  const bool right =
      (version.empty() || version == group + "/v1beta2") && (kind.empty() || kind == rules.kind);
  if (!right) {
    return bad("unable to decode " + (version.empty() ? group + "/v1beta2" : version) +
               ", Kind=" + (kind.empty() ? std::string(rules.kind) : kind) + " into *v1beta2." +
               std::string(rules.kind));
  }
  return read_shaped(object, shape_type(rules.kind));
}

Verdict unreadable(const Error& error) {
  return {400, error.what(), {}, Json::array(), {}};
}

/// Appends what turns `from` into `to`, for members that `from` as a webhook was given it (`raw`)
/// shows differently or not at all: only what a default changed is written.
void diff(const Json& raw, const Json& from, const Json& to, const std::string& path, Json* patch) {
  if (from == to) return;
  if (!from.is_object() || !to.is_object() || !raw.is_object()) {
    const bool list = raw.is_array() && from.is_array() && to.is_array();
    if (!list) {
      patch->push_back({{"op", raw.is_null() ? "add" : "replace"}, {"path", path}, {"value", to}});
      return;
    }
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::string here = path + "/" + std::to_string(i);
      if (i < from.size()) {
        diff(raw[i], from[i], to[i], here, patch);
      } else {
        patch->push_back({{"op", "add"}, {"path", here}, {"value", to[i]}});
      }
    }
    return;
  }
  for (const auto& [key, value] : from.items()) {
    if (!to.contains(key)) patch->push_back({{"op", "remove"}, {"path", path + "/" + key}});
  }
  for (const auto& [key, value] : to.items()) {
    const auto before = from.find(key);
    if (before != from.end()) {
      diff(raw[key], *before, value, path + "/" + key, patch);
    } else {
      const char* op = raw.contains(key) ? "replace" : "add";
      patch->push_back({{"op", op}, {"path", path + "/" + key}, {"value", value}});
    }
  }
}

Verdict mutate(const KindRules& rules, const ReviewRequest& request, const Gates& gates) {
  if (request.operation == "DELETE") return {};
  const Result<Json> object = read_object(request.object, rules);
  if (!object) return unreadable(object.error());
  Verdict verdict;
  if (!rules.set_defaults) return verdict;
  Json defaulted = *object;
  rules.set_defaults(&defaulted, gates);
  diff(request.object, *object, defaulted, "", &verdict.patch);
  return verdict;
}

Verdict validate(const KindRules& rules, const ReviewRequest& request, const Gates& gates) {
  if (request.operation == "CONNECT") return {};
  if (request.operation == "CREATE") {
    const Result<Json> object = read_object(request.object, rules);
    return object ? judged(rules.create(*object, gates)) : unreadable(object.error());
  }
  if (request.operation == "UPDATE") {
    const Result<Json> object = read_object(request.object, rules);
    if (!object) return unreadable(object.error());
    const Result<Json> old = read_object(request.old_object, rules);
    return old ? judged(rules.update(*old, *object, gates)) : unreadable(old.error());
  }
  if (request.operation == "DELETE") {
    const Result<Json> old = read_object(request.old_object, rules);
    return old ? Verdict() : unreadable(old.error());
  }
  return unreadable(bad("unknown operation " + api::in_quotes(request.operation)));
}

/// The member of a request, which may be absent; a member of another type is an error.
Status read_text(const Json& request, const char* name, std::string* out) {
  const Json& value = at_or_null(request, name);
  if (value.is_string()) *out = value.get<std::string>();
  if (value.is_string() || value.is_null()) return ok();
  return bad("request." + std::string(name) + ": expected a string");
}

Result<ReviewRequest> read_request(const Json& review) {
  const Json& request = at_or_null(review, "request");
  ReviewRequest out;
  if (request.is_null()) return out;
  if (!request.is_object()) return bad("request: expected an object");
  if (const Status read = read_text(request, "uid", &out.uid); !read) return read.error();
  if (const Status read = read_text(request, "operation", &out.operation); !read) {
    return read.error();
  }
  out.object = at_or_null(request, "object");
  out.old_object = at_or_null(request, "oldObject");
  return out;
}

Json response_of(const Verdict& verdict, const std::string& uid) {
  Json status = status_of(verdict);
  status["metadata"] = Json::object();
  Json response{{"uid", uid}, {"allowed", verdict.allowed()}, {"status", std::move(status)}};
  if (!verdict.warnings.empty()) response["warnings"] = verdict.warnings;
  if (!verdict.patch.empty()) {
    response["patchType"] = "JSONPatch";
    response["patch"] = base64_encode(dump_json(verdict.patch));
  }
  return response;
}

}  // namespace

std::optional<Endpoint> endpoint_at(std::string_view path) {
  constexpr std::string_view middle = "-kueue-x-k8s-io-v1beta2-";
  for (const KindRules& rules : all_rules) {
    const std::string end = std::string(middle) + std::string(rules.path);
    if (path == "/validate" + end) return Endpoint{Handler::validating, std::string(rules.kind)};
    if (rules.set_defaults && path == "/mutate" + end) {
      return Endpoint{Handler::mutating, std::string(rules.kind)};
    }
  }
  return std::nullopt;
}

Verdict judged(api::FieldErrors errors) {
  if (errors.empty()) return {};
  std::string message = api::to_text(errors);
  return {403, std::move(message), std::move(errors), Json::array(), {}};
}

Json status_of(const Verdict& verdict) {
  Json status{{"code", verdict.code}};
  if (!verdict.message.empty()) status["message"] = verdict.message;
  if (verdict.code == 403) status["reason"] = "Forbidden";
  return status;
}

Verdict review(const Endpoint& endpoint, const ReviewRequest& request, const Gates& gates) {
  const KindRules* rules = rules_of(endpoint.kind);
  if (!rules) return unreadable(bad("no webhook for kind " + api::in_quotes(endpoint.kind)));
  return endpoint.handler == Handler::mutating ? mutate(*rules, request, gates)
                                               : validate(*rules, request, gates);
}

Json unreadable_review(std::string why) {
  return Json{{"response", response_of(unreadable(bad(std::move(why))), "")}};
}

Json review_body(const Endpoint& endpoint, std::string_view body, const Gates& gates) {
  Result<OpenReview> open = read_review(body);
  if (!open) return unreadable_review(open.error().what());
  const Verdict verdict = review(endpoint, open->request, gates);
  return answer_to(std::move(*open), verdict);
}

Json answer_to(OpenReview review, const Verdict& verdict) {
  Json answer = std::move(review.answer);
  answer["response"] = response_of(verdict, review.request.uid);
  return answer;
}

Result<OpenReview> read_review(std::string_view body) {
  const bool empty = body.find_first_not_of(" \t\r\n") == std::string_view::npos;
  const Result<Json> parsed = empty ? Result<Json>(Json()) : parse_json(body);
  const bool readable = parsed && (parsed->is_object() || parsed->is_null());
  if (!readable) {
    return parsed ? bad("an AdmissionReview must be a JSON object") : parsed.error();
  }
  Result<ReviewRequest> request = read_request(*parsed);
  if (!request) return request.error();
  Json answer = Json::object();
  for (const char* name : {"apiVersion", "kind"}) {
    if (const std::string& text = text_at(*parsed, name); !text.empty()) answer[name] = text;
  }
  if (answer.empty()) answer = {{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}};
  return OpenReview{std::move(*request), std::move(answer)};
}

api::FieldErrors apply_on_create(Json* object, const Gates& gates) {
  const KindRules* rules = rules_of(text_at(*object, "kind"));
  if (!rules) return {};
  Result<Json> read = read_object(*object, *rules);
  if (!read) return {{"", read.error().what(), api::field_error::invalid, ""}};
  if (rules->set_defaults) rules->set_defaults(&*read, gates);
  api::FieldErrors errors = rules->create(*read, gates);
  if (errors.empty()) *object = std::move(*read);
  return errors;
}

}  // namespace regatta::webhooks
