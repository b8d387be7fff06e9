#include "lifecycle/unadmitted.h"

#include "lib/api/names.h"

#include <gtest/gtest.h>

namespace regatta::lifecycle {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint now{1'800'000'000s};
constexpr const char* bypassed =
    "Bypassed scheduling evaluation because an equivalent workload recently failed";
constexpr const char* evaluation = "Workload is pending evaluation in the scheduling queue";

struct Case {
  const char* name;
  std::string said_reason;  ///< empty: there is no condition yet
  std::string said_message;
  std::string gates;
  std::string bypassed_for;
  bool may_tell = false;
  std::string want_reason;
  std::string want_message;
  std::string event = {};
  LifecycleConfig config = {};
};

class Unadmitted : public testing::TestWithParam<Case> {};

TEST_P(Unadmitted, Says) {
  const Case& c = GetParam();
  api::Workload w;
  w.spec.queue_name = "main";
  if (!c.said_reason.empty()) {
    w.status = *pending_status(w, c.said_reason, c.said_message, false, now - 1min);
  }
  if (!c.gates.empty()) {
    w.metadata.annotations[std::string(api::annotations::admission_gated_by)] = c.gates;
  }
  LifecycleView view;
  view.local_queue = view.cluster_queue = {true, true, api::StopPolicy::None};
  view.cluster_queue_name = "cq";
  view.bypassed = c.bypassed_for;
  view.may_tell_bypassed = c.may_tell;
  const auto waiting = explain_pending(w, view, c.config);
  if (waiting) {
    auto status = pending_status(w, waiting->reason, waiting->message, false, now);
    if (status) w.status = std::move(*status);
  }
  const auto* said = api::find_condition(w.status.conditions, api::conditions::quota_reserved);
  EXPECT_EQ(said ? said->reason : "", c.want_reason);
  EXPECT_EQ(said ? said->message : "", c.want_message);
  const std::optional<Note> note = waiting ? waiting->note : std::nullopt;
  EXPECT_EQ(note ? note->reason + ": " + note->message : "", c.event);
  if (const auto again = explain_pending(w, view, c.config)) {
    EXPECT_FALSE(pending_status(w, again->reason, again->message, false, now)) << "said twice";
    EXPECT_FALSE(again->note);
  }
}

LifecycleConfig without_gates() {
  LifecycleConfig config;
  config.admission_gates = false;
  return config;
}
LifecycleConfig explicitly() {
  LifecycleConfig config;
  config.explicit_status = true;
  return config;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Unadmitted,
    testing::Values(
        Case{"on_hold_stays_so", "OnHold", "Job is on hold", "", "WaitingForQuota", true, "OnHold",
             "Job is on hold"},
        Case{"a_gate_is_named", "", "", "team.dev/approval", "", false, "AdmissionGated",
             "Admission is gated by: team.dev/approval",
             "AdmissionGated: Workload admission is gated by: team.dev/approval"},
        Case{"a_gate_counts_more_than_its_likes", "PendingEvaluation", evaluation, "a.dev/b",
             "WaitingForQuota", true, "AdmissionGated", "Admission is gated by: a.dev/b",
             "AdmissionGated: Workload admission is gated by: a.dev/b"},
        Case{"another_gate_changes_the_message_only", "AdmissionGated",
             "Admission is gated by: a.dev/b,c.dev/d", "c.dev/d", "", false, "AdmissionGated",
             "Admission is gated by: c.dev/d"},
        Case{"an_opened_gate_is_told", "AdmissionGated", "Admission is gated by: a.dev/b", "", "",
             false, "PendingEvaluation", "AdmissionGatedBy cleared, waiting for quota reservation"},
        Case{"a_preemption_gate_is_the_schedulers", "AdmissionGated",
             "Workload requires preemption, but it's gated", "", "", true, "AdmissionGated",
             "Workload requires preemption, but it's gated"},
        Case{"without_the_feature_a_gate_is_an_annotation", "", "", "a.dev/b", "", false, "", "",
             "", without_gates()},
        Case{"one_passed_over_says_so_in_its_turn", "", "", "", "ExceedsMaxQuota", true,
             "ExceedsMaxQuota", bypassed},
        Case{"and_not_before", "", "", "", "ExceedsMaxQuota", false, "", ""},
        Case{"what_is_written_anyway_says_it_at_once", "Suspended", "ClusterQueue cq is inactive",
             "", "WaitingForQuota", false, "WaitingForQuota", bypassed},
        Case{"one_that_was_looked_at_keeps_what_the_scheduler_found", "WaitingForQuota",
             "couldn't assign flavors", "", "WaitingForQuota", true, "WaitingForQuota",
             "couldn't assign flavors"},
        Case{"what_is_no_longer_true_is_taken_back", "Deactivated", "The workload is deactivated",
             "", "", false, "PendingEvaluation", evaluation},
        Case{"nothing_is_said_of_a_new_one", "", "", "", "", true, "", ""},
        Case{"unless_it_shall", "", "", "", "", false, "PendingEvaluation", evaluation, "",
             explicitly()}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace regatta::lifecycle
