#include "manager/probes.h"

#include "lib/runtime/task_scope.h"
#include "lib/sim/world.h"
#include "manager/metrics.h"

#include <gtest/gtest.h>

namespace regatta::manager {
namespace {

std::string described(std::string_view text) {
  const auto address = parse_bind_address(text);
  if (!address) return "refused";
  if (!*address) return "off";
  return (*address)->host + " " + std::to_string((*address)->port);
}

TEST(BindAddress, IsHostAndPort) {
  EXPECT_EQ(described(":8081"), "0.0.0.0 8081");
  EXPECT_EQ(described("127.0.0.1:0"), "127.0.0.1 0");
  EXPECT_EQ(described("[::1]:443"), "::1 443");
  EXPECT_EQ(described("localhost:80"), "127.0.0.1 80");
  EXPECT_EQ(described("0"), "off");
  EXPECT_EQ(described(""), "off");
  EXPECT_EQ(described("8081"), "refused");
  EXPECT_EQ(described(":http"), "refused");
  EXPECT_EQ(described(":65536"), "refused");
  EXPECT_EQ(described("::1:80"), "refused");
}

class Pages : public ::testing::Test {
 protected:
  net::HttpResponse get(std::string method, std::string target) {
    sim::World world(1);
    TaskScope scope(world.executor());
    net::HttpResponse got;
    auto ask = [&]() -> Task<> {
      net::HttpRequest request(method, target);
      got = co_await pages.handle(std::move(request));
    };
    scope.spawn("ask", ask());
    world.run_until(SteadyPoint(std::chrono::seconds(1)));
    return got;
  }
  TextPages pages;
};

TEST_F(Pages, ReadinessFollowsTheManager) {
  bool ready = false;
  add_probe_pages(&pages, HealthConfig(), [&] { return ready; });
  EXPECT_EQ(get("GET", "/healthz").status, 200u);
  EXPECT_EQ(get("GET", "/readyz").status, 500u);
  ready = true;
  EXPECT_EQ(get("GET", "/readyz?verbose").status, 200u);
  EXPECT_EQ(get("POST", "/readyz").status, 405u);
  EXPECT_EQ(get("GET", "/").status, 404u);
}

TEST_F(Pages, MetricsAreText) {
  Metrics metrics({"standalone", false, {}}, "1.2.3");
  CoreConfig config;
  metrics.hook_into(&config);
  config.scheduler.on_cycle({.success = true,
                             .took = Duration(20),
                             .skipped_preemptors = {"cq", "cq"},
                             .recomputed = {{"cq", admission::Recomputed::Outcome::deferred_fit}}});
  config.dispatch.on_dispatched("fleet", "east");
  add_metrics_page(&pages, [&] { return metrics.text(); });
  const net::HttpResponse got = get("GET", "/metrics");
  EXPECT_EQ(got.status, 200u);
  for (const char* line :
       {"kueue_admission_attempts_total{replica_role=\"standalone\",result=\"success\"} 1",
        "multikueue_workloads_dispatched_total{cluster=\"east\",cluster_queue=\"fleet\","
        "replica_role=\"standalone\"} 1",
        "kueue_admission_cycle_preemption_skips{cluster_queue=\"cq\",replica_role=\"standalone\"} "
        "2",
        "kueue_preemption_target_recomputations_total{cluster_queue=\"cq\",replica_role="
        "\"standalone\",result=\"deferred_fit\"} 1"}) {
    EXPECT_NE(got.body.find(line), std::string::npos) << got.body;
  }
}

}  // namespace
}  // namespace regatta::manager
