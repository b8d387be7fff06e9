#include "lab/apiserver/replay/player.h"

#include "lab/apiserver/replay/recorded_hooks.h"
#include "lab/apiserver/server.h"
#include "lib/base/base64.h"
#include "lib/runtime/task_scope.h"
#include "lib/sim/world.h"

#include <nlohmann/json.hpp>

#include <map>
#include <memory>

namespace regatta::apiserver::replay {
namespace {

constexpr auto step_time_max = std::chrono::seconds(120);

struct Line {
  int after_step = 0;
  Json event;
};

/// A watch that is read while later steps run.
struct OpenWatch {
  std::size_t result = 0;
  Json recorded;
  std::shared_ptr<net::BodyStream> stream;
  std::string rest;
  std::vector<Line> lines;
  bool ended = false;
};

bool optional_bookmark(const Json& event) {
  return event.value("type", "") == "BOOKMARK" &&
         !event.contains(Json::json_pointer("/object/metadata/annotations"));
}

std::map<std::string, UserInfo> users() {
  const auto user = [](const char* name, const char* uid, std::vector<std::string> groups) {
    UserInfo info;
    info.name = name;
    info.uid = uid;
    info.groups = std::move(groups);
    return info;
  };
  return {{"admin", user("admin", "u1", {"system:masters"})},
          {"nobody", user("nobody", "u2", {})},
          {"dev", user("dev", "u3", {"devs"})}};
}

std::string text_of(const Json& header) {
  if (header.is_string()) return header.get<std::string>();
  std::string all;
  for (const Json& item : header) all += item.get<std::string>() + "\n";
  return all;
}

/// Large recorded bodies end in "...<3145917 bytes>": restores their full length.
std::string expanded(std::string text) {
  const std::size_t mark = text.rfind("...<");
  if (mark == std::string::npos || !text.ends_with(" bytes>")) return text;
  const std::size_t bytes = std::stoul(text.substr(mark + 4));
  std::string whole = text.substr(0, mark);
  if (whole.starts_with('[')) {
    const std::string item = whole.substr(1, whole.find('}'));
    std::string list = "[" + item;
    while (list.size() + item.size() + 3 <= bytes) list += ", " + item;
    return list + "]";
  }
  const auto opened = static_cast<std::size_t>(std::count(whole.begin(), whole.end(), '{') -
                                               std::count(whole.begin(), whole.end(), '}'));
  const std::string tail = "\"" + std::string(opened, '}');
  whole.append(bytes - whole.size() - tail.size(), 'x');
  return whole + tail;
}

std::string unquoted(std::string text) {
  std::erase(text, '"');
  return text;
}

class Player {
 public:
  Player() : world_(7), scope_(world_.executor()) {
    ServerOptions options;
    options.tokens = users();
    hooks_ = std::make_shared<RecordedHooks>(world_, bindings_);
    options.outgoing = hooks_;
    bindings_.bind("<webhook-host>", "127.0.0.1:9443");
    bindings_.bind("<ca-bundle>", base64_encode("the authority"));
    server_ = std::make_unique<Server>(world_.executor(), world_, world_.rng, options);
  }
  ~Player() {
    scope_.stop();
    world_.settle();
  }

  void prepare(const Json& definition) {
    net::HttpRequest request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
    request.headers.set("Authorization", "Bearer admin");
    request.body = definition.dump();
    (void)send(std::move(request));
  }

  std::vector<StepResult> run(const Json& scenario) {
    const std::string name = scenario.value("scenario", "");
    converts_ = name.ends_with("conversion-reviews");
    cleans_up_ = name.ends_with("admission-outcomes");
    for (const Json& step : scenario["steps"]) {
      if (name == "1-errors/410-gone" && step.value("step", 0) == 10) age();
      if (step.contains("request")) {
        play_step(step, step.value("step", 0), step.value("note", ""));
        continue;
      }
      int number = 0;
      world_.run_for(std::chrono::seconds(1));  // the time of a write tells managers apart
      for (const Json& exchange : step.value("exchanges", Json::array())) {
        if (name == "7-clients/kubectl-objects" && step.value("step", 0) == 37 && number == 0) {
          label_widget();
        }
        play_step(exchange, ++number,
                  std::to_string(step.value("step", 0)) + " " +
                      step.value("command", step.value("note", "")));
      }
    }
    world_.run_for(std::chrono::seconds(100));
    for (auto& watch : watches_) finish(*watch);
    return std::move(results_);
  }

 private:
  struct Pending {
    bool done = false;
    net::HttpResponse response;
  };

  Task<> exchange(net::HttpRequest request, std::shared_ptr<Pending> into) {
    into->response = co_await server_->handle(std::move(request));
    into->done = true;
  }

  net::HttpResponse send(net::HttpRequest request) {
    auto pending = std::make_shared<Pending>();
    scope_.spawn("step", exchange(std::move(request), pending));
    world_.settle();
    if (!pending->done) {
      world_.run_for(step_time_max, [&pending] { return pending->done; });
    }
    return std::move(pending->response);
  }

  net::HttpRequest request_of(const Json& recorded) {
    net::HttpRequest request(recorded["method"].get<std::string>(),
                             bindings_.filled(recorded["path"].get<std::string>()));
    const Json headers = recorded.value("headers", Json::object());
    for (const auto& [name, value] : headers.items()) {
      std::string text = text_of(value);
      if (text.find("<token:serviceaccount>") != std::string::npos) {
        const auto token = bindings_.value("<jwt:1>");
        text = token ? "Bearer " + *token : "Basic dTpw";
      }
      request.headers.set(name, bindings_.filled(text));
    }
    if (recorded.contains("bodyText")) request.body = recorded["bodyText"].get<std::string>();
    if (recorded.contains("body")) {
      const Json& body = recorded["body"];
      request.body = body.is_string() ? expanded(bindings_.filled(body.get<std::string>()))
                                      : bindings_.filled_json(body).dump();
    }
    return request;
  }

  /// The recorded client had read the recorded index; this one uses the hash from the index of this
  /// server.
  void use_present_hash(net::HttpRequest& request) {
    const std::size_t at = request.target.find("?hash=");
    if (at == std::string::npos || !request.target.starts_with("/openapi/v3/")) return;
    net::HttpRequest index("GET", "/openapi/v3");
    index.headers.set("Authorization", "Bearer admin");
    const Json paths = Json::parse(send(std::move(index)).body, nullptr, false);
    const std::string path = request.target.substr(12, at - 12);
    if (!paths.is_object() || !paths["paths"].contains(path)) return;
    const std::size_t rest = std::min(request.target.find('&', at), request.target.size());
    request.target =
        paths["paths"][path]["serverRelativeURL"].get<std::string>() + request.target.substr(rest);
  }

  /// A change that was made while kubectl watched and is not in the recording.
  void label_widget() {
    net::HttpRequest request(
        "PATCH", "/apis/example.dev/v1/namespaces/k7/widgets/wone?fieldManager=kubectl-label");
    request.headers.set("Authorization", "Bearer admin");
    request.headers.set("Content-Type", "application/merge-patch+json");
    request.body = R"({"metadata":{"labels":{"w":"1"}}})";
    (void)send(std::move(request));
    world_.settle();
  }

  /// What a step created is deleted before the next; that is not in the recording.
  void remove_widget(int number) {
    hooks_->expect(Json::array(), false);
    net::HttpRequest request("DELETE", "/apis/example.dev/v1/namespaces/wh2/widgets/" +
                                           std::string(number == 69 ? "other" : "x"));
    request.headers.set("Authorization", "Bearer admin");
    (void)send(std::move(request));
  }

  /// Changes of the scenario of expired versions that are not in the recording: deletions, then a
  /// compaction.
  void age() {
    for (const char* gone : {"c0", "c3"}) {
      net::HttpRequest request("DELETE", std::string("/api/v1/namespaces/e410/configmaps/") + gone);
      request.headers.set("Authorization", "Bearer admin");
      (void)send(std::move(request));
    }
    server_->compact();
  }

  /// The recorded client had seen the document; this one sends the validators of this server's
  /// document.
  void remember_validators(net::HttpRequest& request) {
    net::HttpRequest plain = request;
    plain.headers = net::Headers();
    for (const auto& [name, value] : request.headers.fields()) {
      if (!name.starts_with("If-")) plain.headers.add(name, value);
    }
    const net::HttpResponse seen = send(std::move(plain));
    for (const auto& [validator, header] :
         {std::pair{"If-None-Match", "Etag"}, std::pair{"If-Modified-Since", "Last-Modified"}}) {
      if (request.headers.has(validator)) {
        request.headers.set(validator, std::string(seen.headers.get(header)));
      }
    }
  }

  Task<> read(std::shared_ptr<OpenWatch> watch) {
    while (true) {
      Result<std::optional<std::string>> piece = co_await watch->stream->next();
      if (!piece || !*piece) break;
      watch->rest += **piece;
      std::size_t end = 0;
      while ((end = watch->rest.find('\n')) != std::string::npos) {
        const Json event = Json::parse(watch->rest.substr(0, end), nullptr, false);
        watch->rest.erase(0, end + 1);
        if (!optional_bookmark(event)) watch->lines.push_back({step_, event});
      }
    }
    watch->ended = true;
  }

  void play_step(const Json& step, int number, const std::string& note) {
    step_ = number;
    const Json& recorded = step["response"];
    net::HttpRequest request = request_of(step["request"]);
    results_.push_back(
        {std::to_string(number) + ". " + note + " [" + request.method + " " + request.target + "]",
         ""});
    std::string* found = &results_.back().difference;
    const std::size_t index = results_.size() - 1;
    if (recorded.value("status", 0) == 200) use_present_hash(request);
    if (recorded.value("status", 0) == 304) remember_validators(request);
    hooks_->expect(step.value("webhook_calls", Json::array()), !converts_);
    net::HttpResponse response = send(std::move(request));
    *found = header_difference(recorded, response);
    if (found->empty()) *found = hooks_->difference();
    if (cleans_up_) remove_widget(number);
    if (response.stream) {
      auto watch = std::make_shared<OpenWatch>();
      watch->result = index;
      watch->recorded = recorded;
      watch->stream = std::move(response.stream);
      scope_.spawn("watch", read(watch));
      world_.settle();
      follow(step, watch, number);
      return;
    }
    world_.settle();
    const bool cut = note.find("kept") != std::string::npos;
    if (found->empty()) *found = body_difference(recorded, response.body, cut);
  }

  void follow(const Json& step, const std::shared_ptr<OpenWatch>& watch, int number) {
    bool later = false;
    for (const Json& line : watch->recorded.value("lines", Json::array())) {
      later = later || line.value("after_step", number) > number;
    }
    const std::string path = step["request"]["path"].get<std::string>();
    const bool brief = path.find("timeoutSeconds=75") == std::string::npos &&
                       path.find("timeoutSeconds=") != std::string::npos;
    const bool ends = watch->recorded.value("ended_by", brief ? "server" : "client") == "server";
    if (!later && brief && ends) {
      world_.run_for(step_time_max, [&watch] { return watch->ended; });
      finish(*watch);
      return;
    }
    watches_.push_back(watch);
  }

  void finish(OpenWatch& watch) {
    std::string& found = results_[watch.result].difference;
    if (!found.empty()) return;
    if (watch.recorded.contains("body")) {
      const Json actual = watch.lines.empty() ? Json() : watch.lines[0].event;
      found = difference(watch.recorded["body"], actual, bindings_);
      return;
    }
    std::vector<Line> wanted;
    for (const Json& line : watch.recorded.value("lines", Json::array())) {
      if (!line.contains("event") || optional_bookmark(line["event"])) continue;
      wanted.push_back({line.value("after_step", 0), line["event"]});
    }
    for (std::size_t i = 0; i < std::min(wanted.size(), watch.lines.size()); ++i) {
      found = difference(wanted[i].event, watch.lines[i].event, bindings_,
                         "event " + std::to_string(i + 1));
      if (!found.empty()) return;
    }
    const bool left_early = watch.recorded.value("ended_by", "client") == "client";
    const int last = wanted.empty() ? 0 : wanted.back().after_step;
    if (left_early && watch.lines.size() > wanted.size() &&
        watch.lines[wanted.size()].after_step > last) {
      return;  // the recorder had closed its watch before
    }
    if (wanted.size() != watch.lines.size()) {
      found = "recorded " + std::to_string(wanted.size()) + " events, got " +
              std::to_string(watch.lines.size());
    }
  }

  std::string header_difference(const Json& recorded, const net::HttpResponse& response) {
    if (recorded.value("status", 0) != static_cast<int>(response.status)) {
      return "status: recorded " + std::to_string(recorded.value("status", 0)) + ", got " +
             std::to_string(response.status) + ": " + response.body.substr(0, 300);
    }
    const Json headers = recorded.value("headers", Json::object());
    if (headers.contains("Etag")) {
      bindings_.replace(unquoted(text_of(headers["Etag"])),
                        unquoted(std::string(response.headers.get("Etag"))));
    }
    for (const char* name : {"Retry-After", "Warning"}) {
      std::string wanted = headers.contains(name) ? text_of(headers[name]) : "";
      std::string got;
      for (const auto& [field, value] : response.headers.fields()) {
        if (field == name) got += value + "\n";
      }
      if (!wanted.empty() && wanted.back() != '\n') wanted += '\n';
      if (!bindings_.matches(wanted, got)) {
        return std::string(name) + ": recorded " + wanted + ", got " + got;
      }
    }
    return "";
  }

  /// Reduces `actual` to the parts that a shortened recording kept.
  static void cut_down(const Json& recorded, Json& actual) {
    const auto name = [](const Json& item) {
      return item.value("name", item.value("metadata", Json::object()).value("name", ""));
    };
    for (const char* list : {"items", "groups"}) {
      if (!recorded.contains(list) || !actual.contains(list)) continue;
      Json kept = Json::array();
      for (const Json& item : actual[list]) {
        for (const Json& wanted : recorded[list]) {
          if (name(item) == name(wanted)) kept.push_back(item);
        }
      }
      actual[list] = std::move(kept);
    }
    if (!recorded.contains("paths") || !actual.contains("paths")) return;
    if (!recorded["paths"].is_object() || !actual["paths"].is_object()) return;
    Json kept = Json::object();
    for (const auto& [key, value] : actual["paths"].items()) {
      if (recorded["paths"].contains(key)) kept[key] = value;
    }
    actual["paths"] = std::move(kept);
  }

  std::string body_difference(const Json& recorded, const std::string& body, bool cut) {
    if (recorded.contains("body")) {
      Json actual = Json::parse(body, nullptr, false);
      if (cut && actual.is_object()) cut_down(recorded["body"], actual);
      return difference(recorded["body"], actual, bindings_);
    }
    if (!recorded.contains("bodyText")) return "";
    const Json headers = recorded.value("headers", Json::object());
    if (headers.contains("Content-Type") &&
        text_of(headers["Content-Type"]).find("protobuf") != std::string::npos) {
      return "";  // the server answers in JSON, which every client accepts as well
    }
    const std::string wanted = recorded["bodyText"].get<std::string>();
    const Json json = Json::parse(wanted, nullptr, false);
    if (!json.is_discarded()) {
      if (body.empty() || body.back() != '\n') return "body: no newline at the end";
      return difference(json, Json::parse(body, nullptr, false), bindings_);
    }
    return bindings_.matches(wanted, body) ? "" : "body: recorded " + wanted + ", got " + body;
  }

  sim::World world_;
  std::unique_ptr<Server> server_;
  Bindings bindings_;
  std::shared_ptr<RecordedHooks> hooks_;
  bool converts_ = false;
  bool cleans_up_ = false;
  std::vector<StepResult> results_;
  std::vector<std::shared_ptr<OpenWatch>> watches_;
  int step_ = 0;
  TaskScope scope_;
};

}  // namespace

std::vector<StepResult> play(const Json& scenario, const std::vector<Json>& definitions) {
  Player player;
  for (const Json& definition : definitions) player.prepare(definition);
  return player.run(scenario);
}

}  // namespace regatta::apiserver::replay
