#include "dispatch/order.h"

namespace regatta::dispatch {
namespace {

struct Waits {
  const std::set<std::string>& stopping;
  const std::string& recorded;

  bool operator()(const CopyJobStatus& a) const { return of(a.cluster); }
  /// These tell what has become of the recorded cluster.
  bool operator()(const FinishLocal&) const { return of(recorded); }
  bool operator()(const SetCheck&) const { return of(recorded); }
  bool operator()(const TellState&) const { return of(recorded); }
  bool operator()(const RecordWinner& a) const { return of(a.cluster == recorded ? recorded : ""); }
  bool operator()(const CreateJob&) const { return true; }
  bool operator()(const SetNominated&) const { return true; }
  bool operator()(const RunOnHub&) const { return true; }
  bool operator()(const ReleaseJob&) const { return true; }
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
               const std::string& recorded) {
  return !stopping.empty() && std::visit(Waits{stopping, recorded}, action);
}

}  // namespace regatta::dispatch
