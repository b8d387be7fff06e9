#include "lab/apiserver/server.h"
#include "lab/cluster/fleet.h"
#include "lab/cluster/garbage_collector.h"
#include "lab/cluster/job_controller.h"
#include "lab/cluster/kind_operator.h"
#include "lab/cluster/namespace_controller.h"
#include "lib/api/core.h"
#include "lib/kube/client.h"
#include "lib/kube/faulty_sender.h"
#include "lib/net/handler_sender.h"
#include "lib/sim/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::lab {
namespace {

using namespace std::chrono_literals;

/// The controllers against the embedded API server, in virtual time.
class SandboxCluster : public testing::Test {
 protected:
  SandboxCluster() : server_(world_.executor(), world_, world_.rng, options()) {}

  static apiserver::ServerOptions options() {
    apiserver::ServerOptions options;
    apiserver::UserInfo admin;
    admin.name = "admin";
    admin.groups = {"system:masters"};
    options.tokens["secret"] = admin;
    return options;
  }

  kube::ClientDeps deps() {
    kube::ClientDeps deps{sender_, world_, world_.rng, nullptr, {}};
    deps.credentials = std::make_shared<kube::StaticToken>("secret");
    return deps;
  }

  void TearDown() override {
    scope_.stop();
    scope_.spawn("end", nothing());
    world_.run_for(10s);
  }
  static Task<> nothing() { co_return; }

  template <class T>
  T wait(Task<T> task) {
    std::optional<T> out;
    scope_.spawn("call", keep(std::move(task), &out));
    world_.run_for(5s, [&] { return out.has_value(); });
    EXPECT_TRUE(out.has_value());
    return std::move(*out);
  }
  template <class T>
  static Task<> keep(Task<T> task, std::optional<T>* out) {
    out->emplace(co_await std::move(task));
  }

  Status create(const api::ResourceInfo& info, const char* ns, const char* text) {
    const auto made = wait(client_.create_raw(info, ns, text));
    EXPECT_TRUE(made) << made.error().what();
    return made ? ok() : Status(made.error());
  }
  Json get(const api::ResourceInfo& info, const char* ns, const char* name) {
    const auto text = wait(client_.get_raw(info, api::ObjectKey(ns, name)));
    return text ? *parse_json(*text) : Json();
  }
  std::size_t count(const api::ResourceInfo& info) {
    std::size_t found = 0;
    wait(client_.list_raw(info, "", {}, [&](const Json&, std::size_t) { ++found; }));
    return found;
  }

  sim::World world_{7};
  apiserver::Server server_;
  net::HandlerSender sender_{world_, server_};
  kube::Client client_{deps()};
  TaskScope scope_{world_.executor()};
};

constexpr const char* job_text = R"({"metadata":{"name":"j","annotations":{
  "sandbox.regatta.dev/run-seconds":"20"}},"spec":{"completions":3,"parallelism":2,"template":{
  "spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"img:1"}]}}}})";

TEST_F(SandboxCluster, AJobRunsItsPodsOnTheFleetAndCompletes) {
  const Fleet fleet = *parse_fleet("8xA100,1xCPU");
  const Status created = wait(create_nodes(client_, fleet, world_.now()));
  ASSERT_TRUE(created) << created.error().what();
  EXPECT_EQ(count(api::Node::resource), 2U);
  EXPECT_FALSE(get(api::Node::resource, "", "a100-0")["spec"].contains("taints"));

  JobController controller({client_, world_, world_.rng, world_.executor(), Log()}, {});
  scope_.spawn("jobs", controller.run());
  create(api::Job::resource, "default", job_text);
  world_.run_for(5s);
  Json job = get(api::Job::resource, "default", "j");
  EXPECT_EQ(job["status"]["active"], 2) << job["status"].dump();
  EXPECT_EQ(job["status"]["ready"], 2);
  EXPECT_EQ(count(api::Pod::resource), 2U);
  world_.run_for(60s);
  job = get(api::Job::resource, "default", "j");
  EXPECT_EQ(job["status"]["succeeded"], 3) << job["status"].dump();
  EXPECT_EQ(job["status"]["conditions"].back()["type"], "Complete");
  EXPECT_EQ(controller.status_writes(), 3U);
  scope_.stop();
  world_.run_for(1s);
}

TEST_F(SandboxCluster, AGatedPodGoesWhereItIsSentAndALostNodeLosesIt) {
  const Status made = wait(create_nodes(client_, *parse_fleet("3xCPU"), world_.now()));
  ASSERT_TRUE(made);
  JobController controller({client_, world_, world_.rng, world_.executor(), Log()}, {});
  scope_.spawn("jobs", controller.run());
  create(api::Job::resource, "default", R"({"metadata":{"name":"j","annotations":{
    "sandbox.regatta.dev/run-seconds":"60"}},"spec":{"template":{
    "metadata":{"annotations":{"kueue.x-k8s.io/podset-unconstrained-topology":"true"}},
    "spec":{"restartPolicy":"Never","schedulingGates":[{"name":"kueue.x-k8s.io/topology"}],
    "containers":[{"name":"main","image":"img:1","resources":{"requests":{"cpu":"1"}}}]}}}})");
  const auto the_pod = [&] {
    std::vector<Json> found;
    const auto keep = [&](const Json& pod, std::size_t) { found.push_back(pod); };
    wait(client_.list_raw(api::Pod::resource, "", {}, keep));
    return found.size() == 1 ? found.front() : Json();
  };
  const auto send_to = [&](const char* host) {
    const api::ObjectKey key("default", the_pod()["metadata"]["name"].get<std::string>());
    const std::string patch = std::string(R"({"spec":{"schedulingGates":[],"nodeSelector":{
      "kubernetes.io/hostname":")") +
                              host + "\"}}}";
    const auto sent =
        wait(client_.patch_raw(api::Pod::resource, key, kube::PatchType::merge, patch));
    EXPECT_TRUE(sent) << sent.error().what();
  };
  world_.run_for(5s);
  EXPECT_EQ(the_pod()["status"]["phase"], "Pending");
  EXPECT_FALSE(the_pod()["spec"].contains("nodeName"));
  const Json waiting = get(api::Job::resource, "default", "j")["status"];
  EXPECT_EQ(waiting["active"], 1);
  EXPECT_EQ(waiting["ready"], 0);

  send_to("cpu-2");
  world_.run_for(5s);
  const Json running = the_pod();
  EXPECT_EQ(running["spec"]["nodeName"], "cpu-2") << running.dump();
  EXPECT_EQ(running["status"]["phase"], "Running");
  EXPECT_EQ(get(api::Job::resource, "default", "j")["status"]["ready"], 1);

  kube::WriteOptions status;
  status.subresource = "status";
  const auto broken = wait(client_.patch_raw(
      api::Node::resource, api::ObjectKey("cpu-2"), kube::PatchType::merge,
      R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})", status));
  ASSERT_TRUE(broken) << broken.error().what();
  world_.run_for(5s);
  const Json next = the_pod();
  EXPECT_NE(next["metadata"]["uid"], running["metadata"]["uid"]);
  EXPECT_EQ(next["status"]["phase"], "Pending") << "behind its gate again";
  send_to("cpu-2");
  world_.run_for(5s);
  EXPECT_FALSE(the_pod()["spec"].contains("nodeName")) << "that node takes no pod";
  scope_.stop();
  world_.run_for(1s);
}

TEST_F(SandboxCluster, AnOperatorRunsTheJobsOfItsKindThatSayHowLong) {
  const api::ResourceInfo crds{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                               "customresourcedefinitions", false};
  const OperatedKind& jobset = *operated_kind("jobset.x-k8s.io", "JobSet");
  KindOperator runs({client_, world_, world_.rng, world_.executor(), Log()}, jobset);
  scope_.spawn("operator", runs.run());
  world_.run_for(10s);
  create(crds, "", R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"jobsets.jobset.x-k8s.io",
                "annotations":{"api-approved.kubernetes.io":"unapproved"}},
    "spec":{"group":"jobset.x-k8s.io","scope":"Namespaced",
      "names":{"kind":"JobSet","listKind":"JobSetList","plural":"jobsets"},
      "versions":[{"name":"v1alpha2","served":true,"storage":true,"subresources":{"status":{}},
        "schema":{"openAPIV3Schema":{"type":"object",
          "x-kubernetes-preserve-unknown-fields":true}}}]}})");
  world_.run_for(2min);
  const auto job = [&](const std::string& name, const char* annotations) {
    const std::string text = R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet",
      "metadata":{"name":")" +
                             name + R"(","annotations":)" + annotations +
                             R"(},"spec":{"replicatedJobs":[{"name":"crew","replicas":2}]}})";
    create(jobset.resource, "default", text.c_str());
  };
  job("good", R"({"sandbox.regatta.dev/run-seconds":"30"})");
  job("bad", R"({"sandbox.regatta.dev/run-seconds":"30","sandbox.regatta.dev/fail":"true"})");
  job("unsaid", "{}");
  const auto status = [&](const char* name) {
    return get(jobset.resource, "default", name).value("status", Json::object());
  };
  world_.run_for(5s);
  EXPECT_EQ(status("good")["replicatedJobsStatus"][0]["active"], 2);
  const auto stopped =
      wait(client_.patch_raw(jobset.resource, api::ObjectKey("default", "bad"),
                             kube::PatchType::merge, R"({"spec":{"suspend":true}})"));
  EXPECT_TRUE(stopped);
  world_.run_for(30s);
  EXPECT_EQ(status("good")["terminalState"], "Completed");
  EXPECT_EQ(status("bad")["conditions"][0]["type"], "Suspended") << status("bad").dump();
  const auto started =
      wait(client_.patch_raw(jobset.resource, api::ObjectKey("default", "bad"),
                             kube::PatchType::merge, R"({"spec":{"suspend":false}})"));
  EXPECT_TRUE(started);
  world_.run_for(10s);
  EXPECT_EQ(status("bad")["replicatedJobsStatus"][0]["active"], 2) << "its time begins anew";
  world_.run_for(30s);
  EXPECT_EQ(status("bad")["terminalState"], "Failed");
  EXPECT_TRUE(status("unsaid").empty());
  scope_.stop();
  world_.run_for(1s);
}

TEST_F(SandboxCluster, ADeletedJobTakesItsPodsAlong) {
  GarbageCollector collector({client_, world_, world_.rng, world_.executor(), Log()});
  scope_.spawn("collector", collector.run());
  JobController controller({client_, world_, world_.rng, world_.executor(), Log()}, {});
  scope_.spawn("jobs", controller.run());
  for (const char* policy : {"Background", "Foreground"}) {
    create(api::Job::resource, "default", job_text);
    world_.run_for(5s);
    EXPECT_EQ(count(api::Pod::resource), 2U) << policy;
    kube::DeleteOptions options;
    options.propagation_policy = policy;
    const Status removed = wait(
        client_.remove(api::Job::resource, api::ObjectKey("default", "j"), std::move(options)));
    EXPECT_TRUE(removed);
    world_.run_for(5s);
    EXPECT_TRUE(get(api::Job::resource, "default", "j").is_null()) << policy;
    EXPECT_EQ(count(api::Pod::resource), 0U) << policy;
  }
  scope_.stop();
  world_.run_for(1s);
}

TEST_F(SandboxCluster, ASuspendedJobLosesItsPods) {
  JobController controller({client_, world_, world_.rng, world_.executor(), Log()}, {});
  scope_.spawn("jobs", controller.run());
  create(api::Job::resource, "default", job_text);
  world_.run_for(5s);
  const auto suspended =
      wait(client_.patch_raw(api::Job::resource, api::ObjectKey("default", "j"),
                             kube::PatchType::merge, R"({"spec":{"suspend":true}})"));
  ASSERT_TRUE(suspended) << suspended.error().what();
  world_.run_for(5s);
  const Json job = get(api::Job::resource, "default", "j");
  EXPECT_FALSE(job["status"].contains("startTime")) << job["status"].dump();
  EXPECT_EQ(job["status"]["conditions"][0]["reason"], "JobSuspended");
  EXPECT_EQ(count(api::Pod::resource), 0U);
  scope_.stop();
  world_.run_for(1s);
}

TEST_F(SandboxCluster, WithoutPodsTwoWritesTellAJobsLife) {
  JobControllerOptions options;
  options.behaviour.pods = false;
  options.behaviour.run = 4s;
  JobController controller({client_, world_, world_.rng, world_.executor(), Log()}, options);
  scope_.spawn("jobs", controller.run());
  create(api::Job::resource, "default", R"({"metadata":{"name":"j"},"spec":{"template":{
    "spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"img:1"}]}}}})");
  world_.run_for(10s);
  const Json job = get(api::Job::resource, "default", "j");
  EXPECT_EQ(job["status"]["succeeded"], 1) << job["status"].dump();
  EXPECT_EQ(controller.status_writes(), 2U);
  EXPECT_EQ(count(api::Pod::resource), 0U);
  scope_.stop();
  world_.run_for(1s);
}

TEST_F(SandboxCluster, DependentsGoWithTheirOwnersOrAreOrphaned) {
  GarbageCollector collector({client_, world_, world_.rng, world_.executor(), Log()});
  scope_.spawn("collector", collector.run());
  const auto pair = [&](const std::string& name) {
    const std::string owner = R"({"metadata":{"name":")" + name + R"(-o"}})";
    create(api::ConfigMap::resource, "default", owner.c_str());
    const Json made = get(api::ConfigMap::resource, "default", (name + "-o").c_str());
    const std::string uid = made["metadata"]["uid"].get<std::string>();
    const std::string dependent =
        R"({"metadata":{"name":")" + name +
        R"(-d","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":")" + name +
        R"(-o","uid":")" + uid + R"(","blockOwnerDeletion":true}]}})";
    create(api::ConfigMap::resource, "default", dependent.c_str());
    world_.run_for(2s);
  };
  for (const char* policy : {"Background", "Foreground", "Orphan"}) {
    std::string name(policy);
    name[0] = static_cast<char>(std::tolower(name[0]));
    pair(name);
    kube::DeleteOptions options;
    options.propagation_policy = policy;
    const Status removed = wait(client_.remove(
        api::ConfigMap::resource, api::ObjectKey("default", name + "-o"), std::move(options)));
    EXPECT_TRUE(removed);
    world_.run_for(5s);
    EXPECT_TRUE(get(api::ConfigMap::resource, "default", (name + "-o").c_str()).is_null())
        << policy;
    const Json dependent = get(api::ConfigMap::resource, "default", (name + "-d").c_str());
    EXPECT_EQ(dependent.is_null(), name != "orphan") << policy;
    if (name == "orphan") EXPECT_FALSE(dependent["metadata"].contains("ownerReferences"));
  }
  scope_.stop();
  world_.run_for(1s);
}

TEST_F(SandboxCluster, DependentsOfAnOwnerThatWasNeverSeenGoWithIt) {
  auto faults = std::make_shared<kube::NetworkFaults>();
  faults->concerns = [](const net::HttpRequest& request) {
    return request.target.starts_with("/api/v1/configmaps");
  };
  faults->server_error = 1;
  kube::FaultySender sender(sender_, world_, world_.rng, faults);
  kube::Client client(kube::ClientDeps{sender, world_, world_.rng, deps().credentials, {}});
  GarbageCollector collector({client, world_, world_.rng, world_.executor(), Log()});
  scope_.spawn("collector", collector.run());
  create(api::ConfigMap::resource, "default", R"({"metadata":{"name":"owner"}})");
  const Json owner = get(api::ConfigMap::resource, "default", "owner");
  const std::string secret =
      R"({"metadata":{"name":"s","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap",
      "name":"owner","uid":")" +
      owner["metadata"]["uid"].get<std::string>() + R"("}]}})";
  create(api::Secret::resource, "default", secret.c_str());
  world_.run_for(5s);
  EXPECT_FALSE(get(api::Secret::resource, "default", "s").is_null());
  EXPECT_TRUE(
      wait(client_.remove(api::ConfigMap::resource, api::ObjectKey("default", "owner"), {})));
  world_.run_for(5s);
  EXPECT_TRUE(get(api::Secret::resource, "default", "s").is_null());
  scope_.stop();
  world_.run_for(1s);
}

/// Serves the resources of a definition at once, but lists them in discovery only later.
class LateDiscovery final : public net::HttpSender {
 public:
  LateDiscovery(net::HttpSender& inner, Clock& clock, TimePoint from)
      : inner_(inner), clock_(clock), from_(from) {}

  Task<Result<net::HttpResponse>> send(net::HttpRequest request,
                                       net::SendOptions options) override {
    if (request.target == "/apis/example.dev/v1" && clock_.now() < from_) {
      net::HttpResponse nothing;
      nothing.status = 404;
      nothing.body = "404 page not found";
      co_return nothing;
    }
    co_return co_await inner_.send(std::move(request), options);
  }

 private:
  net::HttpSender& inner_;
  Clock& clock_;
  TimePoint from_;
};

TEST_F(SandboxCluster, NewKindsAreCollectedAlthoughDiscoveryTellsOfThemLate) {
  LateDiscovery sender(sender_, world_, world_.now() + 4s);
  kube::ClientDeps late = deps();
  kube::Client client(kube::ClientDeps{sender, world_, world_.rng, late.credentials, {}});
  GarbageCollector collector({client, world_, world_.rng, world_.executor(), Log()});
  scope_.spawn("collector", collector.run());
  world_.run_for(1s);
  constexpr api::ResourceInfo definitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                          "customresourcedefinitions", false};
  constexpr api::ResourceInfo widgets{"example.dev", "v1", "Widget", "widgets", true};
  create(definitions, "", R"({"apiVersion":"apiextensions.k8s.io/v1",
    "kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.dev"},"spec":{
    "group":"example.dev","scope":"Namespaced","names":{"plural":"widgets","singular":"widget",
    "kind":"Widget","listKind":"WidgetList"},"versions":[{"name":"v1","served":true,
    "storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
  create(api::ConfigMap::resource, "default", R"({"metadata":{"name":"owner"}})");
  const Json owner = get(api::ConfigMap::resource, "default", "owner");
  const std::string widget =
      R"({"apiVersion":"example.dev/v1","kind":"Widget","metadata":{"name":"w",
      "ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":")" +
      owner["metadata"]["uid"].get<std::string>() + R"("}]}})";
  world_.run_for(1s);
  create(widgets, "default", widget.c_str());
  EXPECT_TRUE(
      wait(client_.remove(api::ConfigMap::resource, api::ObjectKey("default", "owner"), {})));
  world_.run_for(8s);
  EXPECT_TRUE(get(widgets, "default", "w").is_null());
  scope_.stop();
  world_.run_for(1s);
}

TEST_F(SandboxCluster, ADeletedNamespaceIsEmptiedAndGoes) {
  NamespaceController controller({client_, world_, world_.rng, world_.executor(), Log()});
  scope_.spawn("namespaces", controller.run());
  create(api::Namespace::resource, "", R"({"metadata":{"name":"gone"}})");
  create(api::ConfigMap::resource, "gone", R"({"metadata":{"name":"held",
    "finalizers":["example.dev/f"]}})");
  create(api::ConfigMap::resource, "gone", R"({"metadata":{"name":"free"}})");
  const Status removed = wait(client_.remove(api::Namespace::resource, api::ObjectKey("gone"), {}));
  EXPECT_TRUE(removed);
  world_.run_for(5s);
  EXPECT_TRUE(get(api::ConfigMap::resource, "gone", "free").is_null());
  EXPECT_EQ(get(api::Namespace::resource, "", "gone")["status"]["phase"], "Terminating");
  const auto freed =
      wait(client_.patch_raw(api::ConfigMap::resource, api::ObjectKey("gone", "held"),
                             kube::PatchType::merge, R"({"metadata":{"finalizers":null}})"));
  EXPECT_TRUE(freed);
  world_.run_for(40s);
  EXPECT_TRUE(get(api::Namespace::resource, "", "gone").is_null());
  scope_.stop();
  world_.run_for(1s);
}

}  // namespace
}  // namespace regatta::lab
