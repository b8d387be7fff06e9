#pragma once

#include "lab/apiserver/hooks/configuration.h"
#include "lab/apiserver/hooks/outgoing.h"
#include "lab/apiserver/store.h"

namespace regatta::apiserver {

/// A server to call, and the path there.
struct Reached {
  Peer peer;
  std::string path;
};

/// The server behind a target: the host and port of its URL, or a ready address of its Service,
/// from the EndpointSlices as kube-apiserver --enable-aggregator-routing finds it. `turn` chooses
/// one of several addresses. The server of a Service must be named SERVICE.NAMESPACE.svc.
Result<Reached> reach(Store& store, const HookTarget& target, std::uint64_t turn);

}  // namespace regatta::apiserver
