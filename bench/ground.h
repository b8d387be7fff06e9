#pragma once

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/rng.h"
#include "lib/base/task.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace regatta::bench {

/// What every part of a measurement needs.
struct Ground {
  Executor executor;
  Clock& clock;
  Rng& rng;
  std::string binary;  ///< regatta, the measured program
  std::string lab;     ///< regatta-lab, which serves the API
  std::filesystem::path folder;
  int server_latency_ms = 0;  ///< how much later the API servers answer
  std::string assets;         ///< folder of etcd and kube-apiserver; empty: the embedded API server
  std::string kueue;          ///< Kueue's manager, which is measured instead; empty: Regatta's

  /// How long a cluster, or a manager, may take to start.
  Duration start_max() const;
  /// Tells on stderr how far a slow start has got.
  void progress(const std::string& what) const;
};

/// A TCP port of loopback that is free now.
Result<std::uint16_t> free_port(const Executor& executor);

}  // namespace regatta::bench
