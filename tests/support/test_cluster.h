#pragma once

#include "lab/apiserver/server.h"
#include "lib/api/codec.h"
#include "lib/base/json.h"
#include "lib/kube/client.h"
#include "lib/kube/faulty_sender.h"
#include "lib/net/handler_sender.h"
#include "lib/runtime/task_scope.h"
#include "lib/sim/world.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::test_support {

/// Requests by "verb resource[/subresource]".
class RequestCounts {
 public:
  void note(const kube::RequestSeen& seen);
  void clear();
  /// Requests of that verb, or of that verb and resource ("update", "workloads/status"); empty:
  /// all.
  int count(const std::string& verb = {}, const std::string& resource = {}) const;
  /// create, update, patch, apply and delete, without Events.
  int writes() const;
  int conflicts() const { return conflicts_; }
  /// Answers 422.
  int invalid() const { return invalid_; }
  /// "create workloads 1, patch workloads/status 3".
  std::string str() const;

 private:
  std::map<std::pair<std::string, std::string>, int> counts_;
  int conflicts_ = 0;
  int invalid_ = 0;
};

/// Runs the world until the coroutine ends, for at most `limit` of virtual time.
template <class T>
T run(sim::World& world, Task<T> task, Duration limit = std::chrono::minutes(1));

/// An API server in memory with the CRDs of the chart, and an administrator's client. Later clients
/// (managers, simulated nodes) get senders of their own.
class TestCluster {
 public:
  TestCluster(sim::World& world, std::string name);
  ~TestCluster();
  TestCluster(const TestCluster&) = delete;

  const std::string& name() const { return name_; }
  sim::World& world() { return world_; }
  apiserver::Server& server() { return server_; }

  /// Bearer tokens that the server knows: the administrator may do everything, `limited` what RBAC
  /// allows.
  static constexpr const char* admin_token = "admin-token";
  static constexpr const char* manager_token = "manager-token";
  static constexpr const char* other_manager_token = "other-manager-token";
  static constexpr const char* limited_token = "limited-token";

  /// Every CRD of charts/regatta/files/crds, before anything else is written to this cluster; the
  /// tests run in the source folder.
  void install_crds();
  /// The same at any time, as a user does it.
  void apply_crds();

  // --- as a user with kubectl; a failure fails the test where `Status` is not returned ---

  /// Server-side apply of every document.
  Status apply(std::string_view yaml);
  /// Gives the user `limited` the ClusterRole of that name with these rules, everywhere.
  Status let_limited(const std::string& role, const std::string& rules);
  /// Merge patch; `subresource` may be "status".
  Status patch(const api::ResourceInfo& resource, const api::ObjectKey& key, std::string_view json,
               std::string subresource = {});
  Status remove(const api::ResourceInfo& resource, const api::ObjectKey& key,
                kube::DeleteOptions options = {});
  /// None, Hold or HoldAndDrain, of the ClusterQueue `cq`.
  void set_stop_policy(const std::string& policy);
  /// The same of a LocalQueue.
  void set_local_stop_policy(const std::string& policy,
                             const api::ObjectKey& queue = {"default", "main"});
  /// Null when there is none.
  Json get(const api::ResourceInfo& resource, const api::ObjectKey& key);
  template <class T>
  std::optional<T> get(const api::ObjectKey& key) {
    Result<T> got = run(world_, admin_.get<T>(key));
    if (!got) return std::nullopt;
    return std::move(*got);
  }
  template <class T>
  std::vector<T> list(std::string ns = {}) {
    Result<std::vector<T>> got = run(world_, admin_.list<T>(std::move(ns)));
    return got ? std::move(*got) : std::vector<T>();
  }
  kube::Client& admin() { return admin_; }

  /// Leads straight to the server, without faults.
  net::HttpSender& sender() { return sender_; }

 private:
  sim::World& world_;
  std::string name_;
  apiserver::Server server_;
  net::HandlerSender sender_;
  kube::Client admin_;
};

namespace internal {
template <class T>
Task<> keep(Task<T> task, std::optional<T>* out) {
  out->emplace(co_await std::move(task));
}
void drive(sim::World& world, Task<> task, Duration limit);
}  // namespace internal

template <class T>
T run(sim::World& world, Task<T> task, Duration limit) {
  std::optional<T> out;
  internal::drive(world, internal::keep(std::move(task), &out), limit);
  return std::move(out.value());
}

}  // namespace regatta::test_support
