#include "whatif/explain/account.h"
#include "whatif/explain/words.h"

#include <algorithm>

namespace regatta::whatif {
namespace {

using admission::Explanation;
using admission::FlavorTry;
using admission::FlavorVerdict;
using admission::QuotaLine;
using admission::Standing;

bool wants_quota(const FlavorTry& flavor) {
  return flavor.verdict == FlavorVerdict::no_candidates ||
         flavor.verdict == FlavorVerdict::short_of_quota ||
         flavor.verdict == FlavorVerdict::exceeds_maximum;
}

/// The shortage as a fraction of the request, so that different resources can be compared.
double shortage_of(const FlavorTry& flavor) {
  double most = 0;
  for (const QuotaLine& line : flavor.lines) {
    const admission::Amount wanted = std::max<admission::Amount>(1, line.requested);
    most = std::max(most, static_cast<double>(line.missing) / static_cast<double>(wanted));
  }
  return flavor.verdict == FlavorVerdict::exceeds_maximum ? most + 1e6 : most;
}

/// The flavor with the smallest shortage; null when quota is not what is missing.
const FlavorTry* nearest(const admission::GroupTry& group) {
  const FlavorTry* best = nullptr;
  for (const FlavorTry& flavor : group.flavors) {
    const bool good =
        flavor.verdict == FlavorVerdict::fits || flavor.verdict == FlavorVerdict::borrows ||
        flavor.verdict == FlavorVerdict::preempts || flavor.verdict == FlavorVerdict::reclaims;
    if (good) return nullptr;
    if (!wants_quota(flavor)) continue;
    if (best == nullptr || shortage_of(flavor) < shortage_of(*best)) best = &flavor;
  }
  return best;
}

class Advice {
 public:
  explicit Advice(const Account& account) : told_(account.explanation), now_(account.now) {}

  std::vector<std::string> quota() {
    for (const admission::PodSetTry& pod_set : told_.tries) {
      for (const std::string& resource : pod_set.uncovered) {
        add("Give " + queue() + " quota for " + resource +
            " (spec.resourceGroups), or let the pods not ask for it.");
      }
      for (const admission::GroupTry& group : pod_set.groups) {
        if (const FlavorTry* flavor = nearest(group)) {
          fill(*flavor);
        } else {
          for (const FlavorTry& flavor : group.flavors) suit(flavor);
        }
      }
    }
    return std::move(steps_);
  }

 private:
  std::string queue() const { return "ClusterQueue " + told_.cluster_queue; }

  void add(std::string step) {
    if (std::find(steps_.begin(), steps_.end(), step) == steps_.end()) {
      steps_.push_back(std::move(step));
    }
  }

  void fill(const FlavorTry& flavor) {
    const bool never = flavor.verdict == FlavorVerdict::exceeds_maximum;
    std::vector<std::string> raises;
    bool limited = true;
    bool lent = false;
    for (const QuotaLine& line : flavor.lines) {
      const admission::Amount wanted = admission::plus(line.before, line.requested);
      const admission::Amount by = never ? admission::minus(wanted, line.maximum) : line.raise;
      if (by <= 0) continue;
      const auto text = [&](admission::Amount amount) {
        return admission::format_amount(line.resource, amount);
      };
      raises.push_back(line.resource + " by " + text(by) + " (to " +
                       text(admission::plus(line.nominal, by)) + ")");
      limited = limited && line.limited;
      lent = lent || line.lent > 0;
    }
    if (raises.empty()) return;
    std::string step = "Raise nominalQuota of flavor " + flavor.flavor + " in " + queue() +
                       " for " + listed(raises);
    if (limited) step += ", or its borrowingLimit";
    if (never) {
      add(step + ", or let the workload ask for less: waiting does not help.");
      return;
    }
    add(step + wait_text(flavor) + ".");
    if (lent && told_.preemption.reclaim_within_cohort != api::ReclaimPolicy::Any) {
      add("Let " + queue() + " take back what others borrowed from it: set " +
          "spec.preemption.reclaimWithinCohort to Any (it is " +
          std::string(text_of(told_.preemption.reclaim_within_cohort)) + ").");
    }
  }

  std::string wait_text(const FlavorTry& flavor) const {
    if (flavor.enough_when_gone.empty()) return {};
    std::vector<std::string> names;
    for (const auto& holder : flavor.enough_when_gone) {
      names.push_back(holder.key.str() + " (running since " + format_rfc3339(holder.since) + ")");
    }
    return ", or wait for " + listed(names);
  }

  void suit(const FlavorTry& flavor) {
    const std::string to_get = "To use flavor " + flavor.flavor + ": ";
    if (flavor.verdict == FlavorVerdict::untolerated_taint) {
      add(to_get + "let the pods tolerate " + flavor.detail + ".");
    } else if (flavor.verdict == FlavorVerdict::affinity_mismatch) {
      add(to_get + "change the pods' node selector or affinity (" + flavor.detail + ").");
    } else if (flavor.verdict == FlavorVerdict::not_found) {
      add("Create ResourceFlavor " + flavor.flavor + ", or take it out of " + queue() + ".");
    } else if (flavor.verdict == FlavorVerdict::topology_only) {
      add(to_get +
          "let the pods ask for a topology (annotation "
          "kueue.x-k8s.io/podset-required-topology or a like one).");
    } else if (flavor.verdict == FlavorVerdict::no_topology) {
      add(to_get + "give it a topology (spec.topologyName), or do not ask for one.");
    } else if (flavor.verdict == FlavorVerdict::no_level) {
      add(to_get + "ask for a level that its topology has" +
          (flavor.detail.empty() ? "" : " (" + flavor.detail + ")") + ".");
    }
  }

  const Explanation& told_;
  TimePoint now_;
  std::vector<std::string> steps_;
};

std::vector<std::string> steps_to_queue(const Explanation& told) {
  const std::string queue = "ClusterQueue " + told.cluster_queue;
  switch (told.standing) {
    case Standing::inactive:
      return {"Set spec.active of the Workload to true."};
    case Standing::gated:
      return {"Wait for " + told.detail + " to remove its name from the annotation."};
    case Standing::no_local_queue:
      return {told.local_queue.empty()
                  ? "Label the job with kueue.x-k8s.io/queue-name."
                  : "Create LocalQueue " + told.local_queue + " in namespace " + told.key.ns +
                        ", or name another one in the job's label kueue.x-k8s.io/queue-name."};
    case Standing::local_queue_stopped:
      return {"Set spec.stopPolicy of LocalQueue " + told.key.ns + "/" + told.local_queue +
              " to None."};
    case Standing::no_cluster_queue:
      return {"Create " + queue + "."};
    case Standing::cluster_queue_inactive:
      if (told.queue_activity.reason == "Stopped") {
        return {"Set spec.stopPolicy of " + queue + " to None."};
      }
      return {"Repair what the condition Active of " + queue + " says."};
    case Standing::namespace_missing:
      return {"Create namespace " + told.key.ns + "."};
    case Standing::namespace_mismatch:
      return {"Label namespace " + told.key.ns + " so that it matches, or change " +
              "spec.namespaceSelector of " + queue + "."};
    case Standing::misconfigured:
      return {"Correct the requests of the job's pods and create it anew."};
    default:
      return {};
  }
}

std::vector<std::string> steps_with_quota(const Account& account) {
  std::vector<std::string> steps;
  for (const admission::CheckView& check : account.explanation.checks) {
    if (check.state == api::CheckState::Ready) continue;
    const bool multikueue = account.federation && account.federation->check == check.name;
    if (!multikueue) steps.push_back("Ask the controller of admission check " + check.name + ".");
  }
  if (!account.federation || !account.federation->winner.empty()) return steps;
  const FederationView& view = *account.federation;
  if (!view.config_exists) {
    steps.push_back("Create MultiKueueConfig " + view.config + ", which check " + view.check +
                    " names.");
  }
  constexpr std::size_t repairs_max = 3;
  std::size_t lost = 0;
  for (const WorkerView& worker : view.workers) {
    if (!worker.exists) {
      steps.push_back("Create MultiKueueCluster " + worker.name + ".");
    } else if (!worker.connected) {
      if (++lost > repairs_max) continue;
      const std::string why =
          worker.reason.empty() ? "" : " (" + worker.reason + ": " + worker.message + ")";
      steps.push_back("Repair the connection to cluster " + worker.name + why + ".");
    } else if (worker.nominated) {
      steps.push_back("Ask cluster " + worker.name + " with a kubeconfig of its own: regatta " +
                      "explain workload " + account.explanation.key.str() + " --kubeconfig …");
    }
  }
  if (lost > repairs_max) {
    steps.push_back("Repair the connections to " + std::to_string(lost - repairs_max) +
                    " other clusters (kubectl get multikueueclusters).");
  }
  return steps;
}

/// Steps that concern the workloads before this one; none for the first.
std::vector<std::string> steps_in_line(const Explanation& told) {
  if (told.in_cluster_queue.place <= 1) return {};
  const std::size_t before = told.in_cluster_queue.place - 1;
  return {counted(before, "workload") + (before == 1 ? " has" : " have") + " the turn before it" +
          (told.strict_fifo ? ", and must be admitted first (StrictFIFO)" : "") +
          ": a higher priority (label kueue.x-k8s.io/priority-class of the job) lets it pass."};
}

}  // namespace

std::vector<std::string> next_steps(const Account& account) {
  const Explanation& told = account.explanation;
  if (told.standing == Standing::waits_for_checks) return steps_with_quota(account);
  if (told.standing < Standing::inactive) return {};
  if (account.blind && told.standing >= Standing::no_local_queue) return {};
  if (told.standing < Standing::backoff) return steps_to_queue(told);
  switch (told.standing) {
    case Standing::waits_for_quota: {
      std::vector<std::string> steps = Advice(account).quota();
      for (std::string& step : steps_in_line(told)) steps.push_back(std::move(step));
      return steps;
    }
    case Standing::exceeds_quota:
    case Standing::no_flavor:
      return Advice(account).quota();
    case Standing::fits:
      return steps_in_line(told);
    case Standing::topology_placement_failed:
      return {
          "Wait until pods on the topology's nodes have ended, add nodes, or ask for less: a "
          "wider level, or a preferred instead of a required one."};
    case Standing::preempts:
    case Standing::waits_for_preempted:
      return {"Wait: the victims give back their quota when their pods are gone."};
    default:
      return {};
  }
}

}  // namespace regatta::whatif
