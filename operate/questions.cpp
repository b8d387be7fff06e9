#include "operate/questions.h"

#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::operate {

Task<Result<Json>> get_json(kube::Client& client, std::string path) {
  const auto text = co_await client.get_path(path);
  if (!text) co_return text.error();
  co_return parse_json(*text);
}

Task<Result<std::vector<Json>>> list_json(kube::Client& client, api::ResourceInfo resource,
                                          std::string ns, std::string selector) {
  std::vector<Json> out;
  const kube::OnItem take = [&](const Json& item, std::size_t) { out.push_back(item); };
  kube::ListOptions options;
  options.label_selector = std::move(selector);
  const auto listed = co_await client.list_raw(resource, std::move(ns), std::move(options), take);
  if (!listed) co_return listed.error();
  co_return out;
}

Task<Result<std::set<std::string>>> served_at(kube::Client& client, std::string path) {
  std::set<std::string> out;
  const auto found = co_await get_json(client, path);
  if (!found && found.error().code() == Errc::not_found) co_return out;
  if (!found) co_return found.error();
  for (const Json& resource : list_or_empty(*found, "resources")) {
    out.insert(text_at(resource, "name"));
  }
  co_return out;
}

Task<std::optional<Duration>> clock_ahead(kube::Client& client, Clock& clock) {
  constexpr api::ResourceInfo reviews{"authentication.k8s.io", "v1", "SelfSubjectReview",
                                      "selfsubjectreviews", false};
  const Json review{{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "SelfSubjectReview"}};
  const TimePoint before = clock.now();
  const auto answer = co_await client.create_raw(reviews, "", dump_json(review));
  const TimePoint after = clock.now();
  const auto read = answer ? parse_json(*answer) : Result<Json>(answer.error());
  if (!read) co_return std::nullopt;
  const auto then = parse_rfc3339(text_at(*read, {"metadata", "creationTimestamp"}));
  if (!then) co_return std::nullopt;
  // The server cuts off a part of a second.
  if (*then + std::chrono::seconds(1) < before) co_return *then + std::chrono::seconds(1) - before;
  co_return *then > after ? *then - after : Duration(0);
}

Task<Result<bool>> may(kube::Client& client, std::string user, Permission what) {
  const bool self = user.empty();
  const std::string kind = self ? "SelfSubjectAccessReview" : "SubjectAccessReview";
  const std::string plural = self ? "selfsubjectaccessreviews" : "subjectaccessreviews";
  const api::ResourceInfo reviews{"authorization.k8s.io", "v1", kind, plural, false};
  Json attributes{{"verb", what.verb}, {"group", what.group}, {"resource", what.resource}};
  if (!what.subresource.empty()) attributes["subresource"] = what.subresource;
  if (!what.ns.empty()) attributes["namespace"] = what.ns;
  Json spec{{"resourceAttributes", std::move(attributes)}};
  if (!self) spec["user"] = user;
  const Json review{
      {"apiVersion", "authorization.k8s.io/v1"}, {"kind", kind}, {"spec", std::move(spec)}};
  const auto answer = co_await client.create_raw(reviews, "", dump_json(review));
  if (!answer) co_return answer.error();
  const auto read = parse_json(*answer);
  if (!read) co_return read.error();
  co_return true_at(object_or_empty(*read, {"status"}), "allowed");
}

std::string describe(const Permission& what) {
  return what.verb + " " + what.resource + (what.subresource.empty() ? "" : "/") +
         what.subresource + (what.group.empty() ? "" : "." + what.group) +
         (what.ns.empty() ? "" : " in namespace " + what.ns);
}

const Json* condition_of(const Json& object, std::string_view type) {
  for (const Json& one : list_or_empty(object_or_empty(object, {"status"}), "conditions")) {
    if (text_at(one, "type") == type) return &one;
  }
  return nullptr;
}

std::set<std::string> names_of(const std::vector<Json>& objects) {
  std::set<std::string> out;
  for (const Json& one : objects) out.insert(text_at(one, {"metadata", "name"}));
  return out;
}

}  // namespace regatta::operate
