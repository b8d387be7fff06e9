#pragma once

#include "tests/sim/history.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

/// The rules of a federation. Each forms its opinion from the history, never from what the
/// implementation believes.
namespace regatta::simtest {

/// What the rules must know about the world that they watch.
struct Expectations {
  Duration worker_lost_timeout{0};
  /// How soon a hub knows what a worker holds, once nothing disturbs the way there.
  Duration sees_within{0};
  /// Workers that may say anything: what is recorded on them is not judged.
  std::set<std::string> lying;
  /// Of those the ones that keep jobs that the hub asks them to delete. In the end they hold
  /// nothing of a hub either, unless they say anything else as well.
  std::set<std::string> keeping;
  bool repents = false;
  /// Of those the one whose API server answers anything, so that a hub knows nothing of it for
  /// sure.
  std::string garbled;
  /// Outcome by title of the hub's job: Complete or Failed.
  std::map<std::string, std::string> outcomes;
  std::map<std::string, std::int64_t> cpus;  ///< nominal quota, by cluster
  /// The nodes of each cluster's flavor have its name as their pool, and pods ask for them.
  bool pools = false;
  /// A process that was overtaken by another leader sends no writes.
  bool fenced = false;
  /// Workers refuse to create Jobs for some time.
  bool refusals = false;
};

class Invariant {
 public:
  Invariant(History& history, const Expectations& expected)
      : history_(history), expected_(expected) {}
  virtual ~Invariant() = default;
  virtual void changed(const Changed&) {}
  virtual void sent(const Sent&) {}
  virtual void run_over(const Run&) {}
  /// After each step.
  virtual void stepped() {}
  /// When the progress bound is over, or all has ended before.
  virtual void at_bound() {}
  /// When nothing happens any more.
  virtual void at_rest() {}

 protected:
  History& history_;
  const Expectations& expected_;
};

using Invariants = std::vector<std::unique_ptr<Invariant>>;

/// clusterName is empty before it names another cluster, and a Job is sent to the recorded cluster
/// only.
std::unique_ptr<Invariant> start_lock(History&, const Expectations&);
/// No Job is sent to a worker while another worker, which the hub can see, holds it.
std::unique_ptr<Invariant> no_double_start(History&, const Expectations&);
/// A running Job is stopped or removed for a reason that is in the history; it runs once more at
/// most for each such reason.
std::unique_ptr<Invariant> no_needless_stop(History&, const Expectations&);
/// What the hub says about the end of a Job is what happened on the recorded worker.
std::unique_ptr<Invariant> true_completion(History&, const Expectations&);
/// Quota is neither exceeded, nor negative, nor given back while the Job runs.
std::unique_ptr<Invariant> quota_kept(History&, const Expectations&);
/// The pods of a job ask for the nodes that its admission on the worker chose, and for no others.
std::unique_ptr<Invariant> placed(History&, const Expectations&);
/// Jobs are created suspended, and objects that a hub did not create stay as they are.
std::unique_ptr<Invariant> good_manners(History&, const Expectations&);
/// A manager that was overtaken by another one writes nothing.
std::unique_ptr<Invariant> one_leader(History&, const Expectations&);
/// Every Job ends as its spec says, and nothing is left.
std::unique_ptr<Invariant> clean_end(History&, const Expectations&);

Invariants all_invariants(History& history, const Expectations& expected);

/// Whether every Job and Workload of every hub has ended.
bool every_job_ended(const History& history);
int jobs_ended(const History& history);
/// Whether the workers hold nothing of a hub any more, but for those that lie.
bool workers_clean(const History& history, const Expectations& expected);
/// What the queues of a cluster still count; empty when they count nothing.
std::string counted(const History& history, const std::string& cluster);
bool queues_empty(const History& history, const Expectations& expected);

}  // namespace regatta::simtest
