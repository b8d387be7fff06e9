#include "bench/report/comparison.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

namespace regatta::bench {
namespace {

struct Compared {
  const char* name;   ///< in the report of a race
  const char* title;  ///< for people
  bool more_is_better = false;
};

constexpr std::array compared = {
    Compared{"workloads_per_second", "workloads per second", true},
    Compared{"time_to_admission_p50_seconds", "time to admission, median, s"},
    Compared{"managers_cpu_ms_per_workload", "CPU of all managers, ms per workload"},
    Compared{"hub_server_cpu_ms_per_workload", "CPU of the hub's API server, ms per workload"},
    Compared{"worker_servers_cpu_ms_per_workload", "CPU of workers' API servers, ms per workload"},
    Compared{"etcd_cpu_ms_per_workload", "CPU of all etcd, ms per workload"},
    Compared{"hub_writes_per_workload", "hub writes per workload"},
    Compared{"worker_writes_per_workload", "worker writes per workload"},
    Compared{"events_per_workload", "events per workload"},
    Compared{"worker_gets_per_workload", "GETs on workers per workload"},
    Compared{"conflicts_per_workload", "conflicts (409) per workload"},
    Compared{"hub_manager_peak_rss_mb", "peak memory of the hub's manager, MB"},
    Compared{"worker_manager_peak_rss_mb", "the same of a worker's manager, MB"},
};

double number(const Json& report, const char* name) {
  const auto found = report.find(name);
  return found != report.end() && found->is_number() ? found->get<double>() : 0;
}

double middle(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const std::size_t half = numbers.size() / 2;
  if (numbers.size() % 2 == 1) return numbers[half];
  return (numbers[half - 1] + numbers[half]) / 2;
}

}  // namespace

Json middle_of(const std::vector<Json>& runs) {
  const Json& first = runs.front();
  Json all = first;
  if (first.is_number()) {
    std::vector<double> numbers;
    for (const Json& run : runs) numbers.push_back(run.get<double>());
    const double value = middle(std::move(numbers));
    if (!first.is_number_integer() || value != static_cast<double>(static_cast<long long>(value))) {
      return value;
    }
    return static_cast<long long>(value);
  }
  if (!first.is_object()) return all;
  for (const auto& [name, unused] : first.items()) {
    std::vector<Json> values;
    for (const Json& run : runs) {
      if (run.contains(name)) values.push_back(run.at(name));
    }
    all[name] = middle_of(values);
  }
  return all;
}

Json ratios(const Json& regatta, const Json& kueue) {
  Json all = Json::object();
  for (const Compared& one : compared) {
    const double ours = number(regatta, one.name), theirs = number(kueue, one.name);
    const bool comparable = ours > 0 && theirs > 0;
    Json& ratio = all[one.name];
    if (comparable) ratio = one.more_is_better ? ours / theirs : theirs / ours;
  }
  return all;
}

std::string comparison_table(const Json& regatta, const Json& kueue) {
  const Json times = ratios(regatta, kueue);
  std::array<char, 128> line{};
  const auto row = [&line](const char* title, const char* ours, const char* theirs,
                           const char* ratio) {
    std::snprintf(line.data(), line.size(), "%-46s %10s %10s %10s\n", title, ours, theirs, ratio);
    return std::string(line.data());
  };
  const auto text = [](const Json& value) {
    if (!value.is_number()) return std::string("-");
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.2f", value.get<double>());
    return std::string(digits.data());
  };
  std::string table = row("", "Regatta", "Kueue", "ratio");
  for (const Compared& one : compared) {
    const std::string ours = text(number(regatta, one.name));
    const std::string theirs = text(number(kueue, one.name));
    table += row(one.title, ours.c_str(), theirs.c_str(), text(times.at(one.name)).c_str());
  }
  return table;
}

}  // namespace regatta::bench
