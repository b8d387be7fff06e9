#include "whatif/command/explain.h"

#include "lib/api/names.h"
#include "whatif/timeline/duration.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <ostream>

namespace regatta::whatif {
namespace {

/// The MultiKueueClusters of the simulated workers, connected.
std::vector<Object> federation_objects(const SimulationInput& input) {
  std::vector<Object> objects;
  for (const Object& object : input.hub.objects) {
    const bool wanted = std::holds_alternative<api::AdmissionCheck>(object) ||
                        std::holds_alternative<api::MultiKueueConfig>(object);
    if (wanted) objects.push_back(object);
  }
  for (const ClusterInput& worker : input.workers) {
    api::MultiKueueCluster cluster;
    cluster.metadata.name = worker.name;
    api::Condition active;
    active.type = api::conditions::active;
    active.status = api::ConditionStatus::True;
    active.reason = api::reasons::active;
    active.message = "Simulated";
    cluster.status.conditions.push_back(std::move(active));
    objects.emplace_back(std::move(cluster));
  }
  return objects;
}

Result<TimePoint> time_of(const ExplainWish& wish, const SimulationInput& input) {
  const TimePoint end = input.start + input.until;
  if (wish.at.empty()) return end;
  TimePoint at;
  if (const auto time = parse_rfc3339(wish.at)) {
    at = *time;
  } else if (const auto since = parse_duration(wish.at)) {
    at = input.start + *since;
  } else {
    return Error(Errc::invalid, "--explain " + wish.key.str() + "@" + wish.at +
                                    ": the time is neither like 90m nor like " +
                                    format_rfc3339(input.start));
  }
  if (at >= input.start && at <= end) return at;
  return Error(Errc::invalid, "--explain " + wish.key.str() + "@" + wish.at +
                                  ": the simulation lasts from " + format_rfc3339(input.start) +
                                  " to " + format_rfc3339(end));
}

std::string fate_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::finished:
      return "Finished";
    case Outcome::failed:
      return "Failed";
    case Outcome::deleted:
      return "Deleted";
    default:
      return "Unknown";
  }
}

std::string ended_text(const WorkloadRecord& record, TimePoint start) {
  const auto since = [&](TimePoint at) { return format_duration(at - start); };
  std::string text = "Workload " + record.ns + "/" + record.name + " is over (" +
                     fate_of(record.outcome) + "): created after " + since(record.created_at);
  if (record.admitted_at) text += ", admitted after " + since(*record.admitted_at);
  const Run* last = record.runs.empty() ? nullptr : &record.runs.back();
  if (last != nullptr && !last->cluster.empty()) text += ", ran on cluster " + last->cluster;
  if (record.finished_at) text += ", ended after " + since(*record.finished_at);
  return text + ".";
}

class Teller {
 public:
  explicit Teller(SimulationInput input)
      : start_(input.start), objects_(federation_objects(input)) {
    for (const ClusterInput& worker : input.workers) workers_.push_back(worker.name);
    simulation_.emplace(std::move(input));
  }

  Simulation& simulation() { return *simulation_; }

  ToldWish tell(const ExplainWish& wish, TimePoint at) {
    ToldWish told;
    told.wish = wish;
    Cluster& hub = *simulation_->find("");
    Course* course = hub.find(wish.key);
    if (course == nullptr) course = hub.find_job(wish.key);
    if (course == nullptr) {
      tell_end(&told);
      return told;
    }
    told.clusters.push_back({"", account_of(hub.state(), course->workload, objects_, at)});
    for (const std::string& name : workers_) {
      Cluster& worker = *simulation_->find(name);
      const Course* copy = worker.find(course->workload.metadata.key());
      if (copy == nullptr) continue;
      told.clusters.push_back({name, account_of(worker.state(), copy->workload, {}, at)});
    }
    return told;
  }

 private:
  void tell_end(ToldWish* told) {
    const api::ObjectKey& key = told->wish.key;
    told->fate = "Unknown";
    told->gone = "There is no Workload or Job " + key.str() + " at that time.";
    const Report report = simulation_->report(true);
    for (const WorkloadRecord& record : report.workloads) {
      const bool same = record.name == key.name || record.job == key.name;
      if (record.ns != key.ns || !same) continue;
      told->fate = fate_of(record.outcome);
      told->gone = ended_text(record, start_);
    }
  }

  TimePoint start_;
  std::vector<Object> objects_;
  std::vector<std::string> workers_;
  std::optional<Simulation> simulation_;
};

}  // namespace

Result<ExplainWish> parse_wish(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::size_t sign = text.find('@');
  const std::string_view key = text.substr(0, sign);
  const bool one_slash = slash != std::string_view::npos && key.rfind('/') == slash;
  if (!one_slash || slash == 0 || slash + 1 >= key.size() || sign + 1 == text.size()) {
    return Error(Errc::invalid,
                 "\"" + std::string(text) + "\": write NAMESPACE/NAME or NAMESPACE/NAME@TIME");
  }
  ExplainWish wish;
  wish.key = {std::string(key.substr(0, slash)), std::string(key.substr(slash + 1))};
  if (sign != std::string_view::npos) wish.at = text.substr(sign + 1);
  return wish;
}

Result<std::vector<ToldWish>> explain_simulated(SimulationInput input,
                                                const std::vector<ExplainWish>& wishes,
                                                const std::function<bool(const Progress&)>& watch) {
  std::vector<std::pair<TimePoint, std::size_t>> order;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    const auto at = time_of(wishes[i], input);
    if (!at) return at.error();
    order.emplace_back(*at, i);
  }
  std::sort(order.begin(), order.end());
  Teller teller(std::move(input));
  Simulation& simulation = teller.simulation();
  std::vector<ToldWish> told(wishes.size());
  bool going = true;
  constexpr int steps_between = 256;
  int steps = 0;
  for (const auto& [at, index] : order) {
    for (auto next = simulation.next(); going && next && *next <= at; next = simulation.next()) {
      simulation.step();
      if (watch && ++steps % steps_between == 0) going = watch(simulation.progress());
    }
    told[index] = teller.tell(wishes[index], going ? at : simulation.now());
  }
  return told;
}

void print(const std::vector<ToldWish>& told, std::ostream& out) {
  bool first = true;
  for (const ToldWish& wish : told) {
    if (!wish.gone.empty()) out << (first ? "" : "\n") << wish.gone << '\n';
    for (const ToldCluster& one : wish.clusters) {
      if (!first) out << '\n';
      first = false;
      if (!one.cluster.empty()) out << "On cluster " << one.cluster << ": ";
      print(one.account, out);
    }
    first = false;
  }
}

Json to_json(const std::vector<ToldWish>& told) {
  Json all = Json::array();
  for (const ToldWish& wish : told) {
    Json one = Json::object();
    if (!wish.gone.empty()) {
      one = {{"workload", wish.wish.key.str()}, {"standing", wish.fate}, {"summary", wish.gone}};
    }
    for (const ToldCluster& cluster : wish.clusters) {
      if (cluster.cluster.empty()) {
        one = to_json(cluster.account);
      } else {
        one["onClusters"][cluster.cluster] = to_json(cluster.account);
      }
    }
    all.push_back(std::move(one));
  }
  return all.size() == 1 ? all.front() : all;
}

}  // namespace regatta::whatif
