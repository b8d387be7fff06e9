#pragma once

/// The answers of the API group visibility.kueue.x-k8s.io: pages of waiting workloads, discovery,
/// and refusals as Kubernetes words them. Who may ask is settled before (server/).

#include "admission/status_reader.h"
#include "lib/api/meta.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace regatta::visibility {

constexpr std::string_view group = "visibility.kueue.x-k8s.io";
constexpr std::int64_t limit_default = 1000;
constexpr std::int64_t limit_max = 100'000;

struct Query {
  std::string method = "GET";
  std::string target;  ///< path and query as on the wire
  std::string accept;  ///< the header, or empty
};

struct Answer {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
};

/// The metadata and priority of a workload that waits.
struct WorkloadSeen {
  std::shared_ptr<const api::ObjectMeta> metadata;
  std::int32_t priority = 0;
};

/// What a page is made of. `find` returns nothing for a workload that is just being deleted.
struct Source {
  const admission::StatusReader& queues;
  std::function<std::optional<WorkloadSeen>(const api::ObjectKey&)> find;
};

Answer answer(const Query& query, const Source& source);

}  // namespace regatta::visibility
