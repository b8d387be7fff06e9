#pragma once

#include "clusters/plugin_runner.h"
#include "kubeconfig/cluster_profile.h"
#include "lib/kube/credentials.h"
#include "lib/net/http.h"
#include "lib/runtime/backoff.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/wakeup.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace regatta::clusters {

struct PluginConnectionDeps {
  /// Makes the client that sends requests to an endpoint.
  std::function<Result<std::shared_ptr<net::HttpSender>>(const kubeconfig::Endpoint&)> open;
  PluginRunner& runner;
  Clock& clock;
  TaskScope& scope;  ///< owns the runs of the plugin
};

/// Requests to a worker with the credentials of a plugin. The plugin runs when the first request
/// asks for a token, before the credential ends, and after the worker has rejected it; one run at a
/// time, whatever asks. While a renewal fails, the credential counts until its end. After a failure
/// the plugin has a pause, in which requests fail at once with the same error. While the worker
/// rejects each new credential, the plugin runs less and less often.
///
/// A new credential changes nothing else: open requests go on with the old one.
class PluginConnection final : public net::HttpSender,
                               public kube::Credentials,
                               public std::enable_shared_from_this<PluginConnection> {
 public:
  PluginConnection(PluginConnectionDeps deps, kubeconfig::ProfileAccess access);
  ~PluginConnection() override;

  Task<Result<std::string>> bearer_token() override;
  void rejected() override;
  Task<Result<net::HttpResponse>> send(net::HttpRequest request, net::SendOptions options) override;
  void close_idle() override {
    if (sender_) sender_->close_idle();
  }

  /// A credential that is younger is not the reason why a worker rejects it. Grows with each one in
  /// a row that the worker rejects.
  static constexpr Backoff youth{std::chrono::seconds(10), std::chrono::minutes(5)};
  static constexpr Backoff pauses{std::chrono::seconds(2), std::chrono::minutes(1)};

 private:
  bool usable() const;
  void start();
  void renew_at(SteadyPoint when);
  Status take(const Result<std::string>& printed);
  static Task<> run_once(std::shared_ptr<PluginConnection> self);
  using Weak = std::weak_ptr<PluginConnection>;
  static Task<> renew(Weak weak, Clock& clock, std::shared_ptr<Wakeup> moved);
  static Task<> until_moved(Weak weak, std::shared_ptr<Wakeup> moved, SteadyPoint from);

  PluginConnectionDeps deps_;
  kubeconfig::ProfileAccess access_;
  kubeconfig::PluginCredential credential_;
  std::shared_ptr<net::HttpSender> sender_;  ///< presents the credential's certificate
  std::optional<SteadyPoint> taken_at_;      ///< of the credential; unset: there is none
  SteadyPoint ends_at_ = SteadyPoint::max();
  bool rejected_ = false;
  int rejections_ = 0;  ///< of credentials, in a row
  bool running_ = false;
  int generation_ = 0;  ///< of runs
  int failures_ = 0;    ///< in a row
  std::optional<Error> failure_;
  SteadyPoint pause_until_{};
  Wakeup ended_;
  SteadyPoint renewal_ = SteadyPoint::max();  ///< when the plugin is to run by itself
  bool renewing_ = false;                     ///< renew() has been started
  std::shared_ptr<Wakeup> moved_;             ///< tells renew() that renewal_ has changed
};

}  // namespace regatta::clusters
