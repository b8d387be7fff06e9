#include "whatif/explain/account.h"
#include "whatif/explain/words.h"
#include "whatif/table.h"

#include <ostream>

namespace regatta::whatif {
namespace {

constexpr std::size_t workers_shown = 20;

using admission::Explanation;
using admission::QuotaLine;

void print_queue(const Explanation& told, std::ostream& out) {
  if (told.cluster_queue.empty()) return;
  out << "\nQueue\n  LocalQueue " << told.key.ns << "/" << told.local_queue << ", ClusterQueue "
      << told.cluster_queue;
  const bool exists = !told.queue_activity.reason.empty();
  if (exists) out << (told.strict_fifo ? " (StrictFIFO)" : " (BestEffortFIFO)");
  if (!told.path.empty() && told.path != "/" + told.cluster_queue) out << ", in " << told.path;
  out << '\n';
  if (told.in_cluster_queue.place > 0) {
    out << "  Place " << told.in_cluster_queue.place << " of " << told.in_cluster_queue.of
        << " in the ClusterQueue, " << told.in_local_queue.place << " of " << told.in_local_queue.of
        << " in the LocalQueue.";
    if (told.sticky) out << " It stays first: its preemptions are under way.";
    std::string ahead;
    for (const api::ObjectKey& key : told.ahead) ahead += (ahead.empty() ? "" : ", ") + key.str();
    if (!ahead.empty()) {
      out << " Before it: " << ahead
          << (told.in_cluster_queue.place - 1 > told.ahead.size() ? ", …" : ".");
    }
    out << '\n';
  }
  if (told.parked_like) {
    out << "  It is parked until something changes, like " << told.parked_like->str()
        << ", which asks for the same and did not fit.\n";
  } else if (told.parked) {
    out << "  It is parked until something changes: it had its turn and did not fit.\n";
  }
}

std::string limited(const QuotaLine& line, admission::Amount amount) {
  return amount == admission::unlimited ? "unlimited"
                                        : admission::format_amount(line.resource, amount);
}

void print_group(const admission::GroupTry& group, TimePoint now, std::ostream& out) {
  Table table({"", "flavor", "resource", ">requested", ">nominal", ">used", ">available",
               ">borrowable", ">missing"});
  for (const admission::FlavorTry& flavor : group.flavors) {
    bool first = true;
    for (const QuotaLine& line : flavor.lines) {
      const admission::Amount wanted = admission::plus(line.before, line.requested);
      table.add({first && flavor.chosen ? "*" : "", first ? flavor.flavor : "", line.resource,
                 limited(line, wanted), limited(line, line.nominal), limited(line, line.used),
                 limited(line, line.available), limited(line, line.borrowable),
                 limited(line, line.missing)});
      first = false;
    }
  }
  table.print(out, 2);
  for (const admission::FlavorTry& flavor : group.flavors) {
    out << "  " << flavor.flavor << ": " << sentence_of(flavor, now) << ".\n";
  }
}

void print_tries(const Explanation& told, TimePoint now, std::ostream& out) {
  for (const admission::PodSetTry& pod_set : told.tries) {
    out << "\nFlavors for " << (pod_set.pod_sets.size() > 1 ? "pod sets " : "pod set ")
        << listed(pod_set.pod_sets) << " ("
        << counted(static_cast<std::size_t>(pod_set.count), "pod") << ")\n";
    for (const admission::GroupTry& group : pod_set.groups) print_group(group, now, out);
    if (!pod_set.uncovered.empty()) {
      out << "  The ClusterQueue has no quota for " << listed(pod_set.uncovered) << ".\n";
    }
  }
}

void print_preemption(const Explanation& told, TimePoint now, std::ostream& out) {
  if (!told.victims.empty()) {
    out << "\nWould be preempted\n";
    Table table({"workload", "clusterqueue", ">priority", "since", "why"});
    for (const admission::Victim& victim : told.victims) {
      const admission::Holder& holder = victim.holder;
      table.add({holder.key.str(), holder.cluster_queue, std::to_string(holder.priority),
                 relative(holder.since, now),
                 std::string(human_text(victim.reason)) + (holder.evicted ? " (under way)" : "")});
    }
    table.print(out, 2);
    return;
  }
  std::vector<std::string> why;
  for (const admission::PodSetTry& pod_set : told.tries) {
    for (const admission::GroupTry& group : pod_set.groups) {
      for (const admission::FlavorTry& flavor : group.flavors) {
        for (std::string& reason : why_no_preemption(flavor, told.preemption)) {
          if (std::find(why.begin(), why.end(), reason) == why.end()) {
            why.push_back(std::move(reason));
          }
        }
      }
    }
  }
  if (why.empty()) return;
  out << "\nWhy preemption does not help\n";
  for (const std::string& reason : why) out << "  " << reason << ".\n";
}

void print_held(const Explanation& told, std::ostream& out) {
  if (told.held.empty()) return;
  const bool ended = told.standing == admission::Standing::finished;
  out << (ended ? "\nQuota it held\n" : "\nQuota it holds\n");
  Table table({"pod set", ">pods", "resource", "flavor", ">amount"});
  for (const admission::PodSetHeld& held : told.held) {
    for (const auto& [resource, flavor] : held.flavors) {
      const auto used = held.usage.find(resource);
      table.add({held.name, std::to_string(held.count), resource, flavor,
                 used == held.usage.end() ? "" : used->second.str()});
    }
  }
  table.print(out, 2);
  for (const admission::PodSetHeld& held : told.held) {
    if (held.places.domains.empty()) continue;
    std::vector<std::string> places;
    for (const admission::TopologyDomain& domain : held.places.domains) {
      std::string path;
      for (const std::string& value : domain.values) path += (path.empty() ? "" : "/") + value;
      places.push_back(path + " (" + std::to_string(domain.count) + ")");
    }
    out << "  Places of " << held.name << ": " << listed(places) << '\n';
  }
}

void print_checks(const Explanation& told, TimePoint now, std::ostream& out) {
  if (told.checks.empty()) return;
  out << "\nAdmission checks\n";
  Table table({"check", "state", "since", "message"});
  for (const admission::CheckView& check : told.checks) {
    table.add({check.name, std::string(api::text_of(check.state)),
               check.since ? relative(*check.since, now) : "", check.message});
  }
  table.print(out, 2);
}

void print_federation(const FederationView& view, std::ostream& out) {
  out << "\nClusters (MultiKueueConfig " << view.config
      << (view.config_exists ? "" : ", which does not exist") << ")\n";
  Table table({"cluster", "nominated", "runs it", "connected", "message"});
  // Of a large fleet, those that have to do with the workload.
  const bool some = view.workers.size() > workers_shown;
  std::size_t others = 0;
  for (const WorkerView& worker : view.workers) {
    if (some && !worker.nominated && !worker.winner && worker.exists) {
      ++others;
      continue;
    }
    table.add({worker.name, worker.nominated ? "yes" : "no", worker.winner ? "yes" : "no",
               worker.connected ? "yes" : "no",
               worker.exists ? worker.message : "there is no MultiKueueCluster of that name"});
  }
  if (!table.empty()) table.print(out, 2);
  if (others > 0) out << "  and " << others << " clusters that are not nominated\n";
  if (!view.told.empty()) out << "  " << view.told << ".\n";
}

void print_history(const Explanation& told, TimePoint now, std::ostream& out) {
  const auto line = [&](const char* what, const std::optional<api::Condition>& condition) {
    if (!condition) return;
    out << "  " << what << " " << relative(condition->last_transition_time, now) << ": "
        << condition->reason << (condition->message.empty() ? "" : ": ") << condition->message
        << '\n';
  };
  const bool waits = told.standing >= admission::Standing::inactive;
  if (!waits || (!told.last_pending && !told.last_eviction)) return;
  out << "\nWhat was written about it\n";
  line("Not admitted,", told.last_pending);
  line("Evicted,", told.last_eviction);
  line("Preempted,", told.last_preemption);
}

}  // namespace

void print(const Account& account, std::ostream& out) {
  const Explanation& told = account.explanation;
  out << "Workload " << told.key.str() << ", priority " << told.priority;
  if (told.created) out << ", created " << relative(*told.created, account.now);
  out << "\n\n" << summary_of(account) << '\n';
  const std::vector<std::string> steps = next_steps(account);
  if (!steps.empty()) out << "\nWhat to do\n";
  for (const std::string& step : steps) out << "  - " << step << '\n';
  print_queue(told, out);
  print_held(told, out);
  print_checks(told, account.now, out);
  if (account.federation) print_federation(*account.federation, out);
  print_tries(told, account.now, out);
  print_preemption(told, account.now, out);
  print_history(told, account.now, out);
  if (!account.gaps.empty()) out << "\nNot everything could be read\n";
  for (const std::string& gap : account.gaps) out << "  " << gap << '\n';
}

}  // namespace regatta::whatif
