#include "whatif/render/tables.h"

#include "whatif/table.h"
#include "whatif/timeline/duration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ostream>

namespace regatta::whatif {
namespace {

std::string rounded(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string since(const Report& report, TimePoint at) {
  return format_duration(at - report.start);
}

std::string waiting_text(const Spread& spread) {
  if (spread.count == 0) return "no workloads";
  return "mean " + seconds_text(spread.mean) + ", median " + seconds_text(spread.p50) +
         ", 95th percentile " + seconds_text(spread.p95) + ", longest " + seconds_text(spread.max);
}

/// " (3 InClusterQueue, 1 InCohortReclamation)"
std::string reasons_text(const Totals& totals) {
  std::string out;
  for (const auto& [reason, count] : totals.preemptions_by_reason) {
    out += (out.empty() ? " (" : ", ") + std::to_string(count) + " " + reason;
  }
  return out.empty() ? out : out + ")";
}

void print_totals(const Report& report, std::ostream& out) {
  const Totals& totals = report.totals;
  out << (report.name.empty() ? "Simulation" : report.name) << ": "
      << format_duration(report.length) << " from " << format_rfc3339(report.start)
      << (report.interrupted ? ", interrupted before its end" : "") << "\n\n";
  out << "  Workloads     " << totals.submitted << " submitted, " << totals.admitted
      << " admitted, " << totals.finished << " finished, " << totals.failed << " failed, "
      << totals.pending << " waiting at the end\n";
  out << "  Waiting       " << waiting_text(totals.waiting) << '\n';
  if (totals.pending > 0) {
    out << "                with those that wait at the end: " << waiting_text(totals.waiting_all)
        << '\n';
  }
  out << "  Throughput    " << number_text(totals.finished_per_hour) << " jobs an hour\n";
  if (!totals.scarcest.empty()) {
    out << "  Utilisation   " << percent_text(totals.utilisation) << " of " << totals.scarcest
        << '\n';
  }
  out << "  Fairness      " << index_text(totals.jain_queues) << " between ClusterQueues, "
      << index_text(totals.jain_local_queues) << " between LocalQueues (1: all alike)\n";
  out << "  Preemptions   " << totals.preemptions << reasons_text(totals) << ", "
      << number_text(totals.lost_hours) << " h of work done again\n";
  if (totals.copies > 0) {
    out << "  Copies        " << totals.copies << " of workloads, on workers\n";
  }
}

void print_queues(const Report& report, std::ostream& out) {
  const bool clusters = report.clusters.size() > 1;
  Table table({"clusterqueue", "cohort", ">submitted", ">admitted", ">finished", ">waiting",
               ">preempted", ">mean wait", ">median", ">95 %", ">longest", ">weight", ">share"});
  for (const QueueReport& queue : report.queues) {
    const std::string name =
        clusters && !queue.cluster.empty() ? queue.cluster + ":" + queue.name : queue.name;
    const auto time = [&](double seconds) {
      return queue.waiting.count == 0 ? "" : seconds_text(seconds);
    };
    table.add({name, queue.cohort, std::to_string(queue.submitted), std::to_string(queue.admitted),
               std::to_string(queue.finished), std::to_string(queue.pending),
               std::to_string(queue.preempted), time(queue.waiting.mean), time(queue.waiting.p50),
               time(queue.waiting.p95), time(queue.waiting.max), number_text(queue.weight),
               percent_text(queue.weighted_share_mean)});
  }
  if (table.empty()) return;
  out << "\nQueues (share: of what the cluster has of the resource it used most, over its weight, "
         "on "
         "average)\n";
  table.print(out, 2);
  for (const QueueReport& queue : report.queues) {
    if (queue.inactive.empty()) continue;
    out << "  " << (queue.cluster.empty() ? "" : queue.cluster + ":") << queue.name
        << " admits nothing: " << queue.inactive << '\n';
  }
}

void print_usage(const Report& report, std::ostream& out) {
  Table table(
      {"clusterqueue", "flavor", "resource", ">nominal", ">mean use", ">peak", ">borrowed"});
  for (const QueueReport& queue : report.queues) {
    for (const UsageReport& usage : queue.usage) {
      const auto text = [&](double amount) { return resource_text(usage.resource, amount); };
      table.add({queue.cluster.empty() ? queue.name : queue.cluster + ":" + queue.name,
                 usage.flavor, usage.resource, text(usage.nominal), text(usage.mean),
                 text(usage.peak), text(usage.borrowed_mean)});
    }
  }
  if (!table.empty()) {
    out << "\nUse of quota, over the whole time\n";
    table.print(out, 2);
  }
  Table capacity({"cluster", "flavor", "resource", ">capacity", ">utilisation"});
  for (const CapacityReport& one : report.capacity) {
    capacity.add({one.cluster, one.flavor, one.resource, resource_text(one.resource, one.capacity),
                  percent_text(one.utilisation)});
  }
  if (capacity.empty()) return;
  out << "\nUtilisation of all quota together\n";
  capacity.print(out, 2);
}

void print_over_time(const Report& report, std::ostream& out) {
  Table table({">from", ">created", ">mean wait", ">waiting", ">running", ">utilisation"});
  for (const Stretch& one : stretches(report)) {
    table.add({format_duration(one.from), number_text(one.created),
               one.created > 0 ? seconds_text(one.waiting_seconds) : "", number_text(one.waiting),
               number_text(one.running), percent_text(one.utilisation)});
  }
  if (table.empty()) return;
  out << "\nOver time (mean wait: of those created then; those that wait at the end, so far)\n";
  table.print(out, 2);
}

void left_out(std::size_t count, std::ostream& out) {
  if (count > 0) out << "  … and " << count << " more: -o json has them all\n";
}

std::string where_text(const WorkloadRecord& workload) {
  if (workload.runs.empty()) return "";
  const Run& run = workload.runs.back();
  std::string flavors;
  for (const auto& [what, flavor] : run.flavors) {
    if (flavors.find(flavor) == std::string::npos) flavors += (flavors.empty() ? "" : ",") + flavor;
  }
  return run.cluster.empty() ? flavors : run.cluster + (flavors.empty() ? "" : ":" + flavors);
}

std::string outcome_text(Outcome outcome) {
  static constexpr std::array<const char*, 5> names{"waits", "runs", "finished", "failed",
                                                    "deleted"};
  return names[static_cast<std::size_t>(outcome)];
}

void print_workloads(const Report& report, const TableOptions& options, std::ostream& out) {
  Table table({"workload", "clusterqueue", ">priority", ">created", ">admitted", ">ended", "where",
               "outcome", "why it waited"});
  std::size_t rows = 0;
  for (const WorkloadRecord& workload : report.workloads) {
    if (++rows > options.rows_max) continue;
    const auto time = [&](const std::optional<TimePoint>& at) {
      return at ? since(report, *at) : std::string();
    };
    std::string why = workload.reason;
    if (workload.outcome == Outcome::pending && !workload.message.empty()) {
      why += ": " + workload.message;
    }
    table.add({workload.ns + "/" + workload.name, workload.cluster_queue,
               std::to_string(workload.priority), since(report, workload.created_at),
               time(workload.admitted_at), time(workload.finished_at), where_text(workload),
               outcome_text(workload.outcome), why});
  }
  if (table.empty()) return;
  out << "\nWorkloads, times since the start\n";
  table.print(out, 2);
  left_out(rows - std::min(rows, options.rows_max), out);
}

void print_preemptions(const Report& report, const TableOptions& options, std::ostream& out) {
  Table table({">at", "workload", "clusterqueue", "for", "reason", ">grace"});
  std::size_t rows = 0;
  for (const PreemptionRecord& one : report.preemptions) {
    if (++rows > options.rows_max) continue;
    table.add({since(report, one.at), one.workload, one.cluster_queue,
               one.by + (one.by_queue.empty() ? "" : " of " + one.by_queue), one.reason,
               seconds_text(one.grace_seconds)});
  }
  if (table.empty()) return;
  out << "\nPreemptions\n";
  table.print(out, 2);
  left_out(rows - std::min(rows, options.rows_max), out);
}

}  // namespace

std::string seconds_text(double seconds) {
  if (seconds > 0 && seconds < 10) return rounded(seconds, 1) + "s";
  return format_duration(std::chrono::seconds(std::llround(seconds)));
}

std::string percent_text(double fraction) {
  return rounded(fraction * 100, 1) + " %";
}

std::string number_text(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return rounded(value, 0);
  const double size = std::abs(value);
  return rounded(value, size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

std::string index_text(double value) {
  return rounded(value, 3);
}

std::string resource_text(const std::string& resource, double amount) {
  const bool bytes =
      resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
  if (!bytes || std::abs(amount) < 1024) return number_text(amount);
  static constexpr std::array<const char*, 6> units{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::size_t unit = 0;
  amount /= 1024;
  while (std::abs(amount) >= 1024 && unit + 1 < units.size()) {
    amount /= 1024;
    ++unit;
  }
  return number_text(amount) + units[unit];
}

std::vector<Stretch> stretches(const Report& report) {
  constexpr std::size_t rows_max = 12;
  const OverTime& all = report.over_time;
  const std::size_t samples = all.utilisation.size();
  const std::size_t each = (samples + rows_max - 1) / rows_max;
  std::vector<Stretch> out;
  for (std::size_t first = 0; first < samples; first += each) {
    Stretch one;
    one.from = static_cast<Duration::rep>(first) * report.step;
    const std::size_t end = std::min(samples, first + each);
    const double part = 1 / double(end - first);
    for (std::size_t i = first; i < end; ++i) {
      one.created += all.created[i];
      one.waiting_seconds += all.waiting_seconds[i] * all.created[i];
      one.waiting += all.waiting[i] * part;
      one.running += all.running[i] * part;
      one.utilisation += all.utilisation[i] * part;
    }
    if (one.created > 0) one.waiting_seconds /= one.created;
    out.push_back(one);
  }
  return out;
}

void print(const Report& report, std::ostream& out, const TableOptions& options) {
  print_totals(report, out);
  print_queues(report, out);
  print_usage(report, out);
  print_over_time(report, out);
  print_workloads(report, options, out);
  print_preemptions(report, options, out);
  if (!report.warnings.empty()) out << "\nWarnings\n";
  for (const std::string& warning : report.warnings) out << "  " << warning << '\n';
}

}  // namespace regatta::whatif
