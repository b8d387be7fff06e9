#pragma once

#include "lab/apiserver/faults.h"
#include "lab/apiserver/hooks/outgoing.h"
#include "lab/apiserver/request.h"
#include "lab/apiserver/store.h"
#include "lab/terms.h"
#include "lib/base/clock.h"
#include "lib/base/rng.h"
#include "lib/manifest/registry.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace regatta::apiserver {

class Conversions;

/// How servers of APIServices are reached, and what they know this server by.
struct FrontProxy {
  std::shared_ptr<Outgoing> outgoing;  ///< shows the certificate; null: none can be reached
  std::string name;                    ///< in the certificate
  std::string ca_pem;                  ///< that signed it; empty: there is no aggregation layer
  std::string client_ca_pem;           ///< that signs the certificates of users
};

struct ServerOptions {
  std::string git_version = "v1.36.2";
  /// Users by bearer token. system:authenticated is added to the groups.
  std::map<std::string, UserInfo> tokens;
  /// Signs tokens of service accounts. They are valid as long as the key stays the same; empty: a
  /// new key.
  std::string token_key;
  /// host:port, as discovery names it.
  std::string server_address = "127.0.0.1:6443";
  /// The number of changes kept per resource. A watch from before them is answered with 410.
  std::size_t watch_history_max = 4096;
  Duration bookmark_interval = std::chrono::seconds(60);
  /// Larger bodies are refused.
  std::size_t body_bytes_max = 3 * 1024 * 1024;
  /// How long a read of a future version waits for it.
  Duration future_version_wait = std::chrono::seconds(3);
  /// How long a CustomResourceDefinition has no conditions, and how long after each change of it
  /// the storage of its kind starts, so that creations are answered with 429. Only while run()
  /// runs: at first, definitions count at once.
  Duration definition_delay{0};
  /// Where objects survive restarts; empty: in memory only.
  std::string data_dir;
  /// The way to webhooks; null: none can be reached.
  std::shared_ptr<Outgoing> outgoing;
  FrontProxy front_proxy;
  /// Failures on purpose, and the seed of their random numbers.
  Faults faults;
  std::uint64_t fault_seed = 1;
};

/// The parts that every handler of the server uses.
struct Core {
  Clock& clock;
  Rng& rng;
  Executor executor;
  ServerOptions options;
  Registry registry;
  Store store;
  /// The APIResourceLists of the available APIServices, by group and version.
  std::map<std::pair<std::string, std::string>, Json> remote;
  Conversions* conversions = nullptr;  ///< set before the first request
  /// When creations of a custom resource begin to succeed, by its plural and group.
  std::map<std::string, SteadyPoint> storage_starts;
};

}  // namespace regatta::apiserver
