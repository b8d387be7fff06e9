#include "dispatch/order.h"

#include <algorithm>

namespace regatta::dispatch {
namespace {

struct Waits {
  const std::set<std::string>& stopping;
  const std::string& host;  ///< where the Workload is, or was when it was evicted
  const LocalView& local;

  bool operator()(const CopyJobStatus& a) const { return of(a.cluster); }
  /// These tell what has become of the Job on its host.
  bool operator()(const FinishLocal&) const { return of(host); }
  bool operator()(const EndJob&) const { return of(host); }
  bool operator()(const SetCheck&) const { return of(host); }
  bool operator()(const TellState&) const { return of(host); }
  bool operator()(const RecordWinner& a) const { return a.cluster != host || of(host); }
  bool operator()(const CreateJob&) const { return true; }
  bool operator()(const SetNominated&) const { return true; }
  bool operator()(const TakePlace&) const { return true; }
  bool operator()(const RunOnHub&) const { return true; }
  bool operator()(const ReleaseJob&) const {
    return std::any_of(stopping.begin(), stopping.end(), [this](const std::string& cluster) {
      return may_be_evicted_from(local, cluster);
    });
  }
  bool operator()(const Confirm& a) const { return a.cluster.empty(); }
  /// Other requests to workers concern one worker each, and are sent together.
  bool operator()(const auto&) const { return false; }

 private:
  /// Without a cluster, any that is being stopped counts.
  bool of(const std::string& cluster) const {
    return cluster.empty() || stopping.contains(cluster);
  }
};

}  // namespace

const std::string* stops_job_on(const Action& action) {
  if (const auto* remove = std::get_if<RemoveRemote>(&action)) {
    return remove->holds_job ? &remove->cluster : nullptr;
  }
  const auto* deactivate = std::get_if<DeactivateRemote>(&action);
  return deactivate ? &deactivate->cluster : nullptr;
}

bool waits_for(const Action& action, const std::set<std::string>& stopping,
               const LocalView& local) {
  if (stopping.empty()) return false;
  const std::string remembered = local.evicted_from.value_or("");
  const std::string& host = local.cluster_name.empty() ? remembered : local.cluster_name;
  return std::visit(Waits{stopping, host, local}, action);
}

}  // namespace regatta::dispatch
