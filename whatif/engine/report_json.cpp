#include "whatif/report.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace regatta::whatif {
namespace {

constexpr std::array<const char*, 6> ends{"",          "succeeded", "failed",
                                          "preempted", "evicted",   "deleted"};
constexpr std::array<const char*, 5> outcomes{"pending", "admitted", "finished", "failed",
                                              "deleted"};

/// Rounds to six significant digits, which is more than a simulation can tell.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

Json to_json(const Spread& spread) {
  return {{"count", spread.count},
          {"mean", rounded(spread.mean)},
          {"p50", rounded(spread.p50)},
          {"p95", rounded(spread.p95)},
          {"max", rounded(spread.max)}};
}

Json to_json(const Series& series) {
  Json out = Json::array();
  for (const double value : series) out.push_back(rounded(value));
  return out;
}

template <class T>
void add(Json* out, const char* name, const T& value) {
  if (!value.empty()) (*out)[name] = value;
}

void add(Json* out, const char* name, const std::optional<TimePoint>& at) {
  if (at) (*out)[name] = format_rfc3339(*at);
}

Json to_json(const Run& run) {
  Json out = {{"clusterQueue", run.cluster_queue},
              {"flavors", run.flavors},
              {"pods", run.pods},
              {"reservedAt", format_rfc3339(run.reserved_at)}};
  add(&out, "cluster", run.cluster);
  add(&out, "admittedAt", run.admitted_at);
  add(&out, "startedAt", run.started_at);
  add(&out, "endedAt", run.ended_at);
  if (run.end != RunEnd::none) out["end"] = ends[static_cast<std::size_t>(run.end)];
  add(&out, "reason", run.reason);
  add(&out, "message", run.message);
  if (run.lost_seconds > 0) out["lostSeconds"] = rounded(run.lost_seconds);
  return out;
}

Json to_json(const WorkloadRecord& workload) {
  Json out = {{"namespace", workload.ns},
              {"name", workload.name},
              {"queue", workload.local_queue},
              {"clusterQueue", workload.cluster_queue},
              {"priority", workload.priority},
              {"requests", workload.requests},
              {"createdAt", format_rfc3339(workload.created_at)},
              {"outcome", outcomes[static_cast<std::size_t>(workload.outcome)]}};
  add(&out, "cluster", workload.cluster);
  add(&out, "job", workload.job);
  add(&out, "admittedAt", workload.admitted_at);
  add(&out, "finishedAt", workload.finished_at);
  add(&out, "reason", workload.reason);
  add(&out, "message", workload.message);
  add(&out, "nominatedClusters", workload.nominated);
  if (workload.preemptions > 0) out["preemptions"] = workload.preemptions;
  if (workload.copies > 0) out["copies"] = workload.copies;
  out["runs"] = Json::array();
  for (const Run& run : workload.runs) out["runs"].push_back(to_json(run));
  return out;
}

Json to_json(const PreemptionRecord& one) {
  Json out = {{"at", format_rfc3339(one.at)},
              {"workload", one.workload},
              {"clusterQueue", one.cluster_queue},
              {"reason", one.reason},
              {"message", one.message},
              {"by", one.by},
              {"byClusterQueue", one.by_queue},
              {"graceSeconds", rounded(one.grace_seconds)}};
  add(&out, "cluster", one.cluster);
  return out;
}

Json to_json(const QueueReport& queue, const ReportFormat& format) {
  Json out = {{"name", queue.name},
              {"weight", queue.weight},
              {"submitted", queue.submitted},
              {"admitted", queue.admitted},
              {"finished", queue.finished},
              {"pending", queue.pending},
              {"preempted", queue.preempted},
              {"waitingSeconds", to_json(queue.waiting)},
              {"weightedShareMean", rounded(queue.weighted_share_mean)},
              {"usage", Json::array()}};
  add(&out, "cluster", queue.cluster);
  add(&out, "cohort", queue.cohort);
  add(&out, "inactive", queue.inactive);
  for (const UsageReport& usage : queue.usage) {
    Json line = {{"flavor", usage.flavor},      {"resource", usage.resource},
                 {"nominal", usage.nominal},    {"mean", rounded(usage.mean)},
                 {"peak", rounded(usage.peak)}, {"borrowedMean", rounded(usage.borrowed_mean)}};
    if (format.series) line["used"] = to_json(usage.used);
    out["usage"].push_back(std::move(line));
  }
  if (format.series) {
    out["waiting"] = to_json(queue.waiting_length);
    out["running"] = to_json(queue.running);
    out["weightedShare"] = to_json(queue.weighted_share);
  }
  return out;
}

Json to_json(const CapacityReport& one, const ReportFormat& format) {
  Json out = {{"flavor", one.flavor},
              {"resource", one.resource},
              {"capacity", one.capacity},
              {"utilisation", rounded(one.utilisation)}};
  add(&out, "cluster", one.cluster);
  if (format.series) {
    out["used"] = to_json(one.used);
    out["total"] = to_json(one.total);
  }
  return out;
}

Json to_json(const Totals& totals) {
  return {{"submitted", totals.submitted},
          {"admitted", totals.admitted},
          {"finished", totals.finished},
          {"failed", totals.failed},
          {"pending", totals.pending},
          {"preemptions", totals.preemptions},
          {"preemptionsByReason", totals.preemptions_by_reason},
          {"copies", totals.copies},
          {"waitingSeconds", to_json(totals.waiting)},
          {"waitingSecondsOfAll", to_json(totals.waiting_all)},
          {"finishedPerHour", rounded(totals.finished_per_hour)},
          {"utilisation", rounded(totals.utilisation)},
          {"scarcest", totals.scarcest},
          {"lostHours", rounded(totals.lost_hours)},
          {"jainOfQueues", rounded(totals.jain_queues)},
          {"jainOfLocalQueues", rounded(totals.jain_local_queues)}};
}

}  // namespace

Json to_json(const Report& report, const ReportFormat& format) {
  Json out = {{"name", report.name},
              {"start", format_rfc3339(report.start)},
              {"seconds", double(report.length.count()) / 1000},
              {"stepSeconds", double(report.step.count()) / 1000},
              {"samples", report.samples},
              {"interrupted", report.interrupted},
              {"clusters", report.clusters},
              {"totals", to_json(report.totals)},
              {"warnings", report.warnings}};
  for (const char* list : {"queues", "capacity", "preemptions"}) out[list] = Json::array();
  for (const QueueReport& queue : report.queues) out["queues"].push_back(to_json(queue, format));
  for (const CapacityReport& one : report.capacity) {
    out["capacity"].push_back(to_json(one, format));
  }
  for (const PreemptionRecord& one : report.preemptions) {
    out["preemptions"].push_back(to_json(one));
  }
  if (format.series) {
    out["overTime"] = {{"waitingSeconds", to_json(report.over_time.waiting_seconds)},
                       {"created", to_json(report.over_time.created)},
                       {"waiting", to_json(report.over_time.waiting)},
                       {"running", to_json(report.over_time.running)},
                       {"utilisation", to_json(report.over_time.utilisation)}};
  }
  if (!format.workloads) return out;
  out["workloads"] = Json::array();
  for (const WorkloadRecord& one : report.workloads) out["workloads"].push_back(to_json(one));
  return out;
}

}  // namespace regatta::whatif
