#include "whatif/render/compare.h"

#include "whatif/render/tables.h"
#include "whatif/table.h"
#include "whatif/timeline/duration.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ostream>
#include <set>

namespace regatta::whatif {
namespace {

using Value = std::optional<double>;

Value when_any(const Spread& spread, double value) {
  return spread.count == 0 ? Value() : value;
}

void compare_totals(const Totals& a, const Totals& b, std::vector<Difference>* out) {
  const auto add = [&](const char* what, Unit unit, Wish wish, Value before, Value after) {
    out->push_back({"", what, unit, wish, before, after});
  };
  const auto count = [&](const char* what, Wish wish, std::size_t before, std::size_t after) {
    add(what, Unit::count, wish, static_cast<double>(before), static_cast<double>(after));
  };
  const auto time = [&](const char* what, double Spread::* part) {
    add(what, Unit::seconds, Wish::less, when_any(a.waiting, a.waiting.*part),
        when_any(b.waiting, b.waiting.*part));
  };
  count("submitted", Wish::neither, a.submitted, b.submitted);
  count("admitted", Wish::more, a.admitted, b.admitted);
  count("finished", Wish::more, a.finished, b.finished);
  count("waiting at the end", Wish::less, a.pending, b.pending);
  time("waiting, mean", &Spread::mean);
  time("waiting, median", &Spread::p50);
  time("waiting, 95 %", &Spread::p95);
  time("waiting, longest", &Spread::max);
  const auto all = [&](const char* what, double Spread::* part) {
    add(what, Unit::seconds, Wish::less, when_any(a.waiting_all, a.waiting_all.*part),
        when_any(b.waiting_all, b.waiting_all.*part));
  };
  all("waiting of all, mean", &Spread::mean);
  all("waiting of all, median", &Spread::p50);
  all("waiting of all, 95 %", &Spread::p95);
  add("finished an hour", Unit::number, Wish::more, a.finished_per_hour, b.finished_per_hour);
  add("utilisation", Unit::fraction, Wish::more, a.utilisation, b.utilisation);
  count("preemptions", Wish::less, a.preemptions, b.preemptions);
  std::set<std::string> reasons;
  for (const Totals* one : {&a, &b}) {
    for (const auto& [reason, number] : one->preemptions_by_reason) reasons.insert(reason);
  }
  const auto number_of = [](const Totals& one, const std::string& reason) {
    const auto found = one.preemptions_by_reason.find(reason);
    return found == one.preemptions_by_reason.end() ? 0 : found->second;
  };
  for (const std::string& reason : reasons) {
    count(("preemptions, " + reason).c_str(), Wish::neither, number_of(a, reason),
          number_of(b, reason));
  }
  if (a.copies + b.copies > 0) count("copies on workers", Wish::less, a.copies, b.copies);
  add("work done again, hours", Unit::number, Wish::less, a.lost_hours, b.lost_hours);
  add("fairness of queues", Unit::index, Wish::more, a.jain_queues, b.jain_queues);
  add("fairness of LocalQueues", Unit::index, Wish::more, a.jain_local_queues, b.jain_local_queues);
}

std::string name_of(const QueueReport& queue) {
  return queue.cluster.empty() ? queue.name : queue.cluster + ":" + queue.name;
}

/// The mean use, divided by nominal quota, of the resource that the queue uses most.
Value use_of(const QueueReport& queue) {
  Value most;
  for (const UsageReport& usage : queue.usage) {
    if (usage.nominal <= 0) continue;
    most = std::max(most.value_or(0), usage.mean / usage.nominal);
  }
  return most;
}

void compare_queue(const std::string& name, const QueueReport* a, const QueueReport* b,
                   std::vector<Difference>* out) {
  const auto add = [&](const char* what, Unit unit, Wish wish, auto value) {
    out->push_back({name, what, unit, wish, a == nullptr ? Value() : value(*a),
                    b == nullptr ? Value() : value(*b)});
  };
  const auto count = [&](const char* what, Wish wish, std::size_t QueueReport::* part) {
    add(what, Unit::count, wish,
        [part](const QueueReport& queue) -> Value { return static_cast<double>(queue.*part); });
  };
  const auto time = [&](const char* what, double Spread::* part) {
    add(what, Unit::seconds, Wish::less,
        [part](const QueueReport& queue) { return when_any(queue.waiting, queue.waiting.*part); });
  };
  count("admitted", Wish::more, &QueueReport::admitted);
  count("finished", Wish::more, &QueueReport::finished);
  count("waiting at the end", Wish::less, &QueueReport::pending);
  time("waiting, mean", &Spread::mean);
  time("waiting, 95 %", &Spread::p95);
  count("preempted", Wish::less, &QueueReport::preempted);
  add("use of its quota", Unit::fraction, Wish::neither, use_of);
  add("weighted share, mean", Unit::index, Wish::neither,
      [](const QueueReport& queue) -> Value { return queue.weighted_share_mean; });
}

void compare_queues(const Report& before, const Report& after, std::vector<Difference>* out) {
  std::map<std::string, std::pair<const QueueReport*, const QueueReport*>> queues;
  for (const QueueReport& queue : before.queues) queues[name_of(queue)].first = &queue;
  for (const QueueReport& queue : after.queues) queues[name_of(queue)].second = &queue;
  for (const auto& [name, both] : queues) compare_queue(name, both.first, both.second, out);
}

/// The name of the job, which is the same in both simulations.
std::string name_of(const WorkloadRecord& workload) {
  return workload.ns + "/" + (workload.job.empty() ? workload.name : workload.job);
}

Value waited(const WorkloadRecord& workload) {
  if (!workload.admitted_at) return std::nullopt;
  return static_cast<double>((*workload.admitted_at - workload.created_at).count()) / 1000;
}

/// The difference of two waiting times; one without an end differs most.
double size_of(const WorkloadDifference& one) {
  if (!one.before || !one.after) return 1e18;
  return std::abs(*one.after - *one.before);
}

void compare_workloads(const Report& before, const Report& after, Comparison* out) {
  std::map<std::string, const WorkloadRecord*> known;
  for (const WorkloadRecord& workload : before.workloads) known[name_of(workload)] = &workload;
  std::size_t shared = 0;
  for (const WorkloadRecord& workload : after.workloads) {
    const std::string name = name_of(workload);
    const auto it = known.find(name);
    if (it == known.end()) {
      ++out->only_after;
      continue;
    }
    ++shared;
    const WorkloadDifference one{name, waited(*it->second), waited(workload)};
    if (one.before != one.after && size_of(one) >= 1) out->workloads.push_back(one);
  }
  out->only_before = known.size() - std::min(known.size(), shared);
  std::sort(out->workloads.begin(), out->workloads.end(), [](const auto& a, const auto& b) {
    if (size_of(a) != size_of(b)) return size_of(a) > size_of(b);
    return a.workload < b.workload;
  });
}

std::string text_of(Unit unit, double value) {
  switch (unit) {
    case Unit::seconds:
      return seconds_text(value);
    case Unit::fraction:
      return percent_text(value);
    case Unit::index:
      return index_text(value);
    default:
      return number_text(value);
  }
}

std::string text_of(Unit unit, const Value& value) {
  return value ? text_of(unit, *value) : "-";
}

/// "+12.5 %"; percentage points for values that are percentages already.
std::string change_text(const Difference& one) {
  if (!one.differs()) return "=";
  if (!one.before || !one.after) return "";
  const double change = *one.after - *one.before;
  const std::string sign = change > 0 ? "+" : "";
  if (one.unit == Unit::fraction)
    return sign + number_text(std::round(change * 1000) / 10) + " points";
  if (*one.before == 0) return sign + text_of(one.unit, change);
  return sign + percent_text(change / std::abs(*one.before));
}

/// `queues`: with a first column for the queue.
void print_differences(const std::vector<Difference>& differences, const Comparison& names,
                       bool queues, std::ostream& out) {
  std::vector<std::string> columns{"", ">" + names.before, ">" + names.after, ">change", ""};
  if (queues) columns.insert(columns.begin(), "clusterqueue");
  Table table(std::move(columns));
  std::string last;
  for (const Difference& one : differences) {
    const int verdict = one.verdict();
    std::vector<std::string> cells{one.what, text_of(one.unit, one.before),
                                   text_of(one.unit, one.after), change_text(one),
                                   verdict > 0   ? "better"
                                   : verdict < 0 ? "worse"
                                                 : ""};
    if (queues) cells.insert(cells.begin(), one.of == last ? "" : one.of);
    last = one.of;
    table.add(std::move(cells));
  }
  table.print(out, 2);
}

void print_both_over_time(const Comparison& both, std::ostream& out) {
  Table table({">from", ">created", ">mean wait", ">" + both.after, ">waiting", ">" + both.after,
               ">utilisation", ">" + both.after});
  const std::size_t rows = std::min(both.over_time_before.size(), both.over_time_after.size());
  for (std::size_t i = 0; i < rows; ++i) {
    const Stretch& a = both.over_time_before[i];
    const Stretch& b = both.over_time_after[i];
    const auto wait = [](const Stretch& one) {
      return one.created > 0 ? seconds_text(one.waiting_seconds) : std::string();
    };
    table.add({format_duration(a.from), number_text(b.created), wait(a), wait(b),
               number_text(a.waiting), number_text(b.waiting), percent_text(a.utilisation),
               percent_text(b.utilisation)});
  }
  if (table.empty()) return;
  out << "\nOver time: of " << both.before << ", then of " << both.after << "\n";
  table.print(out, 2);
}

Json json_of(const Value& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const Difference& one) {
  static constexpr std::array<const char*, 3> verdicts{"worse", "", "better"};
  Json out = {{"what", one.what}, {"before", json_of(one.before)}, {"after", json_of(one.after)}};
  if (!one.of.empty()) out["clusterQueue"] = one.of;
  if (one.unit == Unit::seconds) out["unit"] = "seconds";
  if (one.verdict() != 0) out["verdict"] = verdicts[static_cast<std::size_t>(one.verdict() + 1)];
  return out;
}

}  // namespace

bool Difference::differs() const {
  if (before.has_value() != after.has_value()) return true;
  if (!before) return false;
  const double larger = std::max(std::abs(*before), std::abs(*after));
  return std::abs(*after - *before) > larger * 0.01;
}

int Difference::verdict() const {
  if (wish == Wish::neither || !differs() || !before || !after) return 0;
  return (*after > *before) == (wish == Wish::more) ? 1 : -1;
}

Comparison compare(const Report& before, const Report& after) {
  Comparison out;
  out.before = before.name.empty() ? "before" : before.name;
  out.after = after.name.empty() ? "after" : after.name;
  compare_totals(before.totals, after.totals, &out.totals);
  compare_queues(before, after, &out.queues);
  compare_workloads(before, after, &out);
  out.over_time_before = stretches(before);
  out.over_time_after = stretches(after);
  return out;
}

void print(const Comparison& comparison, std::ostream& out, std::size_t rows_max) {
  out << comparison.before << " against " << comparison.after << "\n\n";
  print_differences(comparison.totals, comparison, false, out);
  if (!comparison.queues.empty()) {
    out << "\nBy queue\n";
    print_differences(comparison.queues, comparison, true, out);
  }
  print_both_over_time(comparison, out);
  if (comparison.only_before > 0 || comparison.only_after > 0) {
    out << "\nWorkloads that only one side has: " << comparison.only_before << " in "
        << comparison.before << ", " << comparison.only_after << " in " << comparison.after << "\n";
  }
  if (comparison.workloads.empty()) return;
  out << "\nWorkloads that waited differently: " << comparison.workloads.size() << "\n";
  Table table({"workload", ">" + comparison.before, ">" + comparison.after});
  for (const WorkloadDifference& one : comparison.workloads) {
    if (rows_max-- == 0) break;
    const auto text = [](const Value& value) { return value ? seconds_text(*value) : "never"; };
    table.add({one.workload, text(one.before), text(one.after)});
  }
  table.print(out, 2);
}

Json to_json(const Comparison& comparison) {
  Json out = {{"before", comparison.before}, {"after", comparison.after}};
  out["totals"] = Json::array();
  for (const Difference& one : comparison.totals) out["totals"].push_back(json_of(one));
  out["queues"] = Json::array();
  for (const Difference& one : comparison.queues) out["queues"].push_back(json_of(one));
  out["workloads"] = Json::array();
  for (const WorkloadDifference& one : comparison.workloads) {
    out["workloads"].push_back({{"workload", one.workload},
                                {"waitedBefore", json_of(one.before)},
                                {"waitedAfter", json_of(one.after)}});
  }
  return out;
}

}  // namespace regatta::whatif
