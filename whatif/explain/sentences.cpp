#include "lib/base/human.h"
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

std::string said(const std::optional<api::Condition>& condition) {
  if (!condition) return {};
  return condition->reason + (condition->message.empty() ? "" : ": " + condition->message);
}

std::string worker_text(const Account& account) {
  if (!account.federation) return {};
  const FederationView& view = *account.federation;
  if (!view.winner.empty()) return " It runs on cluster " + view.winner + ".";
  std::vector<std::string> nominated;
  for (const WorkerView& worker : view.workers) {
    if (worker.nominated) nominated.push_back(worker.name);
  }
  if (nominated.empty()) return " No cluster is nominated to run it yet.";
  return " No cluster has admitted it yet; nominated: " + listed(nominated) + ".";
}

std::string checks_text(const Explanation& told) {
  std::vector<std::string> waiting;
  for (const admission::CheckView& check : told.checks) {
    if (check.state == api::CheckState::Ready) continue;
    waiting.push_back(check.name + " (" + std::string(api::text_of(check.state)) +
                      (check.message.empty() ? "" : ": " + check.message) + ")");
  }
  return listed(waiting);
}

std::string where(const Explanation& told) {
  return "ClusterQueue " + told.cluster_queue;
}

std::string ended(const Explanation& told, TimePoint now) {
  return "It ended " + relative(told.end->last_transition_time, now) + ": " + said(told.end) + ".";
}

std::string held_back(const Explanation& told) {
  switch (told.standing) {
    case Standing::inactive:
      return "It is deactivated (spec.active is false), so it is not considered." +
             (told.last_eviction ? " It was evicted before: " + said(told.last_eviction) : "");
    case Standing::on_hold:
      return "Its job holds it back: " + said(told.last_pending) + ".";
    case Standing::gated:
      return "The annotation kueue.x-k8s.io/admission-gated-by holds it back for: " + told.detail +
             ".";
    case Standing::waits_for_replacement_pods:
      return "It waits for pods that failed to be replaced.";
    default:
      return {};
  }
}

std::string without_queue(const Explanation& told) {
  const std::string local = told.key.ns + "/" + told.local_queue;
  switch (told.standing) {
    case Standing::no_local_queue:
      if (told.local_queue.empty()) return "It names no LocalQueue (spec.queueName is empty).";
      return "There is no LocalQueue " + told.local_queue + " in namespace " + told.key.ns + ".";
    case Standing::local_queue_stopped:
      return "Its LocalQueue " + local + " is stopped (spec.stopPolicy).";
    case Standing::no_cluster_queue:
      return "Its LocalQueue " + local + " leads to " + where(told) + ", which does not exist.";
    case Standing::cluster_queue_inactive:
      return "Its " + where(told) + " admits nothing: " +
             (told.detail.empty() ? told.queue_activity.message : told.detail + ".");
    case Standing::failed_checks:
      return "It lost an admission check: " + checks_text(told) +
             ". It has its next turn when that is reset.";
    case Standing::namespace_missing:
      return "Its namespace " + told.key.ns + " does not exist.";
    case Standing::namespace_mismatch:
      return "Its " + where(told) + " takes no workloads of namespace " + told.key.ns + ": " +
             (told.detail.empty() ? "it has no spec.namespaceSelector."
                                  : "its spec.namespaceSelector is " + told.detail + ".");
    case Standing::misconfigured:
      return "It can never be admitted as it is: " + told.detail + ".";
    default:
      return {};
  }
}

/// Empty for the first in the queue.
std::string behind(const Explanation& told) {
  if (told.in_cluster_queue.place <= 1) return {};
  const std::size_t before = told.in_cluster_queue.place - 1;
  return " " + counted(before, "workload") + (before == 1 ? " comes" : " come") +
         " first in its ClusterQueue" +
         (told.strict_fifo ? ", which is StrictFIFO: it waits until they are admitted." : ".");
}

std::string fits_text(const Explanation& told) {
  std::int32_t pods = 0;
  for (const admission::PodSetTry& pod_set : told.tries) pods += pod_set.count;
  const std::string room = told.fewer_pods
                               ? "There is room for " + std::to_string(*told.fewer_pods) +
                                     " of its " + std::to_string(pods) + " pods"
                               : std::string("There is room for it");
  if (told.in_cluster_queue.place > 1) return room + " now, but it is not its turn." + behind(told);
  return room + " now: the next scheduling cycle should admit it.";
}

std::string no_flavor_text(const Explanation& told) {
  std::vector<std::string> uncovered;
  for (const admission::PodSetTry& pod_set : told.tries) {
    for (const std::string& resource : pod_set.uncovered) {
      if (std::find(uncovered.begin(), uncovered.end(), resource) == uncovered.end()) {
        uncovered.push_back(resource);
      }
    }
  }
  const bool contradicts = told.message.starts_with("failed to assign flavors");
  if (uncovered.empty() && contradicts) return "It cannot be placed: " + told.message + ".";
  if (uncovered.empty()) return "No flavor of " + where(told) + " suits its pods.";
  return where(told) + " has no quota at all for " + listed(uncovered) +
         ", which its pods ask for.";
}

std::string waiting_text(const Explanation& told, TimePoint now) {
  const std::size_t victims = told.victims.size();
  switch (told.standing) {
    case Standing::backoff:
      if (!told.requeue_at || *told.requeue_at <= now) {
        return "It is held back until its requeueing is released.";
      }
      return "It has its next turn " + relative(*told.requeue_at, now) + ", at " +
             format_rfc3339(*told.requeue_at) +
             (told.requeues > 0 ? ", after " + counted(told.requeues, "requeue") : "") + "." +
             (told.last_eviction ? " It was evicted: " + said(told.last_eviction) : "");
    case Standing::fits:
      return fits_text(told);
    case Standing::preempts:
      return "It can be admitted once it has preempted " + counted(victims, "workload") + "." +
             behind(told);
    case Standing::waits_for_preempted:
      return "It waits for " + counted(victims, "preempted workload") + " to give back the quota.";
    case Standing::waits_for_quota:
      return "It waits for quota: in no flavor of " + where(told) +
             " is enough free, and no workload may be preempted for it." + behind(told);
    case Standing::exceeds_quota:
      return "It asks for more than " + where(told) + " could ever give it.";
    case Standing::waits_for_pods_ready:
      return "There is room for it, but no workload is admitted until all pods of the workloads "
             "that "
             "run are ready (waitForPodsReady.blockAdmission).";
    case Standing::topology_placement_failed:
      return "There is quota for it, but no place in the topology: " + told.message + ".";
    default:
      return no_flavor_text(told);
  }
}

/// "4 more nvidia.com/gpu needed (8 requested, 4 of 12 free)".
std::string shortage(const FlavorTry& flavor) {
  std::vector<std::string> parts;
  for (const QuotaLine& line : flavor.lines) {
    if (line.missing == 0) continue;
    const auto text = [&](admission::Amount amount) {
      return admission::format_amount(line.resource, amount);
    };
    parts.push_back(text(line.missing) + " more " + line.resource + " needed (" +
                    text(line.requested) + " requested" +
                    (line.before > 0 ? ", " + text(line.before) + " by pod sets before it" : "") +
                    ", " + text(line.available) + " available)");
  }
  return listed(parts);
}

std::string excess(const FlavorTry& flavor) {
  std::vector<std::string> parts;
  for (const QuotaLine& line : flavor.lines) {
    const admission::Amount wanted = admission::plus(line.before, line.requested);
    if (wanted <= line.maximum) continue;
    parts.push_back("asks for " + amount_of(line.resource, wanted) + ", " +
                    admission::format_amount(line.resource, line.maximum) +
                    " is the most it could ever have");
  }
  return listed(parts);
}

std::string enough_text(const FlavorTry& flavor, TimePoint now) {
  if (flavor.enough_when_gone.empty()) return {};
  std::vector<std::string> names;
  for (const auto& holder : flavor.enough_when_gone) names.push_back(holder_text(holder, now));
  return "; there is enough when " + listed(names) + (names.size() == 1 ? " has" : " have") +
         " finished";
}

/// "2 workloads of other ClusterQueues hold some".
std::string hold_some(std::size_t count, const std::string& whose) {
  return counted(count, "workload") + " " + whose + (count == 1 ? " holds some" : " hold some");
}

}  // namespace

std::string summary_of(const Account& account) {
  const Explanation& told = account.explanation;
  const TimePoint now = account.now;
  switch (told.standing) {
    case Standing::finished:
      return ended(told, now) + (account.federation && !account.federation->winner.empty()
                                     ? " It ran on cluster " + account.federation->winner + "."
                                     : "");
    case Standing::evicted:
      return "It is being evicted (" + said(told.last_eviction) +
             ") and holds its quota until its pods are gone.";
    case Standing::admitted:
      return "It was admitted by " + where(told) +
             (told.admitted_at ? " " + relative(*told.admitted_at, now) : "") + "." +
             worker_text(account);
    case Standing::waits_for_checks:
      return "It has quota of " + where(told) +
             (told.reserved_at ? ", reserved " + relative(*told.reserved_at, now) : "") +
             ", and waits for admission checks: " + checks_text(told) + "." + worker_text(account);
    default:
      break;
  }
  if (told.standing < Standing::no_local_queue) return held_back(told);
  if (account.blind) {
    return "It waits. The reason is not known, because not everything may be read." +
           (told.last_pending ? " The last message about it: " + said(told.last_pending)
                              : std::string());
  }
  if (told.standing < Standing::backoff) return without_queue(told);
  return waiting_text(told, now);
}

std::string sentence_of(const FlavorTry& flavor, TimePoint now) {
  switch (flavor.verdict) {
    case FlavorVerdict::fits:
      return "enough is free";
    case FlavorVerdict::borrows:
      return "enough is free, some of it borrowed from the cohort";
    case FlavorVerdict::preempts:
      return shortage(flavor) + "; preemption makes room";
    case FlavorVerdict::reclaims:
      return shortage(flavor) + "; it can be taken back from the ClusterQueues that borrowed it";
    case FlavorVerdict::no_candidates:
    case FlavorVerdict::short_of_quota:
      return shortage(flavor) + enough_text(flavor, now);
    case FlavorVerdict::exceeds_maximum:
      return excess(flavor);
    case FlavorVerdict::untolerated_taint:
      return "its nodes have the taint " + flavor.detail + ", which the pods do not tolerate";
    case FlavorVerdict::affinity_mismatch:
      return flavor.detail.empty() ? "its nodes do not match the pods' node affinity"
                                   : flavor.detail;
    case FlavorVerdict::topology_only:
      return "is for workloads that ask for a topology, which this one does not";
    case FlavorVerdict::no_topology:
      return "has no topology, which the workload asks for";
    case FlavorVerdict::no_level:
      return "its topology does not have the level that the pods ask for" +
             (flavor.detail.empty() ? std::string() : "; it has " + flavor.detail);
    case FlavorVerdict::topology_full:
      return flavor.detail.empty() ? "no topology domain has room" : flavor.detail;
    case FlavorVerdict::not_found:
      return "there is no ResourceFlavor of that name";
    case FlavorVerdict::not_looked_at:
      return shortage(flavor).empty() ? "enough is free; something else is in the way"
                                      : shortage(flavor);
  }
  return {};
}

std::vector<std::string> why_no_preemption(const FlavorTry& flavor,
                                           const api::ClusterQueuePreemption& policy) {
  const bool asked = flavor.verdict == FlavorVerdict::no_candidates ||
                     flavor.verdict == FlavorVerdict::short_of_quota;
  std::vector<std::string> why;
  if (!asked) return why;
  const admission::PreemptionChances& chances = flavor.chances;
  const std::string in = "flavor " + flavor.flavor + ": ";
  const std::string own = hold_some(chances.own, "of its own ClusterQueue");
  const std::string others = hold_some(chances.others, "of other ClusterQueues");
  if (chances.own > 0 && policy.within_cluster_queue == api::WithinQueuePolicy::Never) {
    why.push_back(in + own + ", and preemption.withinClusterQueue is Never");
  } else if (chances.own > 0 && chances.own_allowed == 0) {
    why.push_back(in + own + ", but none that it may preempt (withinClusterQueue: " +
                  std::string(text_of(policy.within_cluster_queue)) + ")");
  }
  if (chances.others > 0 && policy.reclaim_within_cohort == api::ReclaimPolicy::Never) {
    why.push_back(in + others + ", and preemption.reclaimWithinCohort is Never");
  } else if (chances.others > 0 && chances.others_borrow == 0) {
    why.push_back(in + others + ", which are within their own quota");
  } else if (chances.others > 0 && chances.beyond_nominal &&
             policy.borrow_within_cohort.policy == api::BorrowPolicy::Never) {
    why.push_back(in + others +
                  ", but it would have to borrow itself, and may not preempt for that "
                  "(borrowWithinCohort: Never)");
  } else if (chances.others > 0 && chances.others_allowed == 0) {
    why.push_back(in + others + ", but none that it may preempt (reclaimWithinCohort: " +
                  std::string(text_of(policy.reclaim_within_cohort)) + ")");
  }
  if (why.empty() && chances.own_allowed + chances.others_allowed > 0) {
    why.push_back(in + "preempting all it may preempt (" +
                  counted(chances.own_allowed + chances.others_allowed, "workload") +
                  ") would not be enough");
  }
  return why;
}

}  // namespace regatta::whatif
