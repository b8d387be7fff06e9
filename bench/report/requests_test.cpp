#include "bench/report/requests.h"

#include "bench/report/testing.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::bench {
namespace {

Json entry(const std::string& agent, const std::string& subresource, int code, int count) {
  return {{"userAgent", agent},         {"verb", "patch"}, {"resource", "workloads"},
          {"subresource", subresource}, {"code", code},    {"count", count}};
}

TEST(Requests, ReadsTheReportOfTheEmbeddedServer) {
  Json report;
  report["requests"] = {entry("regatta-manager/0.1", "status", 200, 3),
                        entry("regatta-sandbox", "", 409, 2), entry("regatta", "", 200, 1),
                        entry(user_agent, "", 200, 50)};
  EXPECT_EQ(text_of(Requests::from_report("hub", report)),
            "hub manager patch workloads: 1\n"
            "manager patch workloads/status: 3\n"
            "nodes patch workloads: 2\n"
            "2 failures, 2 conflicts\n");
}

TEST(Requests, TotalsKeepTheHubApartFromWorkers) {
  Requests hub("hub"), worker("worker1");
  hub.add({"manager", "create", "workloads"}, 201, 5);
  hub.add({"manager", "create", "events"}, 201, 7);
  worker.add({"hub manager", "create", "workloads"}, 201, 4);
  worker.add({"nodes", "patch", "jobs/status"}, 200, 2);
  worker.add({"manager", "get", "workloads"}, 409, 1);
  worker.add({"manager", "update", "leases"}, 200, 9);
  const Totals all = totals({hub, worker});
  EXPECT_EQ(all.hub_writes, 5);
  EXPECT_EQ(all.hub_events, 7);
  EXPECT_EQ(all.worker_writes, 6);
  EXPECT_EQ(all.worker_writes_of_nodes, 2);
  EXPECT_EQ(all.worker_gets, 1);
  EXPECT_EQ(all.conflicts, 1);
}

}  // namespace
}  // namespace regatta::bench
