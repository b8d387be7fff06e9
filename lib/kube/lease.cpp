#include "lib/kube/lease.h"

#include "lib/base/json_access.h"
#include "lib/kube/informer_core.h"
#include "lib/kube/status.h"
#include "lib/runtime/deadline.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace regatta::kube {
namespace {

constexpr api::ResourceInfo lease_resource{"coordination.k8s.io", "v1", "Lease", "leases", true};

/// How often a release looks whether the writes that have left are answered.
constexpr Duration answers_poll{10};
constexpr Duration rejection_poll = std::chrono::seconds(15);

/// Rounded up: a candidate that waits for less than the duration may begin before the holder ends.
std::int64_t seconds_of(Duration d) {
  return std::chrono::ceil<std::chrono::seconds>(d).count();
}

/// The server does not know us, or we do not trust it. That it knows us and forbids something is
/// another matter.
bool is_rejected(const Error& e) {
  return e.code() == Errc::denied && (!e.details() || e.details()->http_status == 401);
}

}  // namespace

LeaderElector::LeaderElector(Client& client, Clock& clock, Rng& rng, Log log,
                             LeaderElectionOptions options, Leadership& leadership)
    : client_(client),
      clock_(clock),
      rng_(rng),
      log_(std::move(log)),
      options_(std::move(options)),
      leadership_(leadership) {}

// --- one attempt ---

std::string LeaderElector::spec_json(const std::string& holder) const {
  Json spec = {{"holderIdentity", holder},
               {"leaseDurationSeconds", seconds_of(options_.lease_duration)},
               {"acquireTime", format_rfc3339_micro(acquired_)},
               {"renewTime", format_rfc3339_micro(clock_.now())},
               {"leaseTransitions", transitions_}};
  // A candidate that reads a released lease must not wait for it.
  if (holder.empty()) spec["leaseDurationSeconds"] = 1;
  return dump_json(spec);
}

/// Remembers what the server says, and since when on our steady clock.
Status LeaderElector::look_at(const std::string& lease_text) {
  const Result<Json> lease = parse_json(lease_text);
  if (!lease) return lease.error();
  return look_at(*lease);
}

Status LeaderElector::look_at(const Json& lease) {
  const Json* metadata = member(lease, "metadata");
  if (!metadata) return Error(Errc::invalid, "the answer is no Lease");
  resource_version_ = text_at(*metadata, "resourceVersion");
  const Json* found = member(lease, "spec");
  const Json spec = found ? *found : Json::object();
  holder_ = text_at(spec, "holderIdentity");
  transitions_ = integer_at(spec, "leaseTransitions").value_or(0);
  const auto seconds = integer_at(spec, "leaseDurationSeconds").value_or(0);
  observed_duration_ = seconds > 0 ? Duration(std::chrono::seconds(seconds)) : Duration(0);
  std::string text = dump_json(spec);
  if (text == observed_spec_) return ok();
  observed_spec_ = std::move(text);
  observed_at_ = clock_.steady();
  return ok();
}

Task<Result<bool>> LeaderElector::write(std::string holder) {
  const Json patch = {{"metadata", {{"resourceVersion", resource_version_}}},
                      {"spec", Json::parse(spec_json(holder))}};
  auto written = co_await client_.patch_raw(lease_resource, options_.lease, PatchType::merge,
                                            dump_json(patch));
  if (!written) co_return written.error();
  const Status looked = look_at(*written);
  if (!looked) co_return looked.error();
  co_return true;
}

Task<Result<bool>> LeaderElector::create() {
  acquired_ = clock_.now();
  transitions_ = 0;
  const Json lease = {
      {"apiVersion", "coordination.k8s.io/v1"},
      {"kind", "Lease"},
      {"metadata", {{"name", options_.lease.name}, {"namespace", options_.lease.ns}}},
      {"spec", Json::parse(spec_json(options_.identity))}};
  auto created = co_await client_.create_raw(lease_resource, options_.lease.ns, dump_json(lease));
  if (!created) co_return created.error();
  const Status looked = look_at(*created);
  if (!looked) co_return looked.error();
  co_return true;
}

bool LeaderElector::held_by_another() const {
  if (holder_.empty() || holder_ == options_.identity) return false;
  return clock_.steady() < silent_at();
}

Task<Result<bool>> LeaderElector::look_and_take() {
  auto lease = co_await client_.get_raw(lease_resource, options_.lease);
  if (!lease && lease.error().code() == Errc::not_found) {
    // A holder that lives still writes, and creates its Lease again.
    if (!leading_ && held_by_another()) co_return false;
    co_return co_await create();
  }
  if (!lease) co_return lease.error();
  const Status looked = look_at(*lease);
  if (!looked) co_return looked.error();
  const bool ours = holder_ == options_.identity;
  // Another process took over, even if only for a moment: a leader does not come back silently.
  if (leading_ && !ours) co_return false;
  if (held_by_another()) co_return false;
  if (!ours) {
    ++transitions_;
    acquired_ = clock_.now();
  }
  co_return co_await write(options_.identity);
}

Task<Result<bool>> LeaderElector::try_to_hold() {
  if (leading_) {
    // We know the version that we wrote, so the lease need not be read first.
    auto renewed = co_await write(options_.identity);
    if (renewed) co_return renewed;
    const Errc code = renewed.error().code();
    // A Lease that was deleted is created again, unless another process was first.
    if (code != Errc::conflict && code != Errc::not_found) co_return renewed;
  }
  co_return co_await look_and_take();
}

// --- waiting ---

Duration LeaderElector::pause() {
  return options_.retry_period + Duration(rng_.between(0, options_.retry_period.count()));
}

Task<> LeaderElector::until_silent() {
  while (clock_.steady() < silent_at()) co_await clock_.sleep_until(silent_at());
}

/// Returns when the lease is free. When it cannot be watched, it returns after the usual pause.
Task<> LeaderElector::follow_holder() {
  WatchOptions options;
  options.field_selector = "metadata.name=" + options_.lease.name;
  options.resource_version = resource_version_;
  options.bookmarks = false;
  auto stream = co_await client_.watch(lease_resource, options_.lease.ns, std::move(options));
  while (stream) {
    auto event = co_await stream->next();
    if (!event || !*event) break;
    const WatchEvent& seen = **event;
    if (seen.type == WatchEventType::deleted) continue;  // its holder may live
    if (!seen.object || !look_at(*seen.object)) break;
    if (holder_.empty()) co_return;
  }
  co_await clock_.sleep_for(pause());
}

/// Waits while another process holds the lease.
Task<> LeaderElector::wait_for_chance() {
  Task<> following = follow_holder();
  Task<> listening = until_silent();
  co_await finishes_first(std::move(following), std::move(listening));
}

// --- leading ---

/// The leadership ends this long after the renewal was begun: the server may have recorded it at
/// any time since.
void LeaderElector::note_renewal(SteadyPoint begun) {
  renewed_ = begun;
  renewed_version_ = resource_version_;
  leadership_.lead_until(begun + options_.renew_deadline);
  note_unanswered();
}

void LeaderElector::note_unanswered() {
  if (std::exchange(unanswered_, leadership_.unanswered()) != unanswered_) {
    unanswered_at_ = clock_.steady();
  }
}

Task<Status> LeaderElector::acquire() {
  SteadyPoint accepted = clock_.steady();  // when an attempt last was not rejected
  for (;;) {
    const SteadyPoint begun = clock_.steady();
    const SteadyPoint until = begun + options_.renew_deadline / 2;
    auto held = co_await with_deadline(clock_, until, try_to_hold());
    if (held && *held) {
      leading_ = true;
      note_renewal(begun);
      log_.info("leading", {{"lease", options_.lease.str()}, {"identity", options_.identity}});
      co_return ok();
    }
    if (held) {
      co_await wait_for_chance();
      accepted = clock_.steady();
      continue;
    }
    if (!is_rejected(held.error())) accepted = clock_.steady();
    if (clock_.steady() - accepted >= options_.rejected_max) {
      co_return held.error().within("acquiring the lease " + options_.lease.str());
    }
    if (held.error().code() != Errc::conflict && held.error().code() != Errc::already_exists) {
      log_.warning("cannot acquire the lease", {{"lease", options_.lease.str()},
                                                {"code", name_of(held.error().code())},
                                                {"error", held.error().what()}});
    }
    co_await clock_.sleep_for(pause());
  }
}

Task<> LeaderElector::until_rejected(Status* why) {
  for (SteadyPoint accepted = clock_.steady();;) {
    co_await clock_.sleep_for(rejection_poll);
    const auto lease = co_await client_.get_raw(lease_resource, options_.lease);
    if (lease || !is_rejected(lease.error())) {
      accepted = clock_.steady();
    } else if (clock_.steady() - accepted >= options_.rejected_max) {
      *why = lease.error().within("reading the lease " + options_.lease.str());
      co_return;
    }
  }
}

Task<bool> LeaderElector::unless_rejected(Task<> op, Status* why) {
  Task<> rejecting = until_rejected(why);
  co_return co_await finishes_first(std::move(op), std::move(rejecting));
}

void LeaderElector::lose(const Error& why) {
  leading_ = false;
  leadership_.end();
  log_.error("leadership lost", {{"lease", options_.lease.str()}, {"error", why.what()}});
}

Task<Error> LeaderElector::hold() {
  Error last(Errc::timeout, "no renewal succeeded");
  SteadyPoint next = renewed_ + options_.retry_period;
  for (;;) {
    const SteadyPoint deadline = renewed_ + options_.renew_deadline;
    co_await clock_.sleep_until(std::min(next, deadline));
    const SteadyPoint begun = clock_.steady();
    if (begun >= deadline) {
      const Error lost = last.within("renewing the lease until its deadline");
      lose(lost);
      co_return lost;
    }
    // A request that hangs may take half of the time that is left, so that several tries fit; and a
    // server that is merely slow gets as much time as there can be.
    auto held = co_await with_deadline(clock_, begun + (deadline - begun) / 2, try_to_hold());
    // What the caches know may not exist any more; a process that starts anew reads it again.
    const bool back = is_older_version(resource_version_, renewed_version_).value_or(false);
    if (held && *held && !back) {
      note_renewal(begun);
      next = begun + options_.retry_period;
    } else if (held) {
      const Error lost(Errc::conflict, back ? "the API server went back to an older state"
                                            : "the lease is held by " + holder_);
      lose(lost);
      co_return lost;
    } else {
      last = held.error();
      log_.warning("cannot renew the lease",
                   {{"lease", options_.lease.str()},
                    {"code", name_of(last.code())},
                    {"error", last.what()},
                    {"left_ms", std::max(Duration(0), deadline - clock_.steady()).count()}});
      // Only a few tries are left before the deadline.
      next = clock_.steady() + options_.retry_period / 4;
    }
  }
}

Task<> LeaderElector::hold_until_lost(Error* why) {
  *why = co_await hold();
}

Task<Status> LeaderElector::run(std::function<Task<>()> lead) {
  const Status acquired = co_await acquire();
  if (!acquired) co_return acquired;
  Error lost;
  Task<> leading = lead();
  Task<> renewing = hold_until_lost(&lost);
  const bool ended = co_await finishes_first(std::move(leading), std::move(renewing));
  if (ended) co_return ok();
  co_return lost;
}

/// Waits for the writes that have left.
Task<Status> LeaderElector::writes_answered() {
  while (leadership_.under_way() > 0) co_await clock_.sleep_for(answers_poll);
  note_unanswered();
  // A server that goes on with one for longer than that is met by a leader that died as well.
  const bool lately = unanswered_at_ && clock_.steady() - *unanswered_at_ < options_.lease_duration;
  if (!lately) co_return ok();
  co_return Error(Errc::timeout, "a write without an answer may still be under way");
}

Task<Status> LeaderElector::release() {
  if (!leading_) co_return ok();
  leading_ = false;
  leadership_.end();
  const Status answered = co_await writes_answered();
  if (!answered) co_return answered;
  auto written = co_await write(std::string());
  if (!written && written.error().code() == Errc::conflict) {
    // A renewal that was cancelled on its way has been applied after all.
    auto lease = co_await client_.get_raw(lease_resource, options_.lease);
    if (!lease) co_return lease.error();
    const Status looked = look_at(*lease);
    if (!looked) co_return looked;
    if (holder_ != options_.identity) co_return ok();
    written = co_await write(std::string());
  }
  if (!written) co_return written.error();
  co_return ok();
}

}  // namespace regatta::kube
