#pragma once

/// What a simulation led to: plain records and time series, nothing that computes.
///
/// Every series has `Report::samples` values, one for each interval of `Report::step` from
/// `Report::start`: averages over [start + i·step, start + (i+1)·step), exactly weighted by time.
/// Amounts are in the units of quantities: cpu in cores, memory in bytes, GPUs in GPUs.
/// A cluster is named as on the command line; the only cluster, or the hub, is "".

#include "lib/base/clock.h"
#include "lib/base/json.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regatta::whatif {

using Series = std::vector<double>;

/// Of a number of durations, in seconds. All zero when there are none.
struct Spread {
  std::size_t count = 0;
  double mean = 0;
  double p50 = 0;
  double p95 = 0;
  double max = 0;
};

/// How one reservation of quota ended.
enum class RunEnd : std::uint8_t {
  none,       ///< it holds its quota still
  succeeded,  ///< its job is done
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
  std::optional<TimePoint> started_at;  ///< its pods ran
  std::optional<TimePoint> ended_at;    ///< the quota was free again
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
  std::string job;  ///< of the Job it was made for; may be empty
  std::string local_queue;
  std::string cluster_queue;  ///< empty when its LocalQueue leads nowhere
  std::int32_t priority = 0;
  std::map<std::string, double> requests;  ///< of all pods
  TimePoint created_at{};
  std::optional<TimePoint> admitted_at;  ///< the first time
  std::optional<TimePoint> finished_at;
  Outcome outcome = Outcome::pending;
  /// The last thing that was said about why it waits; kept when it was admitted later.
  std::string reason;
  std::string message;
  std::vector<std::string> nominated;  ///< clusters; with workers only
  std::vector<Run> runs;
  int preemptions = 0;
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
  double grace_seconds = 0;  ///< until the quota was free
};

/// Use of one resource of one flavor.
struct UsageReport {
  std::string flavor;
  std::string resource;
  double nominal = 0;  ///< at the end
  double mean = 0;     ///< over the whole time
  double peak = 0;
  double borrowed_mean = 0;  ///< beyond nominal; of a queue only
  Series used;
};

struct QueueReport {
  std::string cluster;
  std::string name;
  std::string cohort;
  std::string inactive;  ///< why it admits nobody at the end; empty: it does
  double weight = 1;
  std::size_t submitted = 0;
  std::size_t admitted = 0;  ///< at least once
  std::size_t finished = 0;
  std::size_t pending = 0;  ///< at the end
  std::size_t preempted = 0;
  Spread waiting;  ///< of those admitted, until the first time
  std::vector<UsageReport> usage;
  Series waiting_length;
  Series running;
  /// The largest part it used of what the cluster has of any resource, over its weight.
  double weighted_share_mean = 0;
  Series weighted_share;
};

/// Of a cluster, over all queues.
struct CapacityReport {
  std::string cluster;
  std::string flavor;
  std::string resource;
  double capacity = 0;     ///< what all quotas add up to, at the end
  double utilisation = 0;  ///< mean use over capacity, 0 to 1, over the whole time
  Series used;
  Series total;
};

/// All of it over time, on the hub, or the only cluster.
struct OverTime {
  /// Mean of those created in the interval until their first admission; who still waits at the end
  /// counts with the time so far. 0 when nobody was created.
  Series waiting_seconds;
  Series created;      ///< how many those are
  Series waiting;      ///< workloads without quota
  Series running;      ///< workloads with quota
  Series utilisation;  ///< of the scarcest resource
};

/// Everything, over all clusters; with workers counted on the hub.
struct Totals {
  std::size_t submitted = 0;
  std::size_t admitted = 0;
  std::size_t finished = 0;
  std::size_t failed = 0;
  std::size_t pending = 0;
  std::size_t preemptions = 0;
  std::map<std::string, std::size_t> preemptions_by_reason;
  Spread waiting;  ///< of those admitted, until the first time
  /// Of all: who waits at the end counts with the time so far.
  Spread waiting_all;
  double finished_per_hour = 0;
  double utilisation = 0;  ///< of the scarcest resource: the largest of CapacityReport
  std::string scarcest;    ///< its "flavor/resource"
  double lost_hours = 0;   ///< of work that had to be done again
  /// Jain's index of the mean weighted shares of the queues that had something to run: 1 when all
  /// had the same, 1/n when one had everything.
  double jain_queues = 1;
  /// The same for LocalQueues, by use of the scarcest resource.
  double jain_local_queues = 1;
};

struct Report {
  std::string name;
  TimePoint start{};
  Duration length{0};  ///< simulated; less than asked for when interrupted
  Duration step{0};
  std::size_t samples = 0;
  bool interrupted = false;
  std::vector<std::string> clusters;      ///< the first is the hub, or the only one
  std::vector<WorkloadRecord> workloads;  ///< in order of creation
  std::vector<PreemptionRecord> preemptions;
  std::vector<QueueReport> queues;       ///< by cluster and name
  std::vector<CapacityReport> capacity;  ///< by cluster, flavor and resource
  std::vector<std::string> warnings;
  OverTime over_time;
  Totals totals;
};

/// Offsets and durations in seconds, times in RFC 3339. `series` and `workloads` may be left out:
/// they are most of it.
struct ReportFormat {
  bool workloads = true;
  bool series = true;
};
Json to_json(const Report& report, const ReportFormat& format = {});

}  // namespace regatta::whatif
