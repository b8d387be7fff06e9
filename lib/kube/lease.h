#pragma once

#include "lib/api/resource.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/rng.h"
#include "lib/kube/client.h"
#include "lib/kube/leadership.h"

#include <functional>
#include <string>

namespace regatta::kube {

struct LeaderElectionOptions {
  api::ObjectKey lease;                                ///< coordination.k8s.io/v1 Lease
  std::string identity;                                ///< unique to this process
  Duration lease_duration = std::chrono::seconds(15);  ///< how long to wait for a silent holder
  Duration renew_deadline = std::chrono::seconds(10);  ///< the holder gives up after it
  Duration retry_period = std::chrono::seconds(2);
  /// A candidate gives up when for so long each attempt was rejected; see acquire().
  Duration rejected_max = std::chrono::minutes(5);
};

/// Makes sure that of all processes which name the same Lease at most one leads.
///
/// Clocks differ between machines, and step: a holder is silent when we have seen its record
/// unchanged for lease_duration of *our* steady clock, whatever times the record holds. The holder
/// stops leading when by its steady clock it could not renew for renew_deadline, which is shorter,
/// so that it ends before another begins. Its writes end at that very moment, whatever is still
/// under way: see Leadership.
///
/// A Lease that is deleted is no Lease that is given back: its holder creates it again at its next
/// renewal, and a candidate that saw the holder waits until that has been silent for long enough.
///
/// A candidate watches the Lease, so that it knows to the millisecond since when the holder is
/// silent, and learns at once when the Lease is given back; where it may not watch it reads again
/// after each pause.
///
/// The client is for the Lease alone: neither gate nor limit nor queue of other requests may hold a
/// renewal up.
class LeaderElector {
 public:
  LeaderElector(Client& client, Clock& clock, Rng& rng, Log log, LeaderElectionOptions options,
                Leadership& leadership);
  LeaderElector(const LeaderElector&) = delete;

  /// Returns when this process leads. An error: for minutes either the server has not known our
  /// credentials or its certificate was not accepted. They may have been exchanged since they were
  /// read, so a process that starts anew may succeed. Whatever else fails is tried again for ever.
  Task<Status> acquire();
  /// Renews until the lease is lost, and returns why. Call it right after acquire(). Also lost is
  /// the lease of a server that was restored to lower versions.
  Task<Error> hold();
  /// acquire(), then `lead` until it ends by itself or leadership is lost; in the latter case
  /// `lead` has been cancelled and has ended when this returns, with the reason.
  Task<Status> run(std::function<Task<>()> lead);
  /// Gives the lease back so that another candidate need not wait. No write leaves any more from
  /// the call on, and those that have left are awaited first. When one of them stays without an
  /// answer the lease is kept and runs out, because the next leader would not see what it does.
  ///
  /// Cancellation cannot do it, because a cancelled task cannot wait: orderly shutdown calls it,
  /// with a deadline, before it stops those whose writes may be under way.
  Task<Status> release();

  /// For a process that does not try to lead, or not yet: asks for the Lease from time to time, and
  /// ends when the server has rejected it, or was not trusted, for options.rejected_max.
  Task<> until_rejected(Status* why);
  /// Runs `op` until then. False: it was cancelled for that reason.
  Task<bool> unless_rejected(Task<> op, Status* why);

  bool is_leader() const { return leading_; }
  /// The identity in the lease when last read; empty: the lease is free, or not read yet.
  const std::string& holder() const { return holder_; }

 private:
  /// Whether we hold the lease now; false when another process holds it.
  Task<Result<bool>> try_to_hold();
  Task<> hold_until_lost(Error* why);
  Task<Result<bool>> look_and_take();
  /// By one that is not silent yet, as far as we have seen.
  bool held_by_another() const;
  Task<Result<bool>> create();
  Task<Result<bool>> write(std::string holder);
  Task<Status> writes_answered();
  void note_unanswered();
  Status look_at(const std::string& lease_text);
  Status look_at(const Json& lease);
  SteadyPoint silent_at() const { return observed_at_ + observed_duration_; }
  Duration pause();
  Task<> wait_for_chance();
  Task<> until_silent();
  Task<> follow_holder();
  void note_renewal(SteadyPoint begun);
  std::string spec_json(const std::string& holder) const;
  void lose(const Error& why);

  Client& client_;
  Clock& clock_;
  Rng& rng_;
  Log log_;
  LeaderElectionOptions options_;
  Leadership& leadership_;
  bool leading_ = false;
  std::string holder_;
  std::string resource_version_;
  std::string renewed_version_;  ///< of the last successful renewal
  std::int64_t transitions_ = 0;
  TimePoint acquired_{};       ///< what the record says
  SteadyPoint renewed_{};      ///< when the last successful renewal was begun
  std::string observed_spec_;  ///< as seen last
  SteadyPoint observed_at_{};  ///< when it was first seen so
  Duration observed_duration_{0};
  std::size_t unanswered_ = 0;                ///< writes of this process, as counted last
  std::optional<SteadyPoint> unanswered_at_;  ///< when there were new ones
};

}  // namespace regatta::kube
