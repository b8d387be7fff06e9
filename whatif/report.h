#pragma once

/// The result of a simulation: plain records and time series, without computation.
///
/// Every series has `Report::samples` values, one for each interval of `Report::step` from
/// `Report::start`: averages over [start + i·step, start + (i+1)·step), weighted exactly by time.
/// Amounts have the units of quantities: cpu in cores, memory in bytes, GPUs in GPUs. A cluster has
/// its name from the command line; the only cluster, or the hub, is "".

#include "lib/base/clock.h"
#include "lib/base/json.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regatta::whatif {

using Series = std::vector<double>;

/// Statistics of a number of durations, in seconds. All zero when there are none.
struct Spread {
  std::size_t count = 0;
  double mean = 0;
  double p50 = 0;
  double p95 = 0;
  double max = 0;
};

/// How one reservation of quota ended.
enum class RunEnd : std::uint8_t {
  none,       ///< it still holds its quota
  succeeded,  ///< the job finished
  failed,
  preempted,
  evicted,  ///< for any other reason
  deleted,
};

/// One reservation of quota by a workload.
struct Run {
  std::string cluster;  ///< where the pods ran: a worker's name, or the workload's own cluster
  std::string cluster_queue;
  /// "podset/resource" -> flavor.
  std::map<std::string, std::string> flavors;
  std::int32_t pods = 0;
  TimePoint reserved_at{};
  std::optional<TimePoint> admitted_at;
  std::optional<TimePoint> started_at;  ///< when its pods began to run
  std::optional<TimePoint> ended_at;    ///< when the quota was free again
  RunEnd end = RunEnd::none;
  std::string reason;  ///< of the Evicted or Preempted condition
  std::string message;
  double lost_seconds = 0;  ///< of work that has to be done again
};

enum class Outcome : std::uint8_t { pending, admitted, finished, failed, deleted };

struct WorkloadRecord {
  std::string cluster;
  std::string ns;
  std::string name;
  std::string job;  ///< of its Job; may be empty
  std::string local_queue;
  std::string cluster_queue;  ///< empty when there is no such LocalQueue
  std::int32_t priority = 0;
  std::map<std::string, double> requests;  ///< of all pods
  TimePoint created_at{};
  std::optional<TimePoint> admitted_at;  ///< the first time
  std::optional<TimePoint> finished_at;
  Outcome outcome = Outcome::pending;
  /// The last reason why it waited; kept after a later admission.
  std::string reason;
  std::string message;
  std::vector<std::string> nominated;  ///< names of clusters; only with workers
  std::vector<Run> runs;
  int preemptions = 0;
  int copies = 0;  ///< that were sent to workers
};

struct PreemptionRecord {
  TimePoint at{};
  std::string cluster;
  std::string workload;  ///< "ns/name"
  std::string cluster_queue;
  std::string reason;  ///< of the Preempted condition
  std::string message;
  std::string by;  ///< "ns/name" of the preemptor
  std::string by_queue;
  double grace_seconds = 0;  ///< time until the quota was free
};

/// The use of one resource of one flavor.
struct UsageReport {
  std::string flavor;
  std::string resource;
  double nominal = 0;  ///< at the end
  double mean = 0;     ///< over the whole time
  double peak = 0;
  double borrowed_mean = 0;  ///< beyond nominal quota; of a queue only
  Series used;
};

struct QueueReport {
  std::string cluster;
  std::string name;
  std::string cohort;
  std::string inactive;  ///< why it is inactive at the end; empty: it is active
  double weight = 1;
  std::size_t submitted = 0;
  std::size_t admitted = 0;  ///< admitted at least once
  std::size_t finished = 0;
  std::size_t pending = 0;  ///< at the end
  std::size_t preempted = 0;
  Spread waiting;  ///< until the first admission, of the admitted
  std::vector<UsageReport> usage;
  Series waiting_length;
  Series running;
  /// Its largest share of what the cluster has of any resource, divided by its weight.
  double weighted_share_mean = 0;
  Series weighted_share;
};

/// One resource of one flavor in a cluster, over all queues.
struct CapacityReport {
  std::string cluster;
  std::string flavor;
  std::string resource;
  double capacity = 0;     ///< the sum of all quotas, at the end
  double utilisation = 0;  ///< mean use over capacity, 0 to 1, over the whole time
  Series used;
  Series total;
};

/// Totals over time, on the hub or the only cluster.
struct OverTime {
  /// Mean time until the first admission, of the workloads created in the interval; one that still
  /// waits at the end counts with its time so far. 0 when none was created.
  Series waiting_seconds;
  Series created;      ///< the number of these workloads
  Series waiting;      ///< workloads without quota
  Series running;      ///< workloads with quota
  Series utilisation;  ///< of the scarcest resource
};

/// Totals over all clusters; with workers, workloads are counted on the hub.
struct Totals {
  std::size_t submitted = 0;
  std::size_t admitted = 0;
  std::size_t finished = 0;
  std::size_t failed = 0;
  std::size_t pending = 0;
  std::size_t preemptions = 0;
  std::map<std::string, std::size_t> preemptions_by_reason;
  std::size_t copies = 0;  ///< of workloads, that a hub sent to its workers
  Spread waiting;          ///< until the first admission, of the admitted
  /// Of all workloads: one that waits at the end counts with its time so far.
  Spread waiting_all;
  double finished_per_hour = 0;
  double utilisation = 0;  ///< of the scarcest resource: the largest of CapacityReport
  std::string scarcest;    ///< its "flavor/resource"
  double lost_hours = 0;   ///< of work that had to be done again
  /// Jain's index of the mean weighted shares of the queues that had something to run: 1 when all
  /// were equal, 1/n when one had everything.
  double jain_queues = 1;
  /// The same for LocalQueues, by use of the scarcest resource.
  double jain_local_queues = 1;
};

struct Report {
  std::string name;
  TimePoint start{};
  Duration length{0};  ///< simulated time; shorter than `until` when interrupted
  Duration step{0};
  std::size_t samples = 0;
  bool interrupted = false;
  std::vector<std::string> clusters;      ///< the first one is the hub, or the only cluster
  std::vector<WorkloadRecord> workloads;  ///< in order of creation
  std::vector<PreemptionRecord> preemptions;
  std::vector<QueueReport> queues;       ///< by cluster and name
  std::vector<CapacityReport> capacity;  ///< by cluster, flavor and resource
  std::vector<std::string> warnings;
  OverTime over_time;
  Totals totals;
};

/// Offsets and durations are seconds, times are RFC 3339. `series` and `workloads`, the largest
/// parts, may be left out.
struct ReportFormat {
  bool workloads = true;
  bool series = true;
};
Json to_json(const Report& report, const ReportFormat& format = {});

}  // namespace regatta::whatif
