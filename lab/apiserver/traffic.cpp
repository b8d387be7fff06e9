#include "lab/apiserver/traffic.h"

#include "lab/terms.h"
#include "lib/manifest/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

constexpr std::size_t user_agent_bytes_max = 128;

bool writes_existing(const Exchange& exchange) {
  return exchange.info.verb == "update" || exchange.info.verb == "patch";
}

std::string label(const char* name, const std::string& value) {
  return std::string(name) + "=" + in_quotes(value);
}

struct Probability {
  const char* name;
  double Faults::* member;
};
constexpr Probability probabilities[] = {{"conflict", &Faults::conflict},
                                         {"gone", &Faults::gone},
                                         {"tooManyRequests", &Faults::too_many_requests},
                                         {"internalError", &Faults::internal_error},
                                         {"lostReply", &Faults::lost_reply},
                                         {"dropWatch", &Faults::drop_watch},
                                         {"halfOpenWatch", &Faults::half_open_watch}};

}  // namespace

void Traffic::count(const Exchange& exchange, unsigned status) {
  const RequestInfo& info = exchange.info;
  Key key;
  key.user = exchange.user.name;
  key.user_agent = exchange.request.headers.get("User-Agent");
  if (key.user_agent.size() > user_agent_bytes_max) key.user_agent.resize(user_agent_bytes_max);
  key.verb = info.verb;
  key.group = info.group;
  key.version = info.version;
  key.resource = info.resource_request ? info.plural : "";
  key.subresource = info.subresource;
  key.code = status;
  ++counts_[key];
}

Json Traffic::report() const {
  Json list = Json::array();
  for (const auto& [key, count] : counts_) {
    list.push_back({{"user", key.user},
                    {"userAgent", key.user_agent},
                    {"verb", key.verb},
                    {"group", key.group},
                    {"resource", key.resource},
                    {"subresource", key.subresource},
                    {"code", key.code},
                    {"count", count}});
  }
  return {{"requests", std::move(list)}};
}

std::string Traffic::metrics() const {
  std::map<std::string, std::uint64_t> lines;
  for (const auto& [key, count] : counts_) {
    lines["apiserver_request_total{" + label("code", std::to_string(key.code)) + "," +
          label("group", key.group) + "," + label("resource", key.resource) + "," +
          label("subresource", key.subresource) + "," + label("verb", key.verb) + "," +
          label("version", key.version) + "}"] += count;
  }
  std::string text =
      "# HELP apiserver_request_total Requests by verb, resource and response code.\n"
      "# TYPE apiserver_request_total counter\n";
  for (const auto& [line, count] : lines) text += line + " " + std::to_string(count) + "\n";
  return text;
}

Json Faults::to_json() const {
  Json json = {{"latencyMs", latency.count()},
               {"latencyJitterMs", latency_jitter.count()},
               {"refuse", refuse}};
  for (const Probability& probability : probabilities) {
    json[probability.name] = this->*probability.member;
  }
  return json;
}

Status Faults::merge(const Json& json) {
  if (!json.is_object()) return Error(Errc::invalid, "faults: expected an object");
  for (const auto& [key, value] : json.items()) {
    bool known = key == "seed";
    for (const Probability& probability : probabilities) {
      if (key != probability.name) continue;
      if (!value.is_number() || value.get<double>() < 0 || value.get<double>() > 1) {
        return Error(Errc::invalid, key + ": expected a probability between 0 and 1");
      }
      this->*probability.member = value.get<double>();
      known = true;
    }
    if (key == "latencyMs" || key == "latencyJitterMs") {
      if (!value.is_number_integer() || value.get<std::int64_t>() < 0) {
        return Error(Errc::invalid, key + ": expected milliseconds");
      }
      (key == "latencyMs" ? latency : latency_jitter) = Duration(value.get<std::int64_t>());
      known = true;
    }
    if (key == "refuse") {
      if (!value.is_boolean()) return Error(Errc::invalid, "refuse: expected true or false");
      refuse = value.get<bool>();
      known = true;
    }
    if (!known) return Error(Errc::invalid, key + ": no such fault");
  }
  return ok();
}

Task<std::optional<Failure>> FaultInjector::before(const Exchange& exchange) {
  const Faults f = faults_;
  if (f.refuse) {
    co_return Failure{503, "ServiceUnavailable", "the server refuses connections on request"};
  }
  if (f.latency.count() > 0 || f.latency_jitter.count() > 0) {
    const Duration extra(rng_.between(0, f.latency_jitter.count()));
    co_await clock_.sleep_for(f.latency + extra);
  }
  if (f.too_many_requests > 0 && rng_.chance(f.too_many_requests)) {
    Failure failure{429, "TooManyRequests", "Too many requests, please try again later.\n"};
    failure.plain_text = true;
    failure.details.emplace();
    failure.details->retry_after_seconds = 1;
    co_return failure;
  }
  if (f.internal_error > 0 && rng_.chance(f.internal_error)) {
    co_return Failure{500, "InternalError", "Internal error occurred: injected"};
  }
  if (f.conflict > 0 && writes_existing(exchange) && rng_.chance(f.conflict)) {
    Failure failure{409, "Conflict",
                    "Operation cannot be fulfilled on " + exchange.info.plural + " " +
                        in_quotes(exchange.info.name) +
                        ": the object has been modified; please apply your changes to the latest "
                        "version and try again"};
    failure.details.emplace();
    failure.details->name = exchange.info.name;
    failure.details->group = exchange.info.group;
    failure.details->kind = exchange.info.plural;
    co_return failure;
  }
  const bool reads = exchange.info.verb == "list" || exchange.info.verb == "watch";
  if (f.gone > 0 && reads && rng_.chance(f.gone)) {
    co_return expired("too old resource version: injected");
  }
  co_return std::nullopt;
}

bool FaultInjector::loses_reply(const Exchange& exchange) {
  if (faults_.lost_reply <= 0 || exchange.info.verb == "watch") return false;
  return rng_.chance(faults_.lost_reply);
}

/// A watch that is cut, or that stays silent from some point on.
class FaultyStream final : public net::BodyStream {
 public:
  FaultyStream(FaultInjector& injector, std::shared_ptr<net::BodyStream> stream, bool silent)
      : injector_(injector), stream_(std::move(stream)), silent_(silent) {}

  Task<Result<std::optional<std::string>>> next() override {
    while (true) {
      Result<std::optional<std::string>> piece = co_await stream_->next();
      if (!piece || !*piece) co_return piece;
      const double drop = injector_.faults_.drop_watch;
      if (drop > 0 && injector_.rng_.chance(drop)) {
        co_return Error(Errc::unavailable, "the watch was cut on request");
      }
      if (!silent_) co_return piece;
    }
  }

 private:
  FaultInjector& injector_;
  std::shared_ptr<net::BodyStream> stream_;
  bool silent_;
};

std::shared_ptr<net::BodyStream> FaultInjector::wrap(std::shared_ptr<net::BodyStream> stream) {
  const bool silent = faults_.half_open_watch > 0 && rng_.chance(faults_.half_open_watch);
  if (!silent && faults_.drop_watch <= 0) return stream;
  return std::make_shared<FaultyStream>(*this, std::move(stream), silent);
}

}  // namespace regatta::apiserver
