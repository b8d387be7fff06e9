#include "tests/sim/federation.h"
#include "tests/sim/objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <sstream>

/// Broken implementations. Each lacks one rule, and some history must notice each of them:
/// otherwise the simulation lacks the trouble that the rule is for, or the check of its effect.
namespace regatta::simtest {
namespace {

using namespace std::chrono_literals;
using dispatch::GroupView;
using dispatch::Plan;
using dispatch::PlanConfig;
using dispatch::RemoteJob;

using Worlds = std::set<Trouble>;

// --- broken planners ---

template <class Unwanted>
void drop(Plan* plan) {
  std::erase_if(plan->actions, [](const dispatch::Action& action) {
    return std::holds_alternative<Unwanted>(action);
  });
}

void plans(SimOptions* options, std::function<void(const GroupView&, Plan*)> change) {
  options->planner = [change](const GroupView& g, TimePoint now, const PlanConfig& config) {
    Plan plan = dispatch::plan(g, now, config);
    change(g, &plan);
    return plan;
  };
}

/// The planner sees another picture than there is.
void sees(SimOptions* options, std::function<void(GroupView*, TimePoint now)> change) {
  options->planner = [change](GroupView g, TimePoint now, const PlanConfig& config) {
    change(&g, now);
    return dispatch::plan(g, now, config);
  };
}

void sees_clusters(SimOptions* options, std::function<void(dispatch::ClusterView*)> change) {
  sees(options, [change](GroupView* g, TimePoint) {
    for (auto& [name, cluster] : g->clusters) change(&cluster);
  });
}

void grace(SimOptions* options, Duration wanted) {
  options->manager = [wanted](ManagerPlan* plan, bool) {
    plan->core.dispatch.plan.worker_lost_timeout = wanted;
  };
}

void never_removes(SimOptions* options) {
  plans(options, [](const GroupView&, Plan* plan) { drop<dispatch::RemoveRemote>(plan); });
}
void never_locks(SimOptions* options) {
  plans(options, [](const GroupView&, Plan* plan) { drop<dispatch::RecordWinner>(plan); });
}
void never_gives_up(SimOptions* options) {
  plans(options, [](const GroupView&, Plan* plan) { drop<dispatch::SetCheck>(plan); });
}
void never_winds_down(SimOptions* options) {
  plans(options, [](const GroupView&, Plan* plan) {
    drop<dispatch::DeactivateRemote>(plan);
    drop<dispatch::ReleaseJob>(plan);
  });
}
void never_finishes(SimOptions* options) {
  plans(options, [](const GroupView&, Plan* plan) {
    drop<dispatch::CopyJobStatus>(plan);
    drop<dispatch::FinishLocal>(plan);
  });
}
void never_copies_a_status(SimOptions* options) {
  plans(options, [](const GroupView&, Plan* plan) { drop<dispatch::CopyJobStatus>(plan); });
}
void removes_what_it_should_stop(SimOptions* options) {
  plans(options, [](const GroupView&, Plan* plan) {
    for (dispatch::Action& action : plan->actions) {
      if (const auto* a = std::get_if<dispatch::DeactivateRemote>(&action)) {
        action = dispatch::RemoveRemote{a->cluster, true};
      }
    }
  });
}
/// The reconciler of Jobs does not ask either whether a worker may still run the Job.
void gives_quota_back_at_once(SimOptions* options) {
  options->manager = [](ManagerPlan* plan, bool) {
    plan->core.jobs.may_run_on_worker = [](const api::ObjectKey&) { return false; };
  };
  plans(options, [](const GroupView& g, Plan* plan) {
    if (g.local.evicted && g.local.quota_reserved && g.local.job_active) {
      plan->actions = {dispatch::ReleaseJob{}};
    }
  });
}
void removes_the_winner(SimOptions* options) {
  plans(options, [](const GroupView& g, Plan* plan) {
    const auto found = g.clusters.find(g.local.cluster_name);
    if (found == g.clusters.end() || found->second.job != RemoteJob::ours) return;
    plan->actions.insert(plan->actions.begin(), dispatch::RemoveRemote{found->first, true});
  });
}
/// As if another worker's removal had to be answered first.
void creates_jobs_late(SimOptions* options) {
  options->planner = [](const GroupView& g, TimePoint now, const PlanConfig& config) {
    Plan plan = dispatch::plan(g, now, config);
    if (g.local.cluster_name.empty() || now < g.local.check_since + 30s) {
      drop<dispatch::CreateJob>(&plan);
      plan.look_again = std::min(plan.look_again.value_or(1s), Duration(1s));
    }
    return plan;
  };
}
void has_no_grace(SimOptions* options) {
  grace(options, 0ms);
}
void waits_for_ever(SimOptions* options) {
  grace(options, 24h);
}
void believes_the_record(SimOptions* options) {
  sees(options, [](GroupView* g, TimePoint now) {
    const auto found = g->clusters.find(g->local.cluster_name);
    if (found == g->clusters.end() || !found->second.connected) return;
    if (!found->second.copy) found->second.copy.emplace();
    if (!found->second.copy->admitted_at) found->second.copy->admitted_at = now;
    found->second.copy->evicted = false;
  });
}
void forgets_the_record(SimOptions* options) {
  sees(options, [](GroupView* g, TimePoint) { g->local.cluster_name.clear(); });
}
void overlooks_evictions_on_workers(SimOptions* options) {
  sees(options, [](GroupView* g, TimePoint now) {
    for (auto& [name, cluster] : g->clusters) {
      if (!cluster.copy || !cluster.copy->evicted) continue;
      cluster.copy->evicted = cluster.copy->deactivating = false;
      cluster.copy->admitted_at = cluster.copy->admitted_at.value_or(now);
    }
  });
}
void overlooks_jobs_elsewhere(SimOptions* options) {
  sees(options, [](GroupView* g, TimePoint) {
    for (auto& [name, cluster] : g->clusters) {
      if (name != g->local.cluster_name) cluster.job = RemoteJob::absent;
    }
  });
}
void never_notices_a_loss(SimOptions* options) {
  sees_clusters(options, [](dispatch::ClusterView* c) {
    c->connected = true;
    c->lost_since.reset();
  });
}
void overlooks_evictions_on_the_hub(SimOptions* options) {
  sees(options, [](GroupView* g, TimePoint) { g->local.evicted = false; });
}
void overlooks_other_checks(SimOptions* options) {
  sees(options, [](GroupView* g, TimePoint) { g->local.other_checks_ready = true; });
}
/// What is not in its caches is not there.
void believes_its_caches(SimOptions* options) {
  sees(options, [](GroupView* g, TimePoint) {
    g->local.certainty = dispatch::Certainty::certain;
    for (auto& [name, cluster] : g->clusters) cluster.certainty = dispatch::Certainty::certain;
  });
}
// --- elastic jobs ---

/// Removes the former size before the worker's manager knows of the next one.
void hands_over_blindly(SimOptions* options) {
  sees_clusters(options, [](dispatch::ClusterView* v) {
    if (v->job_under_other_slice) v->job_handing_over = false;
  });
}
void takes_larger_sizes_for_new_jobs(SimOptions* options) {
  sees(options, [](GroupView* g, TimePoint) { g->local.takes_over = false; });
}
void takes_no_place(SimOptions* options) {
  sees(options, [](GroupView* g, TimePoint) {
    g->local.superseded = false;
    g->local.place_of_replaced.clear();
    for (auto& [name, v] : g->clusters) v.job_left_behind = false;
  });
}
void sends_larger_sizes_before_other_checks(SimOptions* options) {
  sees(options, [](GroupView* g, TimePoint) {
    if (!g->local.cluster_name.empty()) g->local.other_checks_ready = true;
  });
}

void nominates_nothing(SimOptions* options) {
  plans(options, [](const GroupView&, Plan* plan) { drop<dispatch::CreateCopy>(plan); });
}
void finishes_too_early(SimOptions* options) {
  plans(options, [](const GroupView& g, Plan* plan) {
    const auto host = g.clusters.find(g.local.cluster_name);
    if (g.local.finished || host == g.clusters.end()) return;
    if (host->second.job == RemoteJob::ours) {
      plan->actions = {dispatch::FinishLocal{"Succeeded", "enough"}};
    }
  });
}

/// OutOfSync and OwnerNotFound of a copy are not the end of the Job.
void takes_any_end(SimOptions* options) {
  sees_clusters(options, [](dispatch::ClusterView* c) {
    if (c->copy && c->copy->finished) c->copy->finished->reason = "Succeeded";
  });
}
void takes_unlisted_for_listed(SimOptions* options) {
  sees_clusters(options, [](dispatch::ClusterView* c) { c->listed = true; });
}
/// After an eviction any worker tells how the job ended, whatever another one has.
void believes_any_worker_after_an_eviction(SimOptions* options) {
  sees(options, [](GroupView* g, TimePoint) {
    if (!g->local.evicted || !g->local.cluster_name.empty()) return;
    g->local.evicted_from.reset();
    g->local.never_ran = false;
    const auto claims = [](const auto& entry) {
      return entry.second.job_ended && entry.second.copy && entry.second.copy->finished;
    };
    if (std::none_of(g->clusters.begin(), g->clusters.end(), claims)) return;
    for (auto& entry : g->clusters) {
      if (!claims(entry)) entry.second.job = RemoteJob::absent;
    }
  });
}

/// The brake, which a worker pulls with copies that it makes up, also holds for jobs of Workloads
/// that it was never sent.
void brakes_for_unmarked_jobs(SimOptions* options) {
  const auto held = std::make_shared<std::set<std::string>>();
  sees(options, [held](GroupView* g, TimePoint) {
    const dispatch::LocalView& local = g->local;
    static const std::set<std::string> before = {"", "Racing", "NoWorkerConnected",
                                                 "NoWorkerAccepts", "RemovalsHeld"};
    const bool sent = !local.cluster_name.empty() || local.evicted || local.retries > 0 ||
                      !before.contains(local.told);
    for (auto& [name, cluster] : g->clusters) {
      const bool runs = cluster.job == RemoteJob::ours && !cluster.job_ended;
      if (local.deleted && cluster.removals_held) held->insert(name);
      if (local.deleted && !cluster.removals_held) held->erase(name);
      if (!local.deleted && !sent && runs && held->contains(name)) cluster.removals_held = true;
    }
  });
}
/// Any worker that has the job holds the quota of an evicted Workload.
void leaves_quota_to_any_worker(SimOptions* options) {
  const auto held = std::make_shared<std::map<std::string, bool>>();  // by uid of the Workload
  const auto hub = std::make_shared<SimCluster*>(nullptr);
  options->steps_between_looks = 1;
  options->on_look = [hub](SimCluster& cluster, TimePoint) { *hub = &cluster; };
  options->planner = [held](const GroupView& g, TimePoint now, const PlanConfig& config) {
    Plan plan = dispatch::plan(g, now, config);
    GroupView any = g;
    any.local.evicted_from.reset();
    any.local.never_ran = false;
    (*held)[g.local.uid] =
        dispatch::may_still_run(g, now, config) || dispatch::may_still_run(any, now, config);
    const bool kept = std::any_of(g.clusters.begin(), g.clusters.end(), [](const auto& entry) {
      return entry.second.connected && entry.second.job == RemoteJob::ours;
    });
    if (kept && g.local.evicted) drop<dispatch::ReleaseJob>(&plan);
    return plan;
  };
  options->manager = [held, hub](ManagerPlan* plan, bool of_hub) {
    if (!of_hub) return;
    plan->core.jobs.may_run_on_worker = [held, hub](const api::ObjectKey& key) {
      if (!*hub) return true;
      const auto workload = (*hub)->server().store().find_shelf(workloads)->find(key.ns, key.name);
      return workload && (*held)[uid_of(workload->value())];
    };
  };
}

/// The quota of an evicted Workload waits for every worker that is asked to delete a job of it.
void releases_after_every_removal(SimOptions* options) {
  plans(options, [](const GroupView&, Plan* plan) {
    const bool removes =
        std::any_of(plan->actions.begin(), plan->actions.end(), [](const dispatch::Action& action) {
          const auto* remove = std::get_if<dispatch::RemoveRemote>(&action);
          return remove && remove->holds_job;
        });
    if (removes) drop<dispatch::ReleaseJob>(plan);
  });
}

// --- broken writes ---

/// Changes the bodies of requests with that method to resources of that name.
void sends(SimOptions* options, Role role, std::string method, std::string resource,
           std::function<void(Json*)> change) {
  options->tampering.request = [=](const Author& author, net::HttpRequest* request) {
    const bool concerned = author.role == role && request->method == method &&
                           request->target.find("/" + resource) != std::string::npos;
    if (!concerned) return;
    auto body = parse_json(request->body);
    if (!body) return;
    change(&*body);
    request->body = dump_json(*body);
  };
}

void forget(Json* body, const char* part, const char* field) {
  if (body->contains(part) && (*body)[part].is_object()) (*body)[part].erase(field);
}

void creates_running_jobs(SimOptions* options) {
  sends(options, Role::dispatcher, "POST", "jobs",
        [](Json* b) { (*b)["spec"]["suspend"] = false; });
}
void creates_jobs_without_origin(SimOptions* options) {
  sends(options, Role::dispatcher, "POST", "jobs",
        [](Json* b) { (*b)["metadata"]["labels"].erase("kueue.x-k8s.io/multikueue-origin"); });
}
void creates_copies_without_origin(SimOptions* options) {
  sends(options, Role::dispatcher, "POST", "workloads",
        [](Json* b) { (*b)["metadata"]["labels"].erase("kueue.x-k8s.io/multikueue-origin"); });
}
void creates_jobs_without_their_workload(SimOptions* options) {
  sends(options, Role::dispatcher, "POST", "jobs", [](Json* b) {
    (*b)["metadata"]["annotations"].erase("kueue.x-k8s.io/prebuilt-workload-name");
  });
}
void does_not_sign(SimOptions* options) {
  sends(options, Role::dispatcher, "POST", "", [](Json* b) {
    if (!b->contains("metadata") || !(*b)["metadata"].contains("annotations")) return;
    (*b)["metadata"]["annotations"].erase("multikueue.regatta.dev/hub-uid");
  });
}
void does_not_say_through_which_name(SimOptions* options) {
  sends(options, Role::dispatcher, "POST", "", [](Json* b) {
    if (!b->contains("metadata") || !(*b)["metadata"].contains("annotations")) return;
    (*b)["metadata"]["annotations"].erase("multikueue.regatta.dev/worker");
  });
}
/// A MultiKueueConfig that is gone lists no worker.
void takes_a_missing_config_for_an_empty_one(SimOptions* options) {
  sees(options, [](GroupView* g, TimePoint) {
    if (!std::exchange(g->local.config_missing, false)) return;
    for (auto& [name, v] : g->clusters) v.listed = false;
  });
}
void charges_too_much(SimOptions* options) {
  sends(options, Role::manager, "PATCH", "workloads", [](Json* b) {
    if (!b->contains("status") || !(*b)["status"].contains("admission")) return;
    Json& admission = (*b)["status"]["admission"];
    if (!admission.is_object() || !admission.contains("podSetAssignments")) return;
    for (Json& set : admission["podSetAssignments"]) set["resourceUsage"] = {{"cpu", "9"}};
  });
}
void turns_ends_round(SimOptions* options) {
  sends(options, Role::manager, "PATCH", "jobs", [](Json* body) {
    if (!body->contains("status") || !(*body)["status"].contains("conditions")) return;
    for (Json& condition : (*body)["status"]["conditions"]) {
      if (condition["type"] == "Complete") condition["type"] = "Failed";
      if (condition["type"] == "SuccessCriteriaMet") condition["type"] = "FailureTarget";
    }
  });
}
void forgets_counts(SimOptions* options) {
  sends(options, Role::manager, "PATCH", "jobs",
        [](Json* body) { forget(body, "status", "failed"); });
}

/// As if what was decided on were what is there.
void forgets_versions(SimOptions* options, bool of_leases) {
  options->tampering.request = [of_leases](const Author& author, net::HttpRequest* request) {
    const bool own = author.role == Role::manager || author.role == Role::dispatcher;
    const bool lease = request->target.find("/leases") != std::string::npos;
    if (!own || request->method != "PATCH" || lease != of_leases) return;
    auto body = parse_json(request->body);
    if (!body) return;
    forget(&*body, "metadata", "resourceVersion");
    request->body = dump_json(*body);
  };
}
void patches_any_version(SimOptions* options) {
  forgets_versions(options, false);
}
void takes_any_version_of_the_lease(SimOptions* options) {
  forgets_versions(options, true);
}
void patches_jobs_by_name(SimOptions* options) {
  sends(options, Role::manager, "PATCH", "jobs", [](Json* b) {
    forget(b, "metadata", "resourceVersion");
    forget(b, "metadata", "uid");
  });
}
/// Only the API of batch/v1 keeps the end of a job.
void copies_status_of_any_version(SimOptions* options) {
  options->job_kind = "RayJob";
  sends(options, Role::manager, "PATCH", "rayjobs", [](Json* b) {
    if (b->contains("status")) forget(b, "metadata", "resourceVersion");
  });
}
void deletes_by_name(SimOptions* options) {
  sends(options, Role::dispatcher, "DELETE", "", [](Json* b) { b->erase("preconditions"); });
}

// --- broken informers ---

/// Watches of that role do not show events of that type, from the `first` on.
void misses(SimOptions* options, Role role, std::string resource, std::string type, int first) {
  const auto seen = std::make_shared<int>(0);
  options->tampering.piece = [=](const Author& author, const std::string& target,
                                 std::string* piece) {
    if (author.role != role || target.find("/" + resource) == std::string::npos) return;
    std::istringstream lines(*piece);
    std::string kept;
    for (std::string line; std::getline(lines, line);) {
      const bool concerned = line.find("\"type\":\"" + type + "\"") != std::string::npos;
      if (!concerned || ++*seen < first) kept += line + "\n";
    }
    *piece = kept;
  };
}

void misses_deletions_on_the_hub(SimOptions* options) {
  misses(options, Role::manager, "workloads", "DELETED", 1);
}
void misses_changes_on_workers(SimOptions* options) {
  misses(options, Role::dispatcher, "workloads", "MODIFIED", 5);
}
void misses_new_workloads(SimOptions* options) {
  misses(options, Role::manager, "workloads", "ADDED", 5);
}
void misses_deletions_on_workers(SimOptions* options) {
  misses(options, Role::dispatcher, "", "DELETED", 1);
}

// --- broken leaders ---

void leads_at_once(SimOptions* options) {
  options->manager = [](ManagerPlan* plan, bool) { plan->leads_at_once = true; };
}
void leads_on(SimOptions* options) {
  options->manager = [](ManagerPlan* plan, bool) { plan->leads_on = true; };
}
void takes_over_too_early(SimOptions* options) {
  options->manager = [](ManagerPlan* plan, bool) {
    if (plan->election) plan->election->lease_duration = 1s;
  };
}
void takes_over_with_old_caches(SimOptions* options) {
  options->manager = [](ManagerPlan* plan, bool) { plan->old_caches = true; };
}

void keeps_old_tokens(SimOptions* options) {
  options->manager = [](ManagerPlan* plan, bool) { plan->old_tokens = true; };
}

// --- without a second look ---

void never_collects_garbage(SimOptions* options) {
  options->manager = [](ManagerPlan* plan, bool) { plan->core.dispatch.gc_interval = 0ms; };
}

struct Mutant {
  const char* name;
  void (*make)(SimOptions*);
  Worlds worlds;  ///< the kinds of trouble of its histories
  int seeds;      ///< one of the first so many notices
  friend void PrintTo(const Mutant& mutant, std::ostream* out) { *out << mutant.name; }
};

SimOptions options_for(const Worlds& worlds, std::uint64_t seed) {
  SimOptions options;
  options.seed = seed;
  options.keep_history = false;
  options.always = worlds;
  options.only = worlds;
  return options;
}

class Mutation : public ::testing::TestWithParam<Mutant> {};

TEST_P(Mutation, IsNoticed) {
  const Mutant& mutant = GetParam();
  for (int seed = 1; seed <= mutant.seeds; ++seed) {
    SimOptions options = options_for(mutant.worlds, std::uint64_t(seed));
    mutant.make(&options);
    const SimResult result = run_federation(options);
    if (result.violations.empty()) continue;
    std::printf("%s: noticed at seed %d: %s\n", mutant.name, seed,
                result.violations.front().c_str());
    // Otherwise that history would notice something else than the missing rule.
    const SimResult sound = run_federation(options_for(mutant.worlds, std::uint64_t(seed)));
    EXPECT_THAT(sound.violations, testing::IsEmpty()) << "of the sound implementation";
    return;
  }
  FAIL() << "no history of " << mutant.seeds << " noticed";
}

using enum Trouble;
const Worlds plain = {};
const Worlds users = {crashes, deletions, vandals};
const Worlds leaders = {crashes, standby, noise};

const Mutant mutants[] = {
    {"never_removes", never_removes, plain, 1},
    {"never_locks", never_locks, plain, 1},
    {"never_gives_up", never_gives_up, {partitions, vandals}, 5},
    {"never_winds_down", never_winds_down, {deactivation, kinds}, 8},
    {"never_finishes", never_finishes, plain, 1},
    {"never_copies_a_status", never_copies_a_status, plain, 1},
    {"removes_what_it_should_stop", removes_what_it_should_stop, {deactivation}, 8},
    {"gives_quota_back_at_once", gives_quota_back_at_once, {deactivation, preemption}, 10},
    {"gives_quota_of_pods_back", gives_quota_back_at_once, {deactivation, pods}, 10},
    {"removes_the_winner", removes_the_winner, plain, 1},
    {"creates_jobs_late", creates_jobs_late, plain, 1},
    {"has_no_grace", has_no_grace, {partitions}, 60},
    {"waits_for_ever", waits_for_ever, {losses}, 40},
    {"believes_the_record", believes_the_record, users, 5},
    {"forgets_the_record", forgets_the_record, plain, 2},
    {"overlooks_evictions_on_workers", overlooks_evictions_on_workers, {worker_evictions}, 5},
    {"overlooks_jobs_elsewhere", overlooks_jobs_elsewhere, {partitions, vandals, late}, 20},
    {"never_notices_a_loss", never_notices_a_loss, {losses}, 40},
    {"overlooks_evictions_on_the_hub",
     overlooks_evictions_on_the_hub,
     {deactivation, preemption},
     10},
    {"overlooks_other_checks", overlooks_other_checks, {other_checks}, 5},
    {"hands_over_blindly", hands_over_blindly, {elastic}, 3},
    {"takes_larger_sizes_for_new_jobs", takes_larger_sizes_for_new_jobs, {elastic}, 3},
    {"takes_no_place", takes_no_place, {elastic, noise}, 200},
    {"sends_larger_sizes_before_other_checks",
     sends_larger_sizes_before_other_checks,
     {elastic, other_checks},
     10},
    {"nominates_nothing", nominates_nothing, plain, 1},
    {"creates_running_jobs", creates_running_jobs, plain, 1},
    {"creates_jobs_without_origin", creates_jobs_without_origin, plain, 1},
    {"turns_ends_round", turns_ends_round, plain, 1},
    {"forgets_counts", forgets_counts, {kinds}, 5},
    {"misses_deletions_on_the_hub", misses_deletions_on_the_hub, users, 10},
    {"misses_changes_on_workers", misses_changes_on_workers, plain, 5},
    {"misses_new_workloads", misses_new_workloads, plain, 5},
    {"leads_at_once", leads_at_once, leaders, 5},
    {"leads_on", leads_on, {pauses, standby}, 5},
    {"takes_over_too_early", takes_over_too_early, leaders, 10},
    {"finishes_too_early", finishes_too_early, plain, 1},
    {"creates_copies_without_origin", creates_copies_without_origin, plain, 1},
    {"creates_jobs_without_their_workload", creates_jobs_without_their_workload, plain, 1},
    {"does_not_sign", does_not_sign, {equal_origins}, 5},
    {"does_not_say_through_which_name",
     does_not_say_through_which_name,
     {second_names, crashes, partitions},
     30},
    {"takes_a_missing_config_for_an_empty_one",
     takes_a_missing_config_for_an_empty_one,
     {configs},
     10},
    {"charges_too_much", charges_too_much, plain, 2},
    {"takes_any_end", takes_any_end, {out_of_sync}, 5},
    {"takes_unlisted_for_listed", takes_unlisted_for_listed, {configs}, 60},
    {"believes_any_worker_after_an_eviction",
     believes_any_worker_after_an_eviction,
     {byzantine, deactivation},
     40},
    {"brakes_for_unmarked_jobs", brakes_for_unmarked_jobs, {byzantine_keeps}, 3},
    {"leaves_quota_to_any_worker", leaves_quota_to_any_worker, {byzantine_keeps, deactivation}, 3},
    {"releases_after_every_removal", releases_after_every_removal, {byzantine_keeps, vandals}, 20},
    {"patches_any_version", patches_any_version, {late, deactivation, worker_evictions}, 40},
    {"takes_any_version_of_the_lease",
     takes_any_version_of_the_lease,
     {crashes, late, standby},
     100},
    {"patches_jobs_by_name", patches_jobs_by_name, {recreations, late, noise}, 100},
    {"copies_status_of_any_version",
     copies_status_of_any_version,
     {crashes, late, noise, job_kinds},
     200},
    {"deletes_by_name", deletes_by_name, {late, out_of_sync, recreations}, 200},
    {"misses_deletions_on_workers", misses_deletions_on_workers, {worker_evictions}, 7},
    {"takes_over_with_old_caches",
     takes_over_with_old_caches,
     {crashes, standby, deaf_standby, worker_evictions, kinds},
     30},
    {"never_collects_garbage", never_collects_garbage, {late, deletions}, 40},
    {"keeps_old_tokens", keeps_old_tokens, {rotations}, 10},
    {"believes_its_caches", believes_its_caches, {crashes, newer_objects}, 5},
};

INSTANTIATE_TEST_SUITE_P(, Mutation, ::testing::ValuesIn(mutants),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace regatta::simtest
