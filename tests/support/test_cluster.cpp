#include "tests/support/test_cluster.h"

#include "lib/api/cluster_queue.h"
#include "lib/api/yaml.h"
#include "tests/support/manifests.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

namespace regatta::test_support {
namespace {

apiserver::ServerOptions server_options() {
  const auto user = [](std::string name, bool master) {
    apiserver::UserInfo info;
    info.name = std::move(name);
    if (master) info.groups = {"system:masters"};
    return info;
  };
  apiserver::ServerOptions options;
  options.tokens[TestCluster::admin_token] = user("admin", true);
  options.tokens[TestCluster::manager_token] = user("manager", true);
  options.tokens[TestCluster::other_manager_token] = user("manager", true);
  options.tokens[TestCluster::limited_token] = user("limited", false);
  return options;
}

kube::ClientDeps admin_deps(sim::World& world, net::HttpSender& sender) {
  kube::ClientDeps deps{sender, world, world.rng, nullptr, {}};
  deps.credentials = std::make_shared<kube::StaticToken>(TestCluster::admin_token);
  deps.config.field_manager = "kubectl";
  deps.config.user_agent = "kubectl";
  return deps;
}

/// The plural under which the server keeps objects of that kind.
std::string plural_of(const Json& object, const apiserver::Server& server,
                      apiserver::ResourceTypePtr* type) {
  const std::string version = object.value("apiVersion", "");
  const std::size_t slash = version.find('/');
  const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
  const std::string bare = slash == std::string::npos ? version : version.substr(slash + 1);
  *type = server.registry().find_kind(group, bare, object.value("kind", ""));
  return *type ? (*type)->plural : "";
}

std::string stop_patch(const std::string& policy) {
  return dump_json({{"spec", {{"stopPolicy", policy}}}});
}

/// A server with the CRDs of the chart. To read them again for each cluster of each test would take
/// a quarter of the time of all component tests.
const apiserver::Server& server_with_crds() {
  struct Model {
    Model() : world(1), cluster(world, "model") { cluster.apply_crds(); }
    sim::World world;
    TestCluster cluster;
  };
  static Model model;
  return model.cluster.server();
}

}  // namespace

void RequestCounts::note(const kube::RequestSeen& seen) {
  std::string resource(seen.resource);
  if (!seen.subresource.empty()) resource += "/" + std::string(seen.subresource);
  ++counts_[{std::string(seen.verb), resource}];
  if (seen.http_status == 409) ++conflicts_;
  if (seen.http_status == 422) ++invalid_;
}

void RequestCounts::clear() {
  counts_.clear();
  conflicts_ = invalid_ = 0;
}

int RequestCounts::count(const std::string& verb, const std::string& resource) const {
  int sum = 0;
  for (const auto& [what, n] : counts_) {
    if ((verb.empty() || what.first == verb) && (resource.empty() || what.second == resource)) {
      sum += n;
    }
  }
  return sum;
}

int RequestCounts::writes() const {
  int sum = 0;
  for (const auto& [what, n] : counts_) {
    const bool reads = what.first == "get" || what.first == "list" || what.first == "watch";
    if (!reads && what.second != "events") sum += n;
  }
  return sum;
}

std::string RequestCounts::str() const {
  std::string out;
  for (const auto& [what, n] : counts_) {
    out += (out.empty() ? "" : ", ") + what.first + " " + what.second + " " + std::to_string(n);
  }
  return out;
}

namespace internal {

void drive(sim::World& world, Task<> task, Duration limit) {
  TaskScope scope(world.executor());
  scope.spawn("test", std::move(task));
  world.run_for(limit, [&] { return scope.size() == 0; });
  if (scope.size() == 0) return;
  ADD_FAILURE() << "no answer within " << limit.count() << " ms";
  scope.stop();
  world.settle();
}

}  // namespace internal

TestCluster::TestCluster(sim::World& world, std::string name)
    : world_(world),
      name_(std::move(name)),
      server_(world.executor(), world, world.rng, server_options()),
      sender_(world, server_),
      admin_(admin_deps(world, sender_)) {}

TestCluster::~TestCluster() = default;

void TestCluster::install_crds() {
  server_.start_as(server_with_crds());
}

void TestCluster::apply_crds() {
  const api::ResourceInfo resource{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                   "customresourcedefinitions", false};
  for (const Json& definition : crd_manifests()) {
    const auto made = run(world_, admin_.create_raw(resource, "", dump_json(definition)));
    if (!made) throw std::runtime_error(std::string("a CRD is refused: ") + made.error().what());
  }
}

Status TestCluster::apply(std::string_view yaml) {
  const auto documents = api::parse_yaml_documents(yaml);
  if (!documents) return documents.error();
  for (const Json& document : *documents) {
    apiserver::ResourceTypePtr type;
    const std::string plural = plural_of(document, server_, &type);
    if (!type) return Error(Errc::invalid, "unknown kind: " + document.dump());
    const api::ResourceInfo resource{type->group, type->version, type->kind, plural,
                                     type->namespaced};
    const Json metadata = document.value("metadata", Json::object());
    const api::ObjectKey key(type->namespaced ? metadata.value("namespace", "default") : "",
                             metadata.value("name", ""));
    kube::ApplyOptions options;
    options.force = true;
    const auto written = run(world_, admin_.apply_raw(resource, key, dump_json(document), options));
    if (!written) return written.error();
  }
  return ok();
}

Status TestCluster::let_limited(const std::string& role, const std::string& rules) {
  return apply(
      R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: )" +
      role + "}\nrules:\n" + rules + R"(
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: )" +
      role + "}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " + role +
      R"(}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: limited}]
)");
}

Status TestCluster::patch(const api::ResourceInfo& resource, const api::ObjectKey& key,
                          std::string_view json, std::string subresource) {
  kube::WriteOptions options;
  options.subresource = std::move(subresource);
  const auto written = run(
      world_, admin_.patch_raw(resource, key, kube::PatchType::merge, std::string(json), options));
  return written ? ok() : Status(written.error());
}

Status TestCluster::remove(const api::ResourceInfo& resource, const api::ObjectKey& key,
                           kube::DeleteOptions options) {
  return run(world_, admin_.remove(resource, key, std::move(options)));
}

void TestCluster::set_stop_policy(const std::string& policy) {
  EXPECT_TRUE(patch(api::ClusterQueue::resource, api::ObjectKey("cq"), stop_patch(policy)));
}

void TestCluster::set_local_stop_policy(const std::string& policy, const api::ObjectKey& queue) {
  EXPECT_TRUE(patch(api::LocalQueue::resource, queue, stop_patch(policy)));
}

Json TestCluster::get(const api::ResourceInfo& resource, const api::ObjectKey& key) {
  const auto text = run(world_, admin_.get_raw(resource, key));
  return text ? *parse_json(*text) : Json();
}

}  // namespace regatta::test_support
