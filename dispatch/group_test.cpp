#include "dispatch/group.h"

#include "jobs/integrations/no_objects.h"
#include "lib/api/names.h"

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace regatta::dispatch {
namespace {

/// Has one check of MultiKueue, another one that it was exchanged for, and one of another
/// controller.
class Checks final : public jobs::NoObjects {
 public:
  std::shared_ptr<const api::AdmissionCheck> admission_check(
      const std::string& name) const override {
    auto check = std::make_shared<api::AdmissionCheck>();
    check->metadata.name = name;
    if (name == "fleet" || name == "exchanged") {
      check->spec.controller_name = std::string(api::multikueue_controller_name);
    } else if (name == "budget") {
      check->spec.controller_name = "cloud.example/budget";
    } else {
      return nullptr;
    }
    return check;
  }
};

struct CheckCase {
  const char* name;
  bool recorded;  ///< a worker
  bool admitted;
  std::vector<std::pair<const char*, api::CheckState>> states;
  const char* mine;  ///< the check of MultiKueue; empty: none
  bool others_ready;
  friend void PrintTo(const CheckCase& c, std::ostream* out) { *out << c.name; }
};

class ChecksOfAWorkload : public testing::TestWithParam<CheckCase> {};

TEST_P(ChecksOfAWorkload, AreMultiKueuesOrHaveASayOfTheirOwn) {
  const CheckCase& given = GetParam();
  api::WorkloadStatus status;
  for (const auto& [name, state] : given.states) {
    api::AdmissionCheckState& check = status.admission_checks.emplace_back();
    check.name = name;
    check.state = state;
  }
  if (given.recorded) status.cluster_name = "a";
  if (given.admitted) {
    api::Condition admitted;
    admitted.type = std::string(api::conditions::admitted);
    admitted.status = api::ConditionStatus::True;
    status.conditions.push_back(admitted);
  }
  const Checks hub;
  const api::AdmissionCheckState* mine = multikueue_check(hub, status);
  EXPECT_EQ(mine == nullptr ? std::string() : mine->name, given.mine);
  EXPECT_EQ(other_checks_ready(hub, status, mine), given.others_ready);
}

constexpr auto ready = api::CheckState::Ready;
constexpr auto pending = api::CheckState::Pending;

INSTANTIATE_TEST_SUITE_P(
    Table, ChecksOfAWorkload,
    testing::Values(
        CheckCase{"another_one_waits",
                  false,
                  false,
                  {{"budget", pending}, {"fleet", pending}},
                  "fleet",
                  false},
        CheckCase{"another_one_is_ready",
                  false,
                  false,
                  {{"budget", ready}, {"fleet", pending}},
                  "fleet",
                  true},
        CheckCase{"no_check_of_multikueue", false, false, {{"budget", ready}}, "", true},
        CheckCase{"a_check_that_is_gone_waits",
                  false,
                  false,
                  {{"gone", pending}, {"fleet", pending}},
                  "fleet",
                  false},
        CheckCase{"the_only_check_is_gone", false, false, {{"gone", pending}}, "", false},
        CheckCase{"exchanged_before_a_worker_is_recorded",
                  false,
                  false,
                  {{"fleet", pending}, {"exchanged", pending}},
                  "fleet",
                  false},
        CheckCase{"exchanged_on_a_worker",
                  true,
                  true,
                  {{"exchanged", pending}, {"fleet", ready}},
                  "fleet",
                  true},
        CheckCase{"another_one_waits_on_a_worker",
                  true,
                  true,
                  {{"budget", pending}, {"fleet", ready}},
                  "fleet",
                  false},
        CheckCase{"another_one_is_ready_on_a_worker",
                  true,
                  true,
                  {{"budget", ready}, {"fleet", pending}},
                  "fleet",
                  true},
        CheckCase{"gone_on_a_worker", true, true, {{"gone", ready}}, "gone", true},
        CheckCase{"gone_and_exchanged_on_a_worker",
                  true,
                  true,
                  {{"exchanged", pending}, {"gone", ready}},
                  "gone",
                  true},
        CheckCase{"gone_beside_another_one_on_a_worker",
                  true,
                  false,
                  {{"budget", pending}, {"gone", ready}},
                  "gone",
                  false}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace regatta::dispatch
