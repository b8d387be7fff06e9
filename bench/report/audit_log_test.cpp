#include "bench/report/audit_log.h"

#include "bench/report/testing.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::bench {
namespace {

/// One line of the log.
std::string answered(const std::string& user, const std::string& verb, const std::string& resource,
                     const std::string& subresource, int code) {
  Json object = {{"resource", resource}, {"namespace", "bench"}, {"name", "race-1"}};
  if (!subresource.empty()) object["subresource"] = subresource;
  const Json event = {
      {"kind", "Event"},     {"apiVersion", "audit.k8s.io/v1"},
      {"level", "Metadata"}, {"stage", "ResponseComplete"},
      {"verb", verb},        {"user", {{"username", user}, {"groups", {"system:masters"}}}},
      {"objectRef", object}, {"responseStatus", {{"metadata", Json::object()}, {"code", code}}}};
  return dump_json(event) + "\n";
}

std::string counted(const std::string& log) {
  const auto requests = read_audit_log("worker1", log);
  return requests ? text_of(*requests) : requests.error().what();
}

TEST(AuditLog, TellsSendersVerbsAndSubresourcesApart) {
  const std::string log = answered("manager", "patch", "workloads", "status", 200) +
                          answered("manager", "patch", "workloads", "status", 200) +
                          answered("hub", "create", "workloads", "", 201) +
                          answered("nodes", "update", "jobs", "status", 200);
  EXPECT_EQ(counted(log),
            "hub manager create workloads: 1\n"
            "manager patch workloads/status: 2\n"
            "nodes update jobs/status: 1\n"
            "0 failures, 0 conflicts\n");
}

TEST(AuditLog, CountsAnswersThatAreFailures) {
  const std::string log = answered("manager", "update", "workloads", "status", 409) +
                          answered("manager", "get", "workloads", "", 404);
  EXPECT_EQ(counted(log),
            "manager get workloads: 1\n"
            "manager update workloads/status: 1\n"
            "2 failures, 1 conflicts\n");
}

TEST(AuditLog, LeavesOutTheMeasuringProcessAndTheServerItself) {
  const std::string log = answered("admin", "create", "jobs", "", 201) +
                          answered("system:apiserver", "update", "leases", "", 200);
  EXPECT_EQ(counted(log), "0 failures, 0 conflicts\n");
}

TEST(AuditLog, LeavesOutWhatIsNoAnswerAboutAnObject) {
  std::string early = answered("manager", "watch", "jobs", "", 200);
  early.replace(early.find("ResponseComplete"), 16, "ResponseStarted");
  const std::string other = R"({"stage":"ResponseComplete","user":{"username":"manager"}})";
  EXPECT_EQ(counted(early + other + "\n"), "0 failures, 0 conflicts\n");
}

TEST(AuditLog, WaitsForTheEndOfALine) {
  const std::string whole = answered("manager", "create", "events", "", 201);
  const std::string half = whole.substr(0, whole.size() / 2);
  EXPECT_EQ(counted(whole + half), "manager create events: 1\n0 failures, 0 conflicts\n");
  EXPECT_EQ(counted(""), "0 failures, 0 conflicts\n");
}

TEST(AuditLog, NamesALineThatCannotBeRead) {
  const std::string log = answered("manager", "create", "events", "", 201) + "truncated\n";
  EXPECT_TRUE(counted(log).starts_with("line 2 of the audit log: ")) << counted(log);
}

TEST(AuditLog, ThePolicyLogsAnswersOfOthersOnly) {
  EXPECT_EQ(audit_policy(), R"({"apiVersion":"audit.k8s.io/v1","kind":"Policy",)"
                            R"("omitStages":["RequestReceived","ResponseStarted"],"rules":[)"
                            R"({"level":"None","users":["admin","system:apiserver"]},)"
                            R"({"level":"None","nonResourceURLs":["*"]},{"level":"Metadata"}]})");
}

}  // namespace
}  // namespace regatta::bench
