#include "whatif/engine/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace regatta::whatif {
namespace {

double seconds_between(TimePoint from, TimePoint to) {
  return double(std::max(Duration(0), to - from).count()) / 1000;
}

using QueueKey = std::pair<std::string, std::string>;

void count_queues(Report* report) {
  std::map<QueueKey, QueueReport*> queues;
  for (QueueReport& queue : report->queues) queues[{queue.cluster, queue.name}] = &queue;
  std::map<QueueKey, std::vector<double>> waits;
  for (const WorkloadRecord& workload : report->workloads) {
    const QueueKey key{workload.cluster, workload.cluster_queue};
    const auto found = queues.find(key);
    if (found == queues.end()) continue;
    QueueReport& queue = *found->second;
    ++queue.submitted;
    if (workload.admitted_at) {
      ++queue.admitted;
      waits[key].push_back(seconds_between(workload.created_at, *workload.admitted_at));
    }
    if (workload.outcome == Outcome::finished) ++queue.finished;
  }
  for (const PreemptionRecord& preemption : report->preemptions) {
    const auto found = queues.find({preemption.cluster, preemption.cluster_queue});
    if (found != queues.end()) ++found->second->preempted;
  }
  for (auto& [key, values] : waits) queues.at(key)->waiting = spread_of(std::move(values));
}

void count_workloads(Report* report) {
  Totals& totals = report->totals;
  const TimePoint end = report->start + report->length;
  std::vector<double> waits, all;
  for (const WorkloadRecord& workload : report->workloads) {
    ++totals.submitted;
    const TimePoint until = workload.admitted_at.value_or(end);
    if (workload.admitted_at) {
      ++totals.admitted;
      waits.push_back(seconds_between(workload.created_at, until));
    }
    const bool withdrawn = workload.outcome == Outcome::deleted && !workload.admitted_at;
    if (!withdrawn) all.push_back(seconds_between(workload.created_at, until));
    totals.finished += workload.outcome == Outcome::finished;
    totals.failed += workload.outcome == Outcome::failed;
    totals.pending += workload.outcome == Outcome::pending;
    totals.copies += workload.copies;
    for (const Run& run : workload.runs) totals.lost_hours += run.lost_seconds / 3600;
  }
  totals.waiting = spread_of(std::move(waits));
  totals.waiting_all = spread_of(std::move(all));
  totals.preemptions = report->preemptions.size();
  for (const PreemptionRecord& one : report->preemptions) {
    ++totals.preemptions_by_reason[one.reason];
  }
  const double hours = double(report->length.count()) / 3.6e6;
  if (hours > 0) totals.finished_per_hour = double(totals.finished) / hours;
}

/// Use of one resource of one flavor by each LocalQueue, in units times seconds.
std::vector<double> use_of_local_queues(const Report& report, const CapacityReport& what) {
  const TimePoint end = report.start + report.length;
  std::map<std::pair<std::string, std::string>, double> use;
  for (const WorkloadRecord& workload : report.workloads) {
    double& sum = use[{workload.ns, workload.local_queue}];
    const auto request = workload.requests.find(what.resource);
    if (request == workload.requests.end()) continue;
    for (const Run& run : workload.runs) {
      const bool same = std::any_of(run.flavors.begin(), run.flavors.end(), [&](const auto& one) {
        return one.second == what.flavor && one.first.ends_with("/" + what.resource);
      });
      if (!same) continue;
      sum += request->second *
             seconds_between(std::max(run.reserved_at, report.start), run.ended_at.value_or(end));
    }
  }
  std::vector<double> out;
  for (const auto& [key, sum] : use) out.push_back(sum);
  return out;
}

void add_to(Series* sums, const Series& more) {
  for (std::size_t i = 0; i < std::min(sums->size(), more.size()); ++i) (*sums)[i] += more[i];
}

OverTime over_time(const Report& report, const CapacityReport* scarcest) {
  OverTime out;
  for (Series* series :
       {&out.waiting_seconds, &out.created, &out.waiting, &out.running, &out.utilisation}) {
    series->resize(report.samples);
  }
  const TimePoint end = report.start + report.length;
  for (const WorkloadRecord& one : report.workloads) {
    const bool withdrawn = one.outcome == Outcome::deleted && !one.admitted_at;
    if (one.cluster != report.clusters.front() || withdrawn || one.created_at >= end) continue;
    // Workloads that are older than the simulation count at its beginning.
    const Duration since = std::max(Duration(0), one.created_at - report.start);
    const auto at = static_cast<std::size_t>(since / report.step);
    out.created[at] += 1;
    out.waiting_seconds[at] += seconds_between(one.created_at, one.admitted_at.value_or(end));
  }
  for (std::size_t i = 0; i < report.samples; ++i) {
    if (out.created[i] > 0) out.waiting_seconds[i] /= out.created[i];
  }
  for (const QueueReport& queue : report.queues) {
    if (queue.cluster != report.clusters.front()) continue;
    add_to(&out.waiting, queue.waiting_length);
    add_to(&out.running, queue.running);
  }
  if (!scarcest) return out;
  for (std::size_t i = 0; i < std::min(report.samples, scarcest->used.size()); ++i) {
    if (scarcest->total[i] > 0) out.utilisation[i] = scarcest->used[i] / scarcest->total[i];
  }
  return out;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  Spread out;
  out.count = values.size();
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += value;
  const auto rank = [&](double part) {
    const auto at = static_cast<std::size_t>(std::ceil(part * double(values.size())));
    return values[std::clamp<std::size_t>(at, 1, values.size()) - 1];
  };
  out.mean = sum / double(values.size());
  out.p50 = rank(0.5);
  out.p95 = rank(0.95);
  out.max = values.back();
  return out;
}

double jain_index(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  return squares > 0 ? sum * sum / (double(values.size()) * squares) : 1;
}

void summarize(Report* report) {
  count_queues(report);
  count_workloads(report);
  Totals& totals = report->totals;
  const CapacityReport* scarcest = nullptr;
  for (const CapacityReport& one : report->capacity) {
    if (one.cluster != report->clusters.front()) continue;
    if (!scarcest || one.utilisation > scarcest->utilisation) scarcest = &one;
  }
  if (scarcest) {
    totals.utilisation = scarcest->utilisation;
    totals.scarcest = scarcest->flavor + "/" + scarcest->resource;
    totals.jain_local_queues = jain_index(use_of_local_queues(*report, *scarcest));
  }
  std::vector<double> shares;
  for (const QueueReport& queue : report->queues) {
    if (queue.cluster != report->clusters.front()) continue;
    if (queue.submitted > 0 && queue.weight > 0) shares.push_back(queue.weighted_share_mean);
  }
  totals.jain_queues = jain_index(shares);
  report->over_time = over_time(*report, scarcest);
}

}  // namespace regatta::whatif
