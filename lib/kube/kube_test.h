#pragma once

#include "lib/api/codec.h"
#include "lib/api/meta.h"
#include "lib/kube/client.h"
#include "lib/net/handler_sender.h"
#include "lib/net/http.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/wakeup.h"
#include "lib/sim/world.h"

#include <boost/asio/post.hpp>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// For the tests of this folder alone.
namespace regatta::kube {

/// A watch that the test feeds.
class PushStream final : public net::BodyStream {
 public:
  explicit PushStream(const Executor& executor) : wake_(executor) {}
  void push(std::string piece) {
    pieces_.push_back(std::move(piece));
    wake_.notify_all();
  }
  void end() {
    ended_ = true;
    wake_.notify_all();
  }
  void cut() {
    cut_ = true;
    wake_.notify_all();
  }
  Task<Result<std::optional<std::string>>> next() override {
    while (pieces_.empty() && !ended_ && !cut_) co_await wake_.wait();
    if (!pieces_.empty()) {
      std::string piece = std::move(pieces_.front());
      pieces_.pop_front();
      co_return std::optional<std::string>(std::move(piece));
    }
    if (cut_) co_return Error(Errc::unavailable, "connection reset");
    co_return std::optional<std::string>();
  }

 private:
  std::deque<std::string> pieces_;
  bool ended_ = false, cut_ = false;
  Wakeup wake_;
};

/// Answers requests in the order of a script and remembers the requests.
class ScriptedServer final : public net::HttpHandler {
 public:
  using Answer = std::function<net::HttpResponse(const net::HttpRequest&)>;

  explicit ScriptedServer(sim::World& world) : world_(world) {}

  void answer(unsigned status, std::string body, net::Headers headers = {}) {
    script.push_back([status, body, headers](const net::HttpRequest&) {
      net::HttpResponse response(status, body);
      response.headers = headers;
      return response;
    });
  }
  void refuse(unsigned status, std::string reason, std::string message, net::Headers headers = {}) {
    const Json body = {{"kind", "Status"},   {"apiVersion", "v1"}, {"status", "Failure"},
                       {"message", message}, {"reason", reason},   {"code", status}};
    answer(status, dump_json(body), std::move(headers));
  }
  std::shared_ptr<PushStream> answer_watch() {
    auto stream = std::make_shared<PushStream>(world_.executor());
    script.push_back([stream](const net::HttpRequest&) {
      net::HttpResponse response(200, "");
      response.stream = stream;
      return response;
    });
    return stream;
  }

  Task<net::HttpResponse> handle(net::HttpRequest request) override {
    seen.push_back(request);
    seen_at.push_back(world_.now());
    if (delay > Duration(0)) co_await world_.sleep_for(delay);
    if (otherwise && script.empty()) co_return otherwise(request);
    if (script.empty()) {
      unscripted.push_back(request.method + " " + request.target);
      co_return net::HttpResponse(500, "unscripted");
    }
    Answer next = std::move(script.front());
    script.pop_front();
    co_return next(request);
  }

  /// "GET /path?query" of the i-th request.
  std::string line(std::size_t i) const {
    return i < seen.size() ? seen[i].method + " " + seen[i].target : "(no such request)";
  }

  std::deque<Answer> script;
  Answer otherwise;  ///< answers when the script is used up
  Duration delay{0};
  std::vector<net::HttpRequest> seen;
  std::vector<TimePoint> seen_at;
  std::vector<std::string> unscripted;

 private:
  sim::World& world_;
};

/// A kind that has just what the tests need.
struct Thing {
  static const api::ResourceInfo resource;
  api::ObjectMeta metadata;
  std::string color;
  std::string phase;  ///< of the status

  friend bool operator==(const Thing&, const Thing&) = default;
};

inline const api::ResourceInfo Thing::resource{"example.dev", "v1", "Thing", "things", true};

}  // namespace regatta::kube

namespace regatta::api {

template <>
inline Result<kube::Thing> from_json<kube::Thing>(const Json& value) {
  kube::Thing thing;
  const Json& metadata = value.at("metadata");
  thing.metadata.ns = metadata.value("namespace", "");
  thing.metadata.name = metadata.value("name", "");
  thing.metadata.uid = metadata.value("uid", "");
  thing.metadata.resource_version = metadata.value("resourceVersion", "");
  if (value.contains("spec")) {
    const Json& color = value["spec"].at("color");
    if (!color.is_string()) return Error(Errc::invalid, "spec.color: expected a string");
    thing.color = color.get<std::string>();
  }
  if (value.contains("status")) thing.phase = value["status"].value("phase", "");
  return thing;
}

template <>
inline Json to_json<kube::Thing>(const kube::Thing& thing) {
  Json value = {{"apiVersion", "example.dev/v1"},
                {"kind", "Thing"},
                {"metadata", {{"namespace", thing.metadata.ns}, {"name", thing.metadata.name}}},
                {"spec", {{"color", thing.color}}}};
  if (!thing.metadata.resource_version.empty()) {
    value["metadata"]["resourceVersion"] = thing.metadata.resource_version;
  }
  if (!thing.phase.empty()) value["status"]["phase"] = thing.phase;
  return value;
}

}  // namespace regatta::api

namespace regatta::kube {

inline Json thing_json(const std::string& name, const std::string& version,
                       const std::string& color = "red") {
  return {{"apiVersion", "example.dev/v1"},
          {"kind", "Thing"},
          {"metadata", {{"namespace", "ns"}, {"name", name}, {"resourceVersion", version}}},
          {"spec", {{"color", color}}}};
}

inline std::string list_text(const std::string& version, std::vector<Json> items,
                             const std::string& continue_token = "") {
  Json list = {{"apiVersion", "example.dev/v1"},
               {"kind", "ThingList"},
               {"metadata", {{"resourceVersion", version}}},
               {"items", Json(std::move(items))}};
  if (!continue_token.empty()) list["metadata"]["continue"] = continue_token;
  return dump_json(list);
}

inline std::string event_line(const std::string& type, const Json& object) {
  // In the order of API servers.
  return R"({"type":")" + type + R"(","object":)" + dump_json(object) + "}\n";
}

inline std::string bookmark_line(const std::string& version) {
  const Json object = {{"kind", "Thing"}, {"metadata", {{"resourceVersion", version}}}};
  return event_line("BOOKMARK", object);
}

inline std::string error_line(unsigned code, const std::string& reason) {
  const Json object = {
      {"kind", "Status"}, {"code", code}, {"reason", reason}, {"message", "too old"}};
  return event_line("ERROR", object);
}

/// Passes requests on, and remembers which were said to be the last for now.
class LastRequests final : public net::HttpSender {
 public:
  explicit LastRequests(net::HttpSender& inner) : inner_(inner) {}
  Task<Result<net::HttpResponse>> send(net::HttpRequest request,
                                       net::SendOptions options) override {
    were_last.push_back(options.last);
    co_return co_await inner_.send(std::move(request), options);
  }

  std::vector<bool> were_last;

 private:
  net::HttpSender& inner_;
};

/// Every look at it takes a millisecond, so that work takes time where time is virtual.
class SlowClock final : public Clock {
 public:
  explicit SlowClock(Clock& inner) : inner_(inner) {}
  TimePoint now() const override { return inner_.now(); }
  SteadyPoint steady() const override { return inner_.steady() + ++late_; }
  Task<> sleep_until(SteadyPoint t) override { return inner_.sleep_until(t - late_); }

 private:
  Clock& inner_;
  mutable Duration late_{0};
};

/// Which things had been taken when the others had their first turn after the first one.
class FirstTurn {
 public:
  explicit FirstTurn(const Executor& executor) : executor_(executor) {}
  void take() {
    if (++taken_ == 1) asio::post(executor_, [this] { before_ = taken_; });
  }
  int taken() const { return taken_; }
  int before() const { return before_; }

 private:
  Executor executor_;
  int taken_ = 0, before_ = 0;
};

/// A client of a scripted server, in virtual time.
struct KubeTest : ::testing::Test {
  sim::World world{1};
  TaskScope scope{world.executor()};
  ScriptedServer server{world};
  net::HandlerSender direct{world, server};
  LastRequests sender{direct};
  TimePoint start = world.now();
  std::vector<std::string> seen_by_observer;

  ClientConfig config() {
    ClientConfig config;
    config.observer = [this](const RequestSeen& seen) {
      seen_by_observer.push_back(std::string(seen.verb) + " " + std::string(seen.resource) + " " +
                                 std::to_string(seen.http_status));
    };
    return config;
  }
  Client client{ClientDeps{sender, world, world.rng, nullptr, config()}};

  /// Runs `op` to its end, at most an hour.
  template <class T>
  T run(Task<T> op) {
    std::optional<T> answer;
    scope.spawn("test", store(std::move(op), &answer));
    world.run_for(std::chrono::hours(1), [&] { return answer.has_value(); });
    if (!answer) throw std::runtime_error("the operation did not end");
    return std::move(*answer);
  }

  void TearDown() override {
    scope.stop();
    world.settle();
    EXPECT_EQ(scope.size(), 0u);
  }

 private:
  template <class T>
  static Task<> store(Task<T> op, std::optional<T>* into) {
    into->emplace(co_await std::move(op));
  }
};

}  // namespace regatta::kube
