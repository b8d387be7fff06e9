#pragma once

#include "lab/apiserver/core.h"
#include "lab/apiserver/hook_caller.h"
#include "lab/apiserver/output.h"
#include "lab/apiserver/writer.h"

namespace regatta::apiserver {

/// Passes requests for the group versions of APIServices on to their servers, for the user who
/// asked. Its certificate makes such a server believe who that is.
class Aggregation {
 public:
  Aggregation(Core& core, ObjectWriter& writer)
      : core_(core),
        writer_(writer),
        caller_(core.store, core.clock, core.options.front_proxy.outgoing) {}

  /// Whether another server answers such requests. Cheap.
  bool serves(const RequestInfo& info) const;
  Task<Answer<net::HttpResponse>> pass_on(Exchange& exchange);

  /// Asks the servers of APIServices what they serve, and writes whether they are available. Runs
  /// until cancelled.
  Task<> run();

  /// The ConfigMap from which such a server learns whom to believe; null without a front proxy.
  Json config_map() const;

 private:
  StoredPtr service_of(const std::string& group, const std::string& version) const;
  Task<> probe(StoredPtr service);
  void write_condition(const Stored& service, bool available, const char* reason,
                       const std::string& message);

  Core& core_;
  ObjectWriter& writer_;
  HookCaller caller_;
};

}  // namespace regatta::apiserver
