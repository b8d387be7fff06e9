#include "lib/base/json_access.h"
#include "tests/sim/broken_kinds.h"
#include "tests/sim/federation.h"
#include "tests/sim/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// Kinds of jobs that are broken in one place. Each kind is broken in each of these ways, and some
/// history must notice.
namespace regatta::simtest::broken {
namespace {

using Job = Breakage::Job;
using Change = std::function<void(Json*, const KindOfJob&)>;

/// The worker's job is another one than it should be.
void sends_job(Breakage* broken, const KindOfJob& kind, Change change) {
  broken->remote_job = [&kind, change](Job job, const api::Workload& workload,
                                       const std::string& origin) {
    Json remote = job.remote_job(workload, origin);
    change(&remote, kind);
    return remote;
  };
}

/// The status that comes home is another one than it should be.
void copies(Breakage* broken, std::function<void(Json*)> change) {
  broken->status_patch = [change](Job job, Job remote) {
    Json patch = job.status_patch(remote);
    if (patch.contains("status")) change(&patch["status"]);
    return patch;
  };
}

template <class Visit>
void each_below(Json* value, const Visit& visit) {
  if (!value->is_structured()) return;
  visit(value);
  for (Json& one : *value) each_below(&one, visit);
}

void starts_without_infos(Breakage* broken, const KindOfJob&) {
  broken->start_patch = [](Job job, const Breakage::Infos& infos) {
    Breakage::Infos blank;
    for (const jobs::PodSetInfo& info : infos) {
      blank.emplace_back();
      blank.back().name = info.name;
      blank.back().count = info.count;
    }
    return job.start_patch(blank);
  };
}
void never_stops(Breakage* broken, const KindOfJob&) {
  broken->next_stop_step = [](Job, const api::Workload*) { return std::nullopt; };
}
void never_ends(Breakage* broken, const KindOfJob&) {
  broken->finished = [](Job) { return std::nullopt; };
}
void ends_the_other_way_round(Breakage* broken, const KindOfJob&) {
  broken->finished = [](Job job) {
    auto end = job.finished();
    if (end) end->success = !end->success;
    return end;
  };
}
void ends_when_it_starts(Breakage* broken, const KindOfJob&) {
  broken->finished = [](Job job) {
    auto end = job.finished();
    if (!end && job.active()) end = jobs::Finished{true, "enough"};
    return end;
  };
}
void never_runs(Breakage* broken, const KindOfJob&) {
  broken->active = [](Job) { return false; };
}
void is_never_suspended(Breakage* broken, const KindOfJob&) {
  broken->suspended = [](Job) { return false; };
}
void is_not_for_multikueue(Breakage* broken, const KindOfJob&) {
  broken->not_managed_reason = [](Job) { return "no"; };
}
void sends_it_running(Breakage* broken, const KindOfJob& kind) {
  sends_job(broken, kind, [](Json* job, const KindOfJob& of) { (*job)[of.suspend] = false; });
}
void sends_it_with_its_manager(Breakage* broken, const KindOfJob& kind) {
  sends_job(broken, kind, [](Json* job, const KindOfJob& of) {
    (*job)[of.managed_by] = "kueue.x-k8s.io/multikueue";
  });
}
void sends_it_without_origin(Breakage* broken, const KindOfJob& kind) {
  sends_job(broken, kind, [](Json* job, const KindOfJob&) {
    (*job)["metadata"]["labels"].erase("kueue.x-k8s.io/multikueue-origin");
  });
}
void sends_it_without_its_workload(Breakage* broken, const KindOfJob& kind) {
  sends_job(broken, kind, [](Json* job, const KindOfJob&) {
    (*job)["metadata"]["annotations"].erase("kueue.x-k8s.io/prebuilt-workload-name");
  });
}
void sends_what_the_hub_added(Breakage* broken, const KindOfJob& kind) {
  sends_job(broken, kind, [](Json* job, const KindOfJob&) {
    (*job)["spec"]["of-the-hub"] = {{"nodeSelector", {{"pool", "hub"}}}};
  });
}
void copies_nothing(Breakage* broken, const KindOfJob&) {
  broken->status_patch = [](Job, Job) { return Json::object(); };
}
void copies_no_end(Breakage* broken, const KindOfJob&) {
  broken->status_patch = [](Job job, Job remote) {
    return remote.finished() ? Json::object() : job.status_patch(remote);
  };
}
void turns_ends_round(Breakage* broken, const KindOfJob&) {
  copies(broken, [](Json* status) {
    each_below(status, [](Json* part) {
      for (const char* field : {"type", "jobDeploymentStatus", "phase"}) {
        const std::string word = part->is_object() ? text_at(*part, field) : "";
        const bool done = word == "Complete" || word == "Completed" || word == "Succeeded";
        if (done) (*part)[field] = "Failed";
      }
    });
  });
}
void forgets_counts(Breakage* broken, const KindOfJob&) {
  copies(broken, [](Json* status) {
    each_below(status, [](Json* part) {
      if (!part->is_object()) return;
      for (const char* field : {"succeeded", "failed"}) part->erase(field);
    });
  });
}

using Worlds = std::set<Trouble>;
using enum Trouble;

struct BrokenWay {
  const char* name;
  void (*make)(Breakage*, const KindOfJob&);
  Worlds worlds = {};        ///< besides job_kinds
  int seeds = 1;             ///< one of the first so many notices
  const char* but_not = "";  ///< the kind that lacks the rule, or guards it twice
  bool second_guard = true;  ///< the hub also asks whether a worker may still run the job
};

const BrokenWay ways[] = {
    {"starts_without_infos", starts_without_infos},
    {"never_stops", never_stops, {deactivation}, 5},
    {"never_ends", never_ends},
    {"ends_the_other_way_round", ends_the_other_way_round},
    {"ends_when_it_starts", ends_when_it_starts},
    // A TrainJob is not stopped before its status on the hub counts no pods.
    {"never_runs", never_runs, {deactivation, preemption}, 3, "TrainJob", false},
    {"is_never_suspended", is_never_suspended},
    {"is_not_for_multikueue", is_not_for_multikueue},
    {"sends_it_running", sends_it_running},
    {"sends_it_with_its_manager", sends_it_with_its_manager},
    {"sends_it_without_origin", sends_it_without_origin},
    {"sends_it_without_its_workload", sends_it_without_its_workload},
    {"sends_what_the_hub_added", sends_what_the_hub_added},
    {"copies_nothing", copies_nothing},
    {"copies_no_end", copies_no_end},
    {"turns_ends_round", turns_ends_round},
    {"forgets_counts", forgets_counts, {}, 1, "AppWrapper"},
};

struct BrokenCase {
  std::string kind;
  BrokenWay way;
  friend void PrintTo(const BrokenCase& c, std::ostream* out) { *out << c.kind << c.way.name; }
};

std::vector<BrokenCase> broken_cases() {
  std::vector<BrokenCase> all;
  for (const KindOfJob& kind : kinds_of_jobs()) {
    if (kind.resource.kind == "Job") continue;
    for (const BrokenWay& way : ways) {
      if (kind.resource.kind != way.but_not) all.push_back({std::string(kind.resource.kind), way});
    }
  }
  return all;
}

SimOptions options_for(const std::string& kind, const Worlds& worlds, int seed) {
  SimOptions options;
  options.seed = std::uint64_t(seed);
  options.keep_history = false;
  options.job_kind = kind;
  options.jobs = 6;
  options.always = worlds;
  options.always.insert(job_kinds);
  options.only = options.always;
  return options;
}

class BrokenKinds : public ::testing::TestWithParam<BrokenCase> {};

TEST_P(BrokenKinds, AreNoticed) {
  const auto& [kind, way] = GetParam();
  Breakage breakage;
  way.make(&breakage, kind_named(kind));
  for (int seed = 1; seed <= way.seeds; ++seed) {
    SimOptions options = options_for(kind, way.worlds, seed);
    options.manager = [&, second_guard = way.second_guard](ManagerPlan* plan, bool) {
      plan->core.kinds = with_broken(plan->core.kinds, kind, breakage);
      if (second_guard) return;
      plan->core.jobs.may_run_on_worker = [](const api::ObjectKey&) { return false; };
    };
    const SimResult result = run_federation(options);
    if (result.violations.empty()) continue;
    std::printf("%s %s: noticed at seed %d: %s\n", kind.c_str(), way.name, seed,
                result.violations.front().c_str());
    return;
  }
  FAIL() << "no history of " << way.seeds << " noticed";
}

INSTANTIATE_TEST_SUITE_P(, BrokenKinds, ::testing::ValuesIn(broken_cases()), [](const auto& param) {
  return param.param.kind + "_" + param.param.way.name;
});

TEST(BrokenKindsBesides, SoundKindsHoldInTheirWorlds) {
  for (const KindOfJob& kind : kinds_of_jobs()) {
    for (const Worlds& worlds :
         {Worlds{}, Worlds{deactivation}, Worlds{deactivation, preemption}}) {
      const SimOptions options = options_for(std::string(kind.resource.kind), worlds, 1);
      EXPECT_THAT(run_federation(options).violations, testing::IsEmpty()) << kind.resource.kind;
    }
  }
}

}  // namespace
}  // namespace regatta::simtest::broken
