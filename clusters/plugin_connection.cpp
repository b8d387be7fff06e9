#include "clusters/plugin_connection.h"

#include "lib/runtime/deadline.h"

#include <algorithm>
#include <utility>

namespace regatta::clusters {
namespace {

/// Longer than any credential should last, and short enough to be added to any time.
constexpr Duration life_max = std::chrono::hours(24 * 365);

}  // namespace

PluginConnection::PluginConnection(PluginConnectionDeps deps, kubeconfig::ProfileAccess access)
    : deps_(std::move(deps)),
      access_(std::move(access)),
      ended_(deps_.scope.executor()),
      moved_(std::make_shared<Wakeup>(deps_.scope.executor())) {}

PluginConnection::~PluginConnection() {
  moved_->notify_all();
}

bool PluginConnection::usable() const {
  return taken_at_ && !rejected_ && deps_.clock.steady() < ends_at_;
}

Task<Result<std::string>> PluginConnection::bearer_token() {
  const auto self = shared_from_this();  // may be exchanged while a request waits
  if (usable()) co_return credential_.token;
  if (failure_ && !running_ && deps_.clock.steady() < pause_until_) co_return *failure_;
  start();
  const int mine = generation_;
  while (running_ && generation_ == mine) co_await ended_.wait();
  if (usable()) co_return credential_.token;
  if (failure_) co_return *failure_;
  co_return Error(Errc::unavailable, "the credential ended before it was used");
}

void PluginConnection::rejected() {
  if (!taken_at_ || rejected_) return;
  if (deps_.clock.steady() < *taken_at_ + youth.after(rejections_ + 1)) return;
  rejected_ = true;
  ++rejections_;
}

Task<Result<net::HttpResponse>> PluginConnection::send(net::HttpRequest request,
                                                       net::SendOptions options) {
  const auto self = shared_from_this();  // may be exchanged while a request waits
  const auto held = sender_;
  if (!held) co_return Error(Errc::unavailable, "there are no credentials yet");
  auto answer = co_await held->send(std::move(request), options);
  // Whatever the server says otherwise, it knew the user; a balancer in front of it may not.
  if (answer && answer->status != 401 && answer->status < 500) rejections_ = 0;
  co_return answer;
}

void PluginConnection::start() {
  if (running_) return;
  running_ = true;
  renewal_ = SteadyPoint::max();
  ++generation_;
  deps_.scope.spawn("credential plugin " + access_.plugin.provider, run_once(shared_from_this()));
}

Task<> PluginConnection::run_once(std::shared_ptr<PluginConnection> self) {
  const Result<std::string> printed =
      co_await self->deps_.runner.run(self->access_.plugin, kubeconfig::exec_info(self->access_));
  const Status taken = self->take(printed);
  const SteadyPoint now = self->deps_.clock.steady();
  if (taken) {
    self->failure_.reset();
    self->failures_ = 0;
  } else {
    self->failure_ =
        taken.error().within("credential plugin " + self->access_.plugin.command +
                             " of access provider \"" + self->access_.plugin.provider + "\"");
    self->pause_until_ = now + pauses.after(++self->failures_);
    if (self->usable()) self->renew_at(self->pause_until_);
  }
  self->running_ = false;
  self->ended_.notify_all();
}

/// Keeps what was printed if it can be used.
Status PluginConnection::take(const Result<std::string>& printed) {
  if (!printed) return Error(Errc::unavailable, printed.error().what());
  const TimePoint now = deps_.clock.now();
  auto read = kubeconfig::read_credential(*printed, access_.plugin.api_version, now);
  // It may be better the next time: to the worker's requests this is a lack of an answer.
  if (!read) return Error(Errc::unavailable, read.error().what());
  if (!sender_ || read->certificate_pem != credential_.certificate_pem ||
      read->key_pem != credential_.key_pem) {
    kubeconfig::Endpoint endpoint = access_.endpoint;
    endpoint.client_certificate_pem = read->certificate_pem;
    endpoint.client_key_pem = read->key_pem;
    auto opened = deps_.open(endpoint);
    if (!opened) return Error(Errc::unavailable, opened.error().what());
    sender_ = std::move(*opened);
  }
  credential_ = std::move(*read);
  const SteadyPoint here = deps_.clock.steady();
  taken_at_ = here;
  rejected_ = false;
  ends_at_ = SteadyPoint::max();
  if (!credential_.expires) return ok();
  const Duration life = std::min(*credential_.expires - now, life_max);
  ends_at_ = here + life;
  renew_at(here + kubeconfig::renew_after(life));
  return ok();
}

void PluginConnection::renew_at(SteadyPoint when) {
  renewal_ = when;
  moved_->notify_all();
  if (std::exchange(renewing_, true)) return;
  deps_.scope.spawn("renewals for " + access_.plugin.provider,
                    renew(weak_from_this(), deps_.clock, moved_));
}

/// Runs the plugin whenever it is time. Holds nothing while it waits: a connection that was given
/// up goes, and with it this.
Task<> PluginConnection::renew(Weak weak, Clock& clock, std::shared_ptr<Wakeup> moved) {
  for (;;) {
    SteadyPoint when{};
    {
      const auto self = weak.lock();
      if (!self) co_return;
      if (clock.steady() >= self->renewal_) self->start();
      when = self->renewal_;
    }
    Task<> sleeping = clock.sleep_until(when);
    Task<> waking = until_moved(weak, moved, when);
    co_await finishes_first(std::move(sleeping), std::move(waking));
  }
}

Task<> PluginConnection::until_moved(Weak weak, std::shared_ptr<Wakeup> moved, SteadyPoint from) {
  const auto unmoved = [&weak, from] {
    const auto self = weak.lock();
    return self && self->renewal_ == from;
  };
  while (unmoved()) co_await moved->wait();
}

}  // namespace regatta::clusters
