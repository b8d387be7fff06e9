#pragma once

#include "lib/api/meta.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/runtime/backoff.h"
#include "lib/runtime/task_scope.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace regatta::controllers {

enum class WorkerVerb { create_copy, create_job, remove, edit, open_gate, read };

/// The requests to workers that are under way, and those that failed a short time ago.
///
/// No turn of the dispatcher waits for a worker. A request goes on by itself until its client gives
/// up, and the workload has another turn when that is of interest. So a worker that hangs holds up
/// nothing but requests to itself, of which there is a limit. At most one request is under way for
/// a workload on a worker. One that failed is repeated after a pause of its own, which the worker
/// may ask for (Retry-After) and which grows: it delays neither other workloads, nor other workers,
/// nor other verbs.
class WorkerRequests {
 public:
  struct Deps {
    Clock& clock;
    TaskScope& scope;
    Log log;
    /// The workload should have a turn, at once or after that time.
    std::function<void(const api::ObjectKey& workload, Duration after)> wake;
    /// A request to that worker has had no answer for `silence`.
    std::function<void(const std::string& worker)> on_silence;
  };
  explicit WorkerRequests(Deps deps) : deps_(std::move(deps)) {}

  /// So many are under way to one worker at once. More wait for their turn.
  static constexpr std::size_t under_way_max = 24;
  static constexpr Duration silence = std::chrono::seconds(1);

  /// Starts `request`, unless one for this workload is under way there, or the last one failed and
  /// its pause is not over, or too many are under way. Then it is dropped, and the workload is
  /// woken when it is worth another look. With `wake` it is woken after a success, too: at once,
  /// but a second later when the one before succeeded a moment ago. What the watch shows may lag,
  /// and the same request would go round and round.
  void send(const std::string& worker, const api::ObjectKey& workload, WorkerVerb verb,
            Task<Status> request, bool wake);

  /// What such a request should bring about was seen, so its answer is no longer of interest.
  void settle(const std::string& worker, const api::ObjectKey& workload, WorkerVerb verb);

  bool under_way(const std::string& worker, const api::ObjectKey& workload, WorkerVerb verb) const;
  /// One is under way to another worker than `worker`.
  bool under_way_elsewhere(const std::string& worker, const api::ObjectKey& workload,
                           WorkerVerb verb) const;
  /// Another request to the worker would wait.
  bool full(const std::string& worker) const;
  struct Asked {
    std::string worker;
    SteadyPoint since{};
  };
  /// The oldest one of that verb that is under way, to any worker.
  std::optional<Asked> oldest(const api::ObjectKey& workload, WorkerVerb verb) const;
  /// Such a request made the object with that UID, which was good for nothing. That counts as one
  /// failure, also after the next success.
  void made_useless(const std::string& worker, const api::ObjectKey& workload, WorkerVerb verb,
                    const std::string& uid, const Error& why);
  /// The worker may allow now what it denied before: it is asked again at once.
  void allowed_anew(const std::string& worker);
  /// The last failure of such a request, if none succeeded since.
  struct Failure {
    int times = 0;
    std::string useless;  ///< the request succeeded, but see made_useless(): the UID
    SteadyPoint first;
    SteadyPoint until;
    Error error;
  };
  const Failure* failure(const std::string& worker, const api::ObjectKey& workload,
                         WorkerVerb verb) const;

  /// The workload is gone.
  void forget(const api::ObjectKey& workload);
  /// Failures of such requests, on any worker, are of no interest any more.
  void forget(const api::ObjectKey& workload, WorkerVerb verb);
  bool idle() const { return under_way_.empty(); }

 private:
  using Line = std::pair<api::ObjectKey, std::string>;
  using Kind = std::tuple<api::ObjectKey, std::string, WorkerVerb>;
  struct UnderWay {
    WorkerVerb verb;
    std::uint64_t id;
    SteadyPoint since;
    bool wake;
  };
  struct Worker {
    std::map<std::uint64_t, SteadyPoint> under_way;  ///< since when, by number
    std::uint64_t reported = 0;                      ///< the last one whose silence was reported
    std::deque<api::ObjectKey> waiting;
    bool watched = false;
  };

  Task<> carry(Line line, std::uint64_t id, WorkerVerb verb, Task<Status> request);
  void ended(const Line& line, std::uint64_t id, WorkerVerb verb, const Status& outcome);
  void succeeded(const Line& line, WorkerVerb verb, bool wake);
  void note_repeat(const Kind& kind);
  void failed(const Line& line, WorkerVerb verb, const Error& error);
  /// Drops what is no longer of interest, so that nothing is remembered for ever.
  void prune();
  Task<> watch(std::string worker);

  Deps deps_;
  std::map<Line, UnderWay> under_way_;
  std::map<Kind, Failure> failures_;
  std::map<Kind, SteadyPoint> succeeded_;  ///< when the workload was woken for it
  /// Requests that succeed one soon after the other, so that one of them undoes the other, or each
  /// is undone there.
  struct Repeats {
    int times = 0;
    SteadyPoint last;
    SteadyPoint until;
  };
  std::map<Kind, Repeats> repeats_;
  std::map<std::string, Worker> workers_;
  std::uint64_t last_id_ = 0;
  SteadyPoint pruned_{};  ///< when that was done last
};

}  // namespace regatta::controllers
