#include "placement/automated_quota.h"

#include <gtest/gtest.h>

namespace regatta::placement {
namespace {

using Quotas = std::vector<std::pair<std::string, std::string>>;

api::Quantity number(const std::string& text) {
  return api::Quantity::parse(text).value();
}

api::FlavorQuotas flavor(const std::string& name, const Quotas& quotas) {
  api::FlavorQuotas out;
  out.name = name;
  for (const auto& [resource, quota] : quotas) {
    out.resources.push_back({resource, number(quota), std::nullopt, std::nullopt});
  }
  return out;
}

api::ClusterQueueSpec spec_of(const std::vector<api::FlavorQuotas>& flavors) {
  api::ClusterQueueSpec spec;
  api::ResourceGroup& group = spec.resource_groups.emplace_back();
  for (const auto& one : flavors.front().resources) group.covered_resources.push_back(one.name);
  group.flavors = flavors;
  return spec;
}

std::shared_ptr<const api::ClusterQueue> queue(const std::vector<api::FlavorQuotas>& flavors) {
  api::ClusterQueue out;
  out.spec = spec_of(flavors);
  return std::make_shared<const api::ClusterQueue>(std::move(out));
}

/// A hub with CPU and memory, and two workers.
AutomatedQuotaInput given() {
  AutomatedQuotaInput input;
  input.requested = true;
  input.spec = spec_of({flavor("any", {{"cpu", "1"}, {"memory", "1Gi"}})});
  input.on_workers = {
      queue({flavor("spot", {{"cpu", "2500m"}}), flavor("reserved", {{"cpu", "4"}})}),
      queue({flavor("x", {{"cpu", "10"}, {"memory", "64Gi"}})})};
  return input;
}

/// "reason: groups", or "wait".
std::string decided(const AutomatedQuotaInput& input) {
  const auto out = automated_quota(input);
  if (!out) return "wait";
  if (out->reason == "UnsupportedConfiguration") return out->message;
  return out->reason + ": " + (out->groups ? quota_text(*out->groups) : "as it is");
}

TEST(AutomatedQuota, IsTheSumOfAllFlavorsOfAllWorkers) {
  AutomatedQuotaInput input = given();
  EXPECT_EQ(decided(input), "QuotaAutomated: cpu 16500m, memory 64Gi");
  input.spec = spec_of({flavor("any", {{"cpu", "16.5"}, {"memory", "65536Mi"}})});
  EXPECT_EQ(decided(input), "QuotaAutomated: as it is") << "the same numbers";
  input.on_workers.clear();
  EXPECT_EQ(decided(input), "QuotaAutomated: cpu 0, memory 0");
}

TEST(AutomatedQuota, ARefusalSaysWhy) {
  AutomatedQuotaInput input = given();
  input.on_workers.push_back(
      queue({flavor("x", {{"nvidia.com/gpu", "8"}, {"hugepages-1Gi", "1"}})}));
  EXPECT_EQ(decided(input),
            "manager-side coveredResources is missing resources configured on workers: "
            "[hugepages-1Gi nvidia.com/gpu]");
  input = given();
  input.spec.resource_groups.front().flavors.push_back(flavor("two", {{"cpu", "1"}}));
  const std::string one_flavor =
      "Quota automation requires that the manager-side ClusterQueue has exactly one ResourceFlavor";
  EXPECT_EQ(decided(input), one_flavor);
  input.spec.resource_groups.clear();
  EXPECT_EQ(decided(input), one_flavor);
  input = given();
  input.withheld = {"east (clusterqueues)"};
  EXPECT_EQ(decided(input),
            "the hub may not read the queues of worker clusters: east (clusterqueues)");
  input.config_found = false;
  EXPECT_EQ(decided(input), "The referenced MultiKueueConfig was not found.");
}

TEST(AutomatedQuota, NothingChangesWhileAWorkerIsNotKnown) {
  AutomatedQuotaInput input = given();
  input.unknown = {"east"};
  EXPECT_EQ(decided(input), "wait");
  input.requested = false;
  EXPECT_EQ(decided(input), "NotRequested: as it is");
}

TEST(AutomatedQuota, LimitsStayAndNoMoreIsLentThanThereIs) {
  AutomatedQuotaInput input = given();
  auto& cpu = input.spec.resource_groups.front().flavors.front().resources.front();
  cpu.borrowing_limit = number("3");
  cpu.lending_limit = number("20");
  const auto out = automated_quota(input);
  ASSERT_TRUE(out && out->groups);
  const api::ResourceQuota& after = out->groups->front().flavors.front().resources.front();
  EXPECT_EQ(after.borrowing_limit, number("3"));
  EXPECT_EQ(after.lending_limit, number("16500m"));
}

}  // namespace
}  // namespace regatta::placement
