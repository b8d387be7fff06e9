#include "lab/demo/summary.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iomanip>
#include <set>
#include <sstream>

namespace regatta::lab {
namespace {

/// Whether the client is a manager; false for our other clients.
bool is_manager(const std::string& agent) {
  return agent.starts_with("regatta") && !agent.starts_with("regatta-sandbox") &&
         !agent.starts_with("regatta-demo");
}

constexpr int cluster_width = 10;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The value of one label of a Prometheus line, or empty.
std::string label_of(std::string_view line, const std::string& name) {
  for (const char* before : {"{", ","}) {
    const std::string start = before + name + "=\"";
    const std::size_t at = line.find(start);
    if (at == std::string_view::npos) continue;
    const std::size_t from = at + start.size();
    return std::string(line.substr(from, line.find('"', from) - from));
  }
  return "";
}

std::string counted_as(const std::string& verb, const std::string& resource) {
  if (resource == "leases") return "lease";
  if (resource == "events") return "event";
  return lower(verb);
}

std::string seconds(Duration d) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(2) << static_cast<double>(d.count()) / 1000.0 << "s";
  return out.str();
}

void write_requests(const Summary& summary, std::ostream& out) {
  std::set<std::string> verbs;
  for (const auto& [cluster, requests] : summary.requests) {
    for (const auto& [verb, count] : requests) verbs.insert(verb);
  }
  if (verbs.empty()) return;
  out << "\nAPI requests per job"
      << (summary.requests_of_everybody ? " (of every client)" : " (of the managers)") << ":\n"
      << std::left << std::setw(cluster_width) << "";
  for (const std::string& verb : verbs) out << std::right << std::setw(8) << verb;
  out << '\n';
  for (const auto& [cluster, requests] : summary.requests) {
    out << std::left << std::setw(cluster_width) << cluster;
    for (const std::string& verb : verbs) {
      const auto found = requests.find(verb);
      const double count = found == requests.end() ? 0 : static_cast<double>(found->second);
      out << std::right << std::setw(8) << std::fixed << std::setprecision(2)
          << count / std::max(1, summary.jobs);
    }
    out << '\n';
  }
}

}  // namespace

Requests manager_requests(const Json& report) {
  Requests requests;
  if (!report.is_object() || !report.contains("requests")) return requests;
  for (const Json& entry : report.at("requests")) {
    if (!is_manager(entry.value("userAgent", ""))) continue;
    requests[counted_as(entry.value("verb", ""), entry.value("resource", ""))] +=
        entry.value("count", std::uint64_t(0));
  }
  return requests;
}

Requests all_requests(std::string_view metrics) {
  Requests requests;
  while (!metrics.empty()) {
    const std::size_t end = metrics.find('\n');
    const std::string_view line = metrics.substr(0, end);
    metrics = end == std::string_view::npos ? "" : metrics.substr(end + 1);
    if (!line.starts_with("apiserver_request_total{")) continue;
    const std::size_t space = line.rfind(' ');
    double count = 0;
    std::from_chars(line.data() + space + 1, line.data() + line.size(), count);
    requests[counted_as(label_of(line, "verb"), label_of(line, "resource"))] +=
        static_cast<std::uint64_t>(count);
  }
  return requests;
}

Requests difference(const Requests& before, const Requests& after) {
  Requests out;
  for (const auto& [verb, count] : after) {
    const auto found = before.find(verb);
    const std::uint64_t earlier = found == before.end() ? 0 : found->second;
    if (count > earlier) out[verb] = count - earlier;
  }
  return out;
}

Duration percentile(std::vector<Duration> values, int percent) {
  if (values.empty()) return Duration(0);
  std::sort(values.begin(), values.end());
  const std::size_t rank = (values.size() * static_cast<std::size_t>(percent) + 99) / 100;
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

Summary summarise(const Race& race, Duration took) {
  Summary summary;
  summary.took = took;
  std::vector<Duration> admissions;
  for (const std::string& worker : race.workers()) summary.wins[worker] = 0;
  for (const auto& [key, runner] : race.runners()) {
    ++summary.jobs;
    const Phase phase = runner.phase();
    if (phase == Phase::succeeded) ++summary.succeeded;
    if (phase == Phase::failed) ++summary.failed;
    if (!runner.finished) ++summary.unfinished;
    if (runner.admitted) admissions.push_back(*runner.admitted - runner.submitted);
    for (const std::string& worker : runner.ran_on) ++summary.wins[worker];
    if (runner.ran_on.size() > 1) {
      std::string where;
      for (const std::string& worker : runner.ran_on) where += (where.empty() ? "" : ", ") + worker;
      summary.ran_twice.push_back(key.str() + " on " + where);
    }
  }
  summary.admission_p50 = percentile(admissions, 50);
  summary.admission_p95 = percentile(admissions, 95);
  return summary;
}

std::string to_text(const Summary& summary) {
  std::ostringstream out;
  out << "\n"
      << summary.succeeded << " of " << summary.jobs << " jobs succeeded in "
      << seconds(summary.took) << "; time to admission p50 " << seconds(summary.admission_p50)
      << ", p95 " << seconds(summary.admission_p95) << "\n\nWins:\n";
  for (const auto& [worker, wins] : summary.wins) {
    out << std::left << std::setw(cluster_width) << worker << std::right << std::setw(8) << wins
        << '\n';
  }
  write_requests(summary, out);
  const auto check = [&out](bool holds, const std::string& what) {
    out << (holds ? "ok    " : "FAIL  ") << what << '\n';
  };
  out << '\n';
  check(summary.unfinished == 0, std::to_string(summary.unfinished) + " jobs unfinished");
  check(summary.failed == 0, std::to_string(summary.failed) + " jobs failed");
  check(summary.remote_objects_left == 0,
        std::to_string(summary.remote_objects_left) + " remote objects left");
  check(summary.ran_twice.empty(),
        std::to_string(summary.ran_twice.size()) + " jobs ran on two clusters");
  for (const std::string& job : summary.ran_twice) out << "      " << job << '\n';
  return out.str();
}

}  // namespace regatta::lab
