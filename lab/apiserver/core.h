#pragma once

#include "lab/apiserver/faults.h"
#include "lab/apiserver/request.h"
#include "lab/apiserver/store.h"
#include "lab/terms.h"
#include "lib/base/clock.h"
#include "lib/base/rng.h"
#include "lib/manifest/registry.h"

#include <map>
#include <string>
#include <vector>

namespace regatta::apiserver {

struct ServerOptions {
  std::string git_version = "v1.36.2";
  /// Bearer tokens and whom they belong to. system:authenticated is added to the groups.
  std::map<std::string, UserInfo> tokens;
  /// Signs tokens of service accounts, which are good as long as it stays; empty: a new one.
  std::string token_key;
  /// host:port, as discovery names it.
  std::string server_address = "127.0.0.1:6443";
  /// Changes kept per resource; a watch from before them is answered with 410.
  std::size_t watch_history_max = 4096;
  Duration bookmark_interval = std::chrono::seconds(60);
  /// Refuses bodies beyond this.
  std::size_t body_bytes_max = 3 * 1024 * 1024;
  /// How long a read of a version that is not there yet waits for it.
  Duration future_version_wait = std::chrono::seconds(3);
  /// Where objects are kept across restarts; empty: only in memory.
  std::string data_dir;
  /// Failures on purpose, and the seed of their dice.
  Faults faults;
  std::uint64_t fault_seed = 1;
};

/// What every handler of the server works with.
struct Core {
  Clock& clock;
  Rng& rng;
  Executor executor;
  ServerOptions options;
  Registry registry;
  Store store;
};

}  // namespace regatta::apiserver
