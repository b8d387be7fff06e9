#pragma once

#include "lab/apiserver/faults.h"
#include "lab/apiserver/output.h"

#include <map>
#include <memory>
#include <string>

namespace regatta::apiserver {

/// Counts every request by user, target and answer.
class Traffic {
 public:
  void count(const Exchange& exchange, unsigned status);
  /// {"requests": [{"user", "userAgent", "verb", "group", "resource", "subresource", "code",
  /// "count"}, …]}, sorted.
  Json report() const;
  /// The Prometheus text of apiserver_request_total.
  std::string metrics() const;
  void reset() { counts_.clear(); }

 private:
  struct Key {
    std::string user, user_agent, verb, group, version, resource, subresource;
    unsigned code = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::map<Key, std::uint64_t> counts_;
};

/// Draws the faults. Has a seed of its own, so that faults do not change other random numbers.
class FaultInjector {
 public:
  FaultInjector(Clock& clock, std::uint64_t seed) : clock_(clock), rng_(seed) {}
  Faults& faults() { return faults_; }
  void reseed(std::uint64_t seed) { rng_ = Rng(seed); }

  /// Waits for the latency; returns the failure of a request that is not to be served.
  Task<std::optional<Failure>> before(const Exchange& exchange);
  /// Whether the reply to a served request is lost.
  bool loses_reply(const Exchange& exchange);
  /// Adds faults to the stream of a watch.
  std::shared_ptr<net::BodyStream> wrap(std::shared_ptr<net::BodyStream> stream);

 private:
  friend class FaultyStream;
  Clock& clock_;
  Rng rng_;
  Faults faults_;
};

}  // namespace regatta::apiserver
