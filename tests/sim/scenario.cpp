#include "tests/sim/scenario.h"

#include "lib/base/rng.h"
#include "tests/sim/kinds.h"

#include <algorithm>

namespace regatta::simtest {
namespace {

using namespace std::chrono_literals;

const char* const all_at_once = "kueue.x-k8s.io/multikueue-dispatcher-all-at-once";
const char* const incremental = "kueue.x-k8s.io/multikueue-dispatcher-incremental";

JobSpec draw_job(Rng& rng, const std::string& name, const std::set<Trouble>& troubles) {
  JobSpec job;
  job.name = name;
  // Work is under way for as long as there are faults.
  job.after = Duration(rng.between(0, 14000));
  job.runs = Duration(rng.between(500, 20000));
  job.pods = int(rng.between(1, 3));
  job.completions = job.pods;
  if (troubles.contains(Trouble::kinds)) {
    job.fails = rng.chance(0.25);
    job.indexed = rng.chance(0.3);
    if (rng.chance(0.2)) job.runs = Duration(rng.between(40000, 90000));
    if (!job.fails && rng.chance(0.2)) job.completions = job.pods * 2;
  }
  job.important = troubles.contains(Trouble::preemption) && rng.chance(0.3);
  return job;
}

std::set<Trouble> draw_troubles(Rng& rng, const ScenarioOptions& options) {
  std::set<Trouble> drawn = options.always;
  for (const TroubleInfo& info : all_troubles()) {
    if (info.drawn_by_itself) continue;
    // Drawn whether it is wanted or not, so that options change nothing else.
    const bool there = rng.chance(info.chance);
    if (!options.faults || !there) continue;
    if (options.only && !options.only->contains(info.trouble)) continue;
    drawn.insert(info.trouble);
  }
  return drawn;
}

/// Unless another job of the kind has it.
void take_name(const std::string& name, JobSpec* job, const std::vector<JobSpec>& all) {
  const bool taken = std::any_of(all.begin(), all.end(), [&](const JobSpec& other) {
    return other.kind == job->kind && other.name == name;
  });
  if (!taken) job->name = name;
}

/// Whether a world has a trouble that is drawn by itself.
void draw_trouble(Trouble trouble, const ScenarioOptions& options, Rng& rng, Scenario* scenario) {
  const bool there = rng.chance(all_troubles().at(std::size_t(trouble)).chance);
  const bool wanted = !options.only || options.only->contains(trouble);
  if (options.faults && there && wanted) scenario->troubles.insert(trouble);
}

void draw_job_kinds(const ScenarioOptions& options, Scenario* scenario) {
  Rng rng(options.seed * 0x9E3779B97F4A7C15ull + 13);
  draw_trouble(Trouble::job_kinds, options, rng, scenario);
  if (!scenario->has(Trouble::job_kinds)) return;
  const auto& kinds = kinds_of_jobs();
  for (auto& [hub, list] : scenario->jobs) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      JobSpec& job = list[i];
      const auto drawn = std::size_t(rng.between(1, std::int64_t(kinds.size()) - 1));
      const bool other = rng.chance(0.7), namesake = rng.chance(0.3);
      if (!other && options.job_kind.empty()) continue;
      job.kind = options.job_kind.empty() ? kinds[drawn].resource.kind : options.job_kind;
      if (job.kind != "Job") job.completions = job.pods;
      if (namesake && i > 0) take_name(list[i - 1].name, &job, list);
    }
  }
}

void draw_pods(const ScenarioOptions& options, Scenario* scenario) {
  Rng rng(options.seed * 0x9E3779B97F4A7C15ull + 17);
  draw_trouble(Trouble::pods, options, rng, scenario);
  if (!scenario->has(Trouble::pods)) return;
  for (auto& [hub, list] : scenario->jobs) {
    for (JobSpec& job : list) job.leaves = Duration(rng.chance(0.5) ? rng.between(100, 6000) : 0);
  }
}

void draw_status_refusals(const ScenarioOptions& options, Scenario* scenario) {
  Rng rng(options.seed * 0x9E3779B97F4A7C15ull + 29);
  draw_trouble(Trouble::status_refusals, options, rng, scenario);
}

/// They have enough to do to be still at work when their size changes.
void draw_elastic(const ScenarioOptions& options, Scenario* scenario) {
  Rng rng(options.seed * 0x9E3779B97F4A7C15ull + 31);
  draw_trouble(Trouble::elastic, options, rng, scenario);
  if (!scenario->has(Trouble::elastic)) return;
  for (auto& [hub, list] : scenario->jobs) {
    for (JobSpec& job : list) {
      const bool chosen = rng.chance(0.6);
      const auto waves = int(rng.between(3, 8));
      if (!chosen || job.kind != "Job") continue;
      job.elastic = true;
      job.indexed = false;  // whose completions would follow
      job.runs = std::min(job.runs, Duration(8s));
      job.completions = job.pods * waves;
    }
  }
}

void draw_keeps(const ScenarioOptions& options, Scenario* scenario) {
  Rng rng(options.seed * 0x9E3779B97F4A7C15ull + 23);
  draw_trouble(Trouble::byzantine_keeps, options, rng, scenario);
  // What a large fleet selects is never unlisted, as the liar is in the end.
  if (scenario->large()) scenario->troubles.erase(Trouble::byzantine_keeps);
  if (!scenario->has(Trouble::byzantine_keeps) || !scenario->liar.empty()) return;
  scenario->workers.push_back(scenario->liar = "liar");
  const Duration offset(rng.between(-300000, 300000));
  scenario->clock_offsets["liar"] = scenario->has(Trouble::clocks) ? offset : Duration(0);
}

/// The worker that lies may be the one, too.
void draw_garbage(const ScenarioOptions& options, Scenario* scenario) {
  Rng rng(options.seed * 0x9E3779B97F4A7C15ull + 41);
  draw_trouble(Trouble::garbage, options, rng, scenario);
  if (scenario->large()) scenario->troubles.erase(Trouble::garbage);
  if (scenario->has(Trouble::garbage)) scenario->garbled = scenario->workers.back();
}

void draw_newer_objects(const ScenarioOptions& options, Scenario* scenario) {
  Rng rng(options.seed * 0x9E3779B97F4A7C15ull + 37);
  draw_trouble(Trouble::newer_objects, options, rng, scenario);
}

void draw_give_ups(const ScenarioOptions& options, Scenario* scenario) {
  Rng rng(options.seed * 0x9E3779B97F4A7C15ull + 43);
  draw_trouble(Trouble::give_ups, options, rng, scenario);
  if (!scenario->has(Trouble::give_ups)) return;
  const auto which = rng.between(0, 2);
  if (which != 1) {
    scenario->give_up_after = Duration(rng.between(20000, 60000));
    // Else a worker that is asked later would never be.
    const auto later = std::int64_t(scenario->workers.size()) - 1;
    if (scenario->dispatcher != all_at_once) scenario->give_up_after += scenario->round * later;
  }
  if (which != 0) scenario->attempts_max = std::int32_t(rng.between(1, 3));
}

void draw_second_names(const ScenarioOptions& options, Scenario* scenario) {
  Rng rng(options.seed * 0x9E3779B97F4A7C15ull + 53);
  draw_trouble(Trouble::second_names, options, rng, scenario);
  if (scenario->large()) scenario->troubles.erase(Trouble::second_names);
}

/// Some worlds compare workers, unless another program nominates.
void draw_comparison(const ScenarioOptions& options, Scenario* scenario) {
  Rng rng(options.seed * 0x9E3779B97F4A7C15ull + 47);
  const bool compares = rng.chance(0.15);
  const bool free = options.dispatcher.empty() && !scenario->has(Trouble::external);
  if (compares && free) scenario->dispatcher = "multikueue.regatta.dev/capacity";
}

void draw_clocks(Rng& rng, Scenario* scenario) {
  std::vector<std::string> all = scenario->workers;
  all.insert(all.end(), scenario->hubs.begin(), scenario->hubs.end());
  for (const std::string& name : all) {
    const Duration offset(rng.between(-300000, 300000));
    scenario->clock_offsets[name] = scenario->has(Trouble::clocks) ? offset : Duration(0);
  }
}

std::string draw_dispatcher(Rng& rng, const ScenarioOptions& options, const Scenario& scenario) {
  const bool steps = rng.chance(0.3);
  if (!options.dispatcher.empty()) return options.dispatcher;
  if (scenario.has(Trouble::external)) return "simulation/external";
  return steps ? incremental : all_at_once;
}

}  // namespace

const std::vector<TroubleInfo>& all_troubles() {
  static const std::vector<TroubleInfo> all = {
      {Trouble::crashes, "crashes", 0.6},
      {Trouble::partitions, "partitions", 0.6},
      {Trouble::noise, "noise", 0.6},
      {Trouble::late, "late", 0.2},
      {Trouble::deletions, "deletions", 0.3},
      {Trouble::vandals, "vandals", 0.25},
      {Trouble::standby, "standby", 0.3},
      {Trouble::deaf_standby, "deaf-standby", 0.5},
      {Trouble::pauses, "pauses", 0.2},
      {Trouble::clocks, "clocks", 0.2},
      {Trouble::clock_steps, "clock-steps", 0.1},
      {Trouble::restores, "restores", 0.1},
      {Trouble::hub_restores, "hub-restores", 0.1},
      {Trouble::preemption, "preemption", 0.2},
      {Trouble::deactivation, "deactivation", 0.2},
      {Trouble::stop_policies, "stop-policies", 0.15},
      {Trouble::edits, "edits", 0.15},
      {Trouble::configs, "configs", 0.2},
      {Trouble::check_swaps, "check-swaps", 0.1},
      {Trouble::addresses, "addresses", 0.1},
      {Trouble::external, "external", 0.15},
      {Trouble::other_checks, "other-checks", 0.15},
      {Trouble::kinds, "kinds", 0.3},
      {Trouble::two_hubs, "two-hubs", 0.15},
      {Trouble::equal_origins, "equal-origins", 0.1},
      {Trouble::refusals, "refusals", 0.2},
      {Trouble::lasting_refusals, "lasting-refusals", 0.1},
      {Trouble::namespaces, "namespaces", 0.1},
      {Trouble::out_of_sync, "out-of-sync", 0.15},
      {Trouble::foreign, "foreign", 0.15},
      {Trouble::losses, "losses", 0.1},
      {Trouble::worker_evictions, "worker-evictions", 0.15},
      {Trouble::byzantine, "byzantine", 0.15},
      {Trouble::recreations, "recreations", 0.15},
      {Trouble::job_kinds, "job-kinds", 0.25, true},
      {Trouble::rotations, "rotations", 0.15, true},
      {Trouble::pods, "pods", 0.25, true},
      {Trouble::byzantine_keeps, "byzantine-keeps", 0.1, true},
      {Trouble::status_refusals, "status-refusals", 0.1, true},
      {Trouble::elastic, "elastic", 0.2, true},
      {Trouble::newer_objects, "newer-objects", 0.1, true},
      {Trouble::garbage, "garbage", 0.1, true},
      {Trouble::second_names, "second-names", 0.1, true},
      {Trouble::give_ups, "give-ups", 0.1, true},
  };
  return all;
}

const char* name_of(Trouble trouble) {
  return all_troubles().at(std::size_t(trouble)).name;
}

std::optional<Trouble> trouble_of(std::string_view name) {
  for (const TroubleInfo& info : all_troubles()) {
    if (info.name == name) return info.trouble;
  }
  return std::nullopt;
}

Duration Scenario::progress_bound() const {
  // A silent watch is dead after three minutes, and a new one may take half a minute: on the
  // worker's own link, on the hub's, and on the one between them, one after another.
  const bool silences = has(Trouble::partitions) || has(Trouble::noise) || has(Trouble::pauses) ||
                        has(Trouble::losses);
  Duration bound = faults_end + (silences ? 3 * (180s + 30s) : 0s);
  if (has(Trouble::garbage)) bound += 90s;  // until the server is exchanged
  // A worker that refused a Job is passed over for ten minutes.
  if (has(Trouble::refusals) || has(Trouble::lasting_refusals)) bound += 10min;
  // A Workload that lost its place again and again pauses for five minutes at most.
  bound += 5min;
  bound += worker_lost_timeout + round * std::int64_t(workers.size());
  // All work on the last worker that is left, and each Job once more after a loss.
  for (const auto& [hub, list] : jobs) {
    for (const JobSpec& job : list) {
      // Its user may have shrunk it to a single pod.
      const int pods = job.elastic || has(Trouble::edits) ? 1 : job.pods;
      bound += job.after +
               2 * (job.runs * pods / worker_cpus + 1s) * std::int64_t(job.completions / pods);
    }
  }
  return bound;
}

namespace {

std::string name_of_worker(int number, const ScenarioOptions& options) {
  if (options.workers <= 20) return std::string(1, char('a' + number));
  return "w" + std::to_string(10000 + number);
}

/// Large fleets have as much work as they can do.
void enlarge(Scenario* scenario) {
  scenario->hub_cpus = int(scenario->workers.size()) * scenario->worker_cpus * 8 / 10;
  scenario->troubles.erase(Trouble::configs);  // names the workers
  for (auto& [hub, list] : scenario->jobs) {
    for (JobSpec& job : list) job.after /= std::int64_t(scenario->workers.size());
  }
}

}  // namespace

Scenario draw_scenario(const ScenarioOptions& options) {
  Rng rng(options.seed * 0x9E3779B97F4A7C15ull + 7);
  Scenario s;
  s.seed = options.seed;
  s.faults_end = options.faults ? options.faults_end : Duration(0);
  s.troubles = draw_troubles(rng, options);
  for (int i = 0; i < options.workers; ++i) s.workers.push_back(name_of_worker(i, options));
  if (s.has(Trouble::byzantine)) s.workers.push_back(s.liar = "liar");
  const bool second = s.has(Trouble::two_hubs) || s.has(Trouble::equal_origins);
  if (second) s.hubs.push_back("hub2");
  s.origins["hub"] = "multikueue";
  if (second) s.origins["hub2"] = s.has(Trouble::equal_origins) ? "multikueue" : "other";
  draw_clocks(rng, &s);
  s.dispatcher = draw_dispatcher(rng, options, s);
  s.head_start = Duration(rng.chance(0.5) ? 30 : 0);
  s.gates = rng.chance(0.33);
  for (const std::string& hub : s.hubs) {
    const int count = second ? (options.jobs + 1) / 2 : options.jobs;
    for (int i = 0; i < count; ++i) {
      const std::string name = (hub == "hub" ? "job-" : "other-") + std::to_string(i);
      s.jobs[hub].push_back(draw_job(rng, name, s.troubles));
    }
  }
  draw_job_kinds(options, &s);
  Rng of_rotations(options.seed * 0x9E3779B97F4A7C15ull + 19);
  draw_trouble(Trouble::rotations, options, of_rotations, &s);
  draw_pods(options, &s);
  draw_keeps(options, &s);
  draw_status_refusals(options, &s);
  draw_elastic(options, &s);
  draw_newer_objects(options, &s);
  draw_garbage(options, &s);
  draw_comparison(options, &s);
  draw_give_ups(options, &s);
  draw_second_names(options, &s);
  if (s.large()) enlarge(&s);
  return s;
}

}  // namespace regatta::simtest
