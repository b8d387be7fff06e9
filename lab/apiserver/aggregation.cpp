#include "lab/apiserver/aggregation.h"

#include "lib/base/lower_case.h"
#include "lib/manifest/json_access.h"

#include <nlohmann/json.hpp>

#include <set>

namespace regatta::apiserver {
namespace {

constexpr const char* services_shelf = "apiservices.apiregistration.k8s.io";
constexpr Duration probing_pause = std::chrono::seconds(1);
constexpr Duration probe_max = std::chrono::seconds(5);
constexpr Duration pass_on_max = std::chrono::seconds(60);
/// An available server is asked again after so many pauses.
constexpr int pauses_when_available = 10;

HookTarget target_of(const Json& service) {
  const Json& spec = object_or_empty(service, {"spec"});
  return read_target(spec);
}

bool is_remote(const Json& service) {
  return object_at(object_or_empty(service, {"spec"}), "service") != nullptr;
}

/// Headers that are about one connection, or that a server behind a proxy must not believe.
bool stays_behind(std::string_view name) {
  static constexpr std::string_view prefixes[] = {"x-remote-", "impersonate-",   "connection",
                                                  "transfer-", "content-length", "authorization",
                                                  "host",      "upgrade",        "keep-alive"};
  const std::string lower = lower_case(name);
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&lower](std::string_view prefix) { return lower.starts_with(prefix); });
}

void name_user(const UserInfo& user, net::Headers& headers) {
  headers.set("X-Remote-User", user.name);
  if (!user.uid.empty()) headers.set("X-Remote-Uid", user.uid);
  for (const std::string& group : user.groups) headers.add("X-Remote-Group", group);
  for (const auto& [key, values] : user.extra) {
    for (const std::string& value : values) headers.add("X-Remote-Extra-" + key, value);
  }
}

Failure unavailable(const std::string& why) {
  Failure failure{503, "ServiceUnavailable", why};
  failure.plain_text = true;
  return failure;
}

Json condition_of(const Json& service) {
  for (const Json& condition : list_or_empty(object_or_empty(service, {"status"}), "conditions")) {
    if (text_at(condition, "type") == "Available") return condition;
  }
  return nullptr;
}

bool is_available(const Json& service) {
  const Json condition = condition_of(service);
  return condition.is_object() && text_at(condition, "status") == "True";
}

}  // namespace

StoredPtr Aggregation::service_of(const std::string& group, const std::string& version) const {
  const Shelf* shelf = core_.store.find_shelf(services_shelf);
  if (!shelf || shelf->objects().empty()) return nullptr;
  StoredPtr service = shelf->find("", version + "." + group);
  return service && is_remote(service->value()) ? service : nullptr;
}

bool Aggregation::serves(const RequestInfo& info) const {
  const auto& s = info.segments;
  return s.size() >= 3 && s[0] == "apis" && service_of(s[1], s[2]) != nullptr;
}

Task<Answer<net::HttpResponse>> Aggregation::pass_on(Exchange& exchange) {
  const auto& s = exchange.info.segments;
  const StoredPtr service = service_of(s[1], s[2]);
  if (!service || !is_available(service->value())) co_return unavailable("service unavailable");
  Result<HookCaller::Line> line = caller_.line_to(target_of(service->value()));
  if (!line) co_return unavailable("error trying to reach service: " + line.error().what());
  net::HttpRequest request(exchange.request.method, exchange.request.target);
  for (const auto& [name, value] : exchange.request.headers.fields()) {
    if (!stays_behind(name)) request.headers.add(name, value);
  }
  name_user(exchange.user, request.headers);
  request.body = exchange.request.body;
  net::SendOptions options;
  options.deadline = core_.clock.steady() + pass_on_max;
  Result<net::HttpResponse> answer = co_await line->sender->send(std::move(request), options);
  if (!answer) {
    co_return unavailable("error trying to reach service: " + go_network_error(answer.error()));
  }
  net::HttpResponse response(answer->status, std::move(answer->body));
  for (const auto& [name, value] : answer->headers.fields()) {
    if (!stays_behind(name)) response.headers.add(name, value);
  }
  co_return response;
}

void Aggregation::write_condition(const Stored& service, bool available, const char* reason,
                                  const std::string& message) {
  const ResourceTypePtr type = core_.registry.find("apiregistration.k8s.io", "v1", "apiservices");
  const Json before = condition_of(service.value());
  const std::string status = available ? "True" : "False";
  const bool same = before.is_object() && text_at(before, "status") == status &&
                    text_at(before, "message") == message;
  if (same || !type) return;
  Json object = in_version(service.value(), *type);
  const bool turned = !before.is_object() || text_at(before, "status") != status;
  object["status"]["conditions"] =
      Json::array({{{"type", "Available"},
                    {"status", status},
                    {"reason", reason},
                    {"message", message},
                    {"lastTransitionTime", turned ? Json(format_rfc3339(core_.clock.now()))
                                                  : before["lastTransitionTime"]}}});
  writer_.put_internal(*type, std::move(object));
}

Task<> Aggregation::probe(StoredPtr service) {
  const Json& spec = object_or_empty(service->value(), {"spec"});
  const std::string& group = text_at(spec, "group");
  const std::string& version = text_at(spec, "version");
  const std::string path = "/apis/" + group + "/" + version;
  const HookTarget target = target_of(service->value());
  Result<HookCaller::Line> line = caller_.line_to(target);
  Result<net::HttpResponse> answer =
      line ? net::HttpResponse() : Result<net::HttpResponse>(line.error());
  if (line) {
    net::HttpRequest request("GET", path);
    request.headers.set("Accept", "application/json");
    name_user({"system:kube-aggregator", "", {"system:masters"}, {}}, request.headers);
    net::SendOptions options;
    options.deadline = core_.clock.steady() + probe_max;
    answer = co_await line->sender->send(std::move(request), options);
  }
  // The object may have changed meanwhile.
  const StoredPtr now = service_of(group, version);
  if (now != service) co_return;
  const bool good = answer && answer->status == 200;
  if (good) {
    Result<Json> resources = parse_json(answer->body);
    core_.remote[{group, version}] = resources ? std::move(*resources) : Json::object();
    write_condition(*service, true, "Passed", "all checks passed");
    co_return;
  }
  const std::string why = answer ? "bad status from " + path + ": " + std::to_string(answer->status)
                                 : go_network_error(answer.error());
  core_.remote.erase({group, version});
  write_condition(*service, false, line ? "FailedDiscoveryCheck" : "MissingEndpoints", why);
}

Task<> Aggregation::run() {
  for (int round = 0;; ++round) {
    std::vector<StoredPtr> due;
    std::set<std::pair<std::string, std::string>> present;
    for (const auto& [name, service] : core_.store.shelf(services_shelf).objects()) {
      if (!is_remote(service->value())) continue;
      const Json& spec = object_or_empty(service->value(), {"spec"});
      const std::pair key{text_at(spec, "group"), text_at(spec, "version")};
      present.insert(key);
      const bool known = is_available(service->value()) && core_.remote.count(key) > 0;
      if (!known || round % pauses_when_available == 0) due.push_back(service);
    }
    std::erase_if(core_.remote, [&](const auto& item) { return present.count(item.first) == 0; });
    for (const StoredPtr& service : due) co_await probe(service);
    co_await core_.clock.sleep_for(probing_pause);
  }
}

Json Aggregation::config_map() const {
  const FrontProxy& proxy = core_.options.front_proxy;
  if (proxy.ca_pem.empty()) return nullptr;
  return {
      {"metadata", {{"name", "extension-apiserver-authentication"}, {"namespace", "kube-system"}}},
      {"data",
       {{"client-ca-file", proxy.client_ca_pem},
        {"requestheader-client-ca-file", proxy.ca_pem},
        {"requestheader-allowed-names", Json::array({proxy.name}).dump()},
        {"requestheader-username-headers", R"(["X-Remote-User"])"},
        {"requestheader-uid-headers", R"(["X-Remote-Uid"])"},
        {"requestheader-group-headers", R"(["X-Remote-Group"])"},
        {"requestheader-extra-headers-prefix", R"(["X-Remote-Extra-"])"}}}};
}

}  // namespace regatta::apiserver
