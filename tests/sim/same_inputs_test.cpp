// The manager decides on what its informers hold, `regatta simulate` on what manifests say. Both
// read it through jobs::Lookup; here both are given the same objects, as they come up in histories
// with faults, and must come to the same decisions.
#include "controllers/live_fleet.h"
#include "jobs/elastic.h"
#include "jobs/integrations/integrations.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lifecycle/read_lifecycle.h"
#include "tests/sim/federation.h"
#include "whatif/engine/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace regatta::simtest {
namespace {

using jobs::JobAction;
using jobs::JobPtr;
using jobs::JobView;
using jobs::WorkloadPtr;

std::string text_of(const JobView& view) {
  std::string out = view.managed ? "managed" : "not managed";
  out += " queue " + view.queue_name + " default " + view.default_queue + " priority " +
         std::to_string(view.priority);
  if (view.priority_class)
    out += " of " + view.priority_class->kind + " " + view.priority_class->name;
  for (const jobs::PodSetInfo& info : view.infos) {
    out += " " + info.name + ":" + std::to_string(info.count) + " " +
           dump_json(Json(info.node_selector)) + dump_json(Json(info.labels));
  }
  return out + " -> " + jobs::describe(jobs::plan_job(view));
}

std::string text_of(const api::Workload& workload, lifecycle::LifecycleView view, TimePoint now) {
  // Only cycles tell, and the twin runs none.
  view.bypassed.clear();
  const lifecycle::Settled settled = lifecycle::settle(workload, view, now);
  api::Workload after = workload;
  if (settled.status) after.status = *settled.status;
  return view.cluster_queue_name + (view.local_queue.exists ? " local" : "") +
         (view.cluster_queue.exists ? " cluster" : "") +
         (view.cluster_queue.active ? " active" : "") + (settled.status ? " changed " : " ") +
         dump_json(api::to_json(after)["status"]);
}

const api::Workload* created_by(const std::vector<JobAction>& actions) {
  for (const JobAction& action : actions) {
    if (const auto* create = std::get_if<jobs::CreateWorkload>(&action)) return &create->workload;
  }
  return nullptr;
}

/// The same objects, read by both.
class Twins {
 public:
  Twins(SimCluster& hub, TimePoint now)
      : hub_(hub),
        core_(*hub.core()),
        local_(core_.local()),
        now_(now),
        grid_{now, now + std::chrono::hours(1), std::chrono::minutes(1)},
        twin_(settings(), &grid_, &agenda_, &records_) {
    feed(local_.namespaces);
    feed(local_.priority_classes);
    feed(local_.workload_priority_classes);
    feed(local_.flavors);
    feed(local_.cohorts);
    feed(local_.multikueue_configs);
    feed(local_.checks);
    feed(local_.cluster_queues);
    feed(local_.local_queues);
    feed(local_.workloads);
    for (const JobPtr& job : local_.jobs.list()) {
      if (const auto object = stored(*job)) twin_.apply(*object, now_);
    }
  }

  void compare_jobs() {
    for (const JobPtr& job : local_.jobs.list()) {
      // A simulation forgets what is over, and its jobs keep their size.
      if (!stored(*job) || has_finished_workload(*job) || jobs::is_marked_elastic(*job)) continue;
      const jobs::JobConfig config;
      const JobView ours = jobs::read_job(local_.objects(), job, config, now_);
      const std::vector<JobAction> wanted = jobs::plan_job(ours);
      if (const api::Workload* made = created_by(wanted)) {
        same(job->metadata().name + " asks for",
             dump_json(api::to_json(*made)["spec"]) + made->metadata.name, workload_of(*job));
        ++created;
        continue;
      }
      if (ours.owned.empty()) continue;
      const JobPtr theirs = twin_.job(jobs::id_of(*job));
      ASSERT_TRUE(theirs) << job->metadata().name;
      same(job->metadata().name, text_of(ours),
           text_of(jobs::read_job(twin_, theirs, config, now_)));
      ++planned;
    }
  }

  void compare_workloads() {
    const controllers::LiveFleet fleet(core_.fleet(), local_);
    const dispatch::ForeignJobs foreign;
    const dispatch::PlanConfig config;
    for (const WorkloadPtr& workload : local_.workloads.list()) {
      if (api::is_true(workload->status.conditions, api::conditions::finished)) continue;
      if (jobs::is_slice(*workload)) continue;
      // The informer lags behind the API server: the twin was not given that Job.
      const JobPtr owner = jobs::owner_of(local_.objects(), *workload);
      if (owner && !twin_.job(jobs::id_of(*owner))) continue;
      const api::ObjectKey key = workload->metadata.key();
      const auto plan = [&](const jobs::Lookup& hub) {
        return dispatch::describe(dispatch::plan(
            dispatch::read_group(hub, fleet, foreign, key, now_, config), now_, config));
      };
      same(key.str() + " dispatch", plan(local_.objects()), plan(twin_));
      ++dispatched;
      // In a simulation every check has a controller that answers.
      if (!checks_active()) continue;
      const auto settle = [&](const jobs::Lookup& objects,
                              const admission::StatusReader& admission) {
        return text_of(*workload, lifecycle::read_lifecycle(objects, admission, *workload), now_);
      };
      same(key.str() + " lifecycle", settle(local_.objects(), core_.scheduler().reader()),
           settle(twin_, twin_.state().reader()));
      ++settled;
    }
  }

  int created = 0, planned = 0, dispatched = 0, settled = 0;
  std::vector<std::string> differences;

 private:
  static whatif::ClusterSettings settings() {
    whatif::ClusterSettings settings;
    settings.kinds = jobs::all_kinds();
    settings.dispatches = true;
    return settings;
  }

  template <class Informer>
  void feed(const Informer& informer) {
    for (const auto& object : informer.list()) twin_.apply(*object, now_);
  }

  /// The Job as the API server has it, if that is what the informer has.
  std::optional<api::Job> stored(const jobs::GenericJob& job) const {
    const apiserver::Shelf* shelf = hub_.server().store().find_shelf("jobs.batch");
    if (!shelf) return {};
    for (const auto& [name, object] : shelf->objects()) {
      auto read = api::from_json<api::Job>(object->value());
      if (!read || read->metadata.key() != job.metadata().key()) continue;
      const bool same = read->metadata.resource_version == job.metadata().resource_version;
      return same ? std::optional(std::move(*read)) : std::nullopt;
    }
    return {};
  }

  bool has_finished_workload(const jobs::GenericJob& job) const {
    const auto owned = local_.objects().workloads_of(jobs::id_of(job));
    return std::any_of(owned.begin(), owned.end(), [](const WorkloadPtr& one) {
      return api::is_true(one->status.conditions, api::conditions::finished);
    });
  }

  std::string workload_of(const jobs::GenericJob& job) const {
    const auto found = twin_.workloads_of(jobs::id_of(job));
    if (found.empty()) return "nothing";
    return dump_json(api::to_json(*found.front())["spec"]) + found.front()->metadata.name;
  }

  bool checks_active() const {
    const auto all = local_.checks.list();
    return std::all_of(all.begin(), all.end(), [](const auto& check) {
      return api::is_true(check->status.conditions, api::conditions::active);
    });
  }

  void same(const std::string& what, const std::string& ours, const std::string& theirs) {
    if (ours != theirs) {
      differences.push_back(what + "\n  manager:  " + ours + "\n  simulate: " + theirs);
    }
  }

  SimCluster& hub_;
  manager::Core& core_;
  clusters::LocalCluster& local_;
  TimePoint now_;
  whatif::Grid grid_;
  whatif::Agenda agenda_;
  whatif::Records records_;
  whatif::Cluster twin_;
};

TEST(SameInputs, ManagerAndSimulateDecideAlikeInHistoriesWithFaults) {
  int created = 0, planned = 0, dispatched = 0, settled = 0;
  std::vector<std::string> differences;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SimOptions options;
    options.seed = seed;
    options.keep_history = false;
    options.steps_between_looks = 19;
    options.on_look = [&](SimCluster& hub, TimePoint now) {
      if (!hub.core() || !hub.core()->synced() || differences.size() > 5) return;
      Twins twins(hub, now);
      twins.compare_jobs();
      twins.compare_workloads();
      created += twins.created;
      planned += twins.planned;
      dispatched += twins.dispatched;
      settled += twins.settled;
      for (const std::string& one : twins.differences) {
        differences.push_back("seed " + std::to_string(seed) + " " + one);
      }
    };
    EXPECT_THAT(run_federation(options).violations, testing::IsEmpty()) << "seed " << seed;
  }
  EXPECT_THAT(differences, testing::IsEmpty());
  std::printf("compared: %d new Workloads, %d plans of jobs, %d of dispatch, %d of lifecycle\n",
              created, planned, dispatched, settled);
  EXPECT_GT(created, 10);
  EXPECT_GT(planned, 100);
  EXPECT_GT(dispatched, 100);
  EXPECT_GT(settled, 100);
}

/// The same fleet without what workloads share of it.
class WithoutRoster final : public dispatch::FleetView {
 public:
  explicit WithoutRoster(const FleetView& fleet) : fleet_(fleet) {}
  void for_each_worker(const api::ObjectKey& workload, const std::vector<std::string>& listed,
                       const Visit& visit) const override {
    fleet_.for_each_worker(workload, listed, visit);
  }

 private:
  const FleetView& fleet_;
};

/// A change of a worker that the fleet has seen and not told yet is not in the roster.
bool all_told(const clusters::Fleet& fleet) {
  const auto& members = fleet.members();
  return std::all_of(members.begin(), members.end(), [](const auto& entry) {
    const auto& [name, member] = entry;
    return member.ready() == member.was_ready &&
           (!member.remote || member.remote->unserved() == member.unserved);
  });
}

struct Compared {
  int alike = 0, nominating = 0, with_roster = 0;
  std::vector<std::string> differences;
};

void compare_with_and_without_roster(manager::Core& core, const controllers::LiveFleet& fleet,
                                     TimePoint now, Compared* out) {
  const clusters::LocalCluster& local = core.local();
  const WithoutRoster without(fleet);
  for (const WorkloadPtr& workload : local.workloads.list()) {
    const api::ObjectKey key = workload->metadata.key();
    // Some workers have jobs of users with the names of the hub's.
    dispatch::ForeignJobs foreign;
    const JobPtr owner = jobs::owner_of(local.objects(), *workload);
    for (const auto& [name, member] : core.fleet().members()) {
      if (owner && (std::hash<std::string>()(name + key.str()) & 7) == 0) {
        foreign.add(name, jobs::id_of(*owner), SteadyPoint());
      }
    }
    for (const auto by : {placement::Dispatcher::all_at_once, placement::Dispatcher::incremental,
                          placement::Dispatcher::external, placement::Dispatcher::capacity}) {
      dispatch::PlanConfig config;
      config.nomination.dispatcher = by;
      const auto plan = [&](const dispatch::FleetView& view) {
        auto group = dispatch::read_group(local.objects(), view, foreign, key, now, config);
        if (group.roster) ++out->with_roster;
        return dispatch::describe(dispatch::plan(group, now, config));
      };
      const std::string quick = plan(fleet), thorough = plan(without);
      if (quick != thorough) {
        out->differences.push_back(key.str() + "\n  with:    " + quick +
                                   "\n  without: " + thorough);
      }
      ++out->alike;
      if (quick.find("nominate") != std::string::npos) ++out->nominating;
    }
  }
}

TEST(SameInputs, ALargeFleetsRosterChangesNoDecision) {
  Compared compared;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    SimOptions options;
    options.seed = seed;
    options.keep_history = false;
    options.workers = 30;
    options.jobs = 30;
    options.always = {Trouble::noise, Trouble::partitions, Trouble::deactivation,
                      Trouble::lasting_refusals};
    options.only = options.always;
    options.steps_between_looks = 97;
    // Without crashes a hub has one manager, whose fleet is looked at over and over.
    std::unique_ptr<controllers::LiveFleet> fleet;
    options.on_look = [&](SimCluster& hub, TimePoint now) {
      manager::Core* core = hub.core();
      if (!core || !core->synced() || compared.differences.size() > 5) return;
      if (!fleet) fleet = std::make_unique<controllers::LiveFleet>(core->fleet(), core->local());
      if (all_told(core->fleet())) {
        compare_with_and_without_roster(*core, *fleet, now, &compared);
      }
    };
    EXPECT_THAT(run_federation(options).violations, testing::IsEmpty()) << "seed " << seed;
  }
  EXPECT_THAT(compared.differences, testing::IsEmpty());
  std::printf("compared: %d plans, of which %d nominate and %d have a roster\n", compared.alike,
              compared.nominating, compared.with_roster);
  EXPECT_GT(compared.nominating, 100);
  EXPECT_GT(compared.with_roster, 100);
}

}  // namespace
}  // namespace regatta::simtest
