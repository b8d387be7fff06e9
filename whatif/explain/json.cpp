#include "whatif/explain/account.h"
#include "whatif/explain/words.h"

#include <nlohmann/json.hpp>

namespace regatta::whatif {
namespace {

using admission::Explanation;

/// "waits_for_quota" -> "WaitsForQuota", as reasons of conditions are written.
std::string pascal(std::string_view snake) {
  std::string out;
  bool large = true;
  for (const char c : snake) {
    if (c == '_') {
      large = true;
      continue;
    }
    out += large ? static_cast<char>(c - 'a' + 'A') : c;
    large = false;
  }
  return out;
}

std::string standing_text(const Account& account) {
  const admission::Standing standing = account.explanation.standing;
  const bool unknown = account.blind && standing >= admission::Standing::no_local_queue;
  return unknown ? "Unknown" : pascal(name_of(standing));
}

std::string quantity(const std::string& resource, admission::Amount amount) {
  return amount == admission::unlimited ? "unlimited" : admission::format_amount(resource, amount);
}

void put(Json* into, const char* name, const std::string& text) {
  if (!text.empty()) (*into)[name] = text;
}

void put(Json* into, const char* name, const std::optional<TimePoint>& time) {
  if (time) (*into)[name] = format_rfc3339(*time);
}

Json json_of(const admission::Holder& holder) {
  Json out = {{"workload", holder.key.str()},
              {"clusterQueue", holder.cluster_queue},
              {"priority", holder.priority},
              {"since", format_rfc3339(holder.since)}};
  if (holder.evicted) out["evicted"] = true;
  for (const auto& [resource, amount] : holder.amounts) {
    out["amounts"][resource] = quantity(resource, amount);
  }
  return out;
}

Json json_of(const admission::QuotaLine& line) {
  const auto text = [&](admission::Amount amount) { return quantity(line.resource, amount); };
  return {{"resource", line.resource},
          {"requested", text(line.requested)},
          {"earlierPodSets", text(line.before)},
          {"nominal", text(line.nominal)},
          {"used", text(line.used)},
          {"available", text(line.available)},
          {"borrowable", text(line.borrowable)},
          {"lent", text(line.lent)},
          {"maximum", text(line.maximum)},
          {"missing", text(line.missing)}};
}

Json json_of(const admission::FlavorTry& flavor, const Explanation& told, TimePoint now) {
  Json out = {{"name", flavor.flavor},
              {"verdict", pascal(name_of(flavor.verdict))},
              {"chosen", flavor.chosen},
              {"sentence", sentence_of(flavor, now)}};
  put(&out, "detail", flavor.detail);
  out["resources"] = Json::array();
  for (const admission::QuotaLine& line : flavor.lines) out["resources"].push_back(json_of(line));
  for (const auto& holder : flavor.enough_when_gone) {
    if (out["enoughWhenFinished"].size() == admission::explain_names_max) break;
    out["enoughWhenFinished"].push_back(json_of(holder));
  }
  for (const auto& why : why_no_preemption(flavor, told.preemption)) {
    out["whyNoPreemption"].push_back(why);
  }
  return out;
}

Json json_of(const admission::PodSetTry& pod_set, const Explanation& told, TimePoint now) {
  Json out = {{"podSets", pod_set.pod_sets}, {"count", pod_set.count}};
  if (!pod_set.uncovered.empty()) out["resourcesWithoutQuota"] = pod_set.uncovered;
  out["flavors"] = Json::array();
  for (const admission::GroupTry& group : pod_set.groups) {
    for (const auto& flavor : group.flavors) out["flavors"].push_back(json_of(flavor, told, now));
  }
  return out;
}

Json json_of(const FederationView& view) {
  Json out = {{"admissionCheck", view.check}, {"config", view.config}};
  put(&out, "clusterName", view.winner);
  put(&out, "message", view.told);
  out["clusters"] = Json::array();
  for (const WorkerView& worker : view.workers) {
    Json& made = out["clusters"].emplace_back(Json{{"name", worker.name},
                                                   {"nominated", worker.nominated},
                                                   {"runsIt", worker.winner},
                                                   {"exists", worker.exists},
                                                   {"connected", worker.connected}});
    put(&made, "reason", worker.reason);
    put(&made, "message", worker.message);
  }
  return out;
}

void put_queue(const Explanation& told, Json* out) {
  Json queue = {{"localQueue", told.local_queue}, {"clusterQueue", told.cluster_queue}};
  put(&queue, "path", told.path);
  if (!told.queue_activity.reason.empty()) {
    queue["active"] = told.queue_activity.active;
    queue["message"] = told.queue_activity.message;
  }
  if (told.in_cluster_queue.place > 0) {
    queue["strategy"] = told.strict_fifo ? "StrictFIFO" : "BestEffortFIFO";
    queue["place"] = told.in_cluster_queue.place;
    queue["of"] = told.in_cluster_queue.of;
    queue["placeInLocalQueue"] = told.in_local_queue.place;
    queue["ofLocalQueue"] = told.in_local_queue.of;
    queue["ahead"] = Json::array();
    for (const api::ObjectKey& key : told.ahead) queue["ahead"].push_back(key.str());
    queue["setAside"] = told.parked;
    if (told.parked_like) queue["setAsideWith"] = told.parked_like->str();
  }
  (*out)["queue"] = std::move(queue);
}

void put_checks(const Explanation& told, Json* out) {
  for (const admission::CheckView& check : told.checks) {
    Json& made = (*out)["admissionChecks"].emplace_back(
        Json{{"name", check.name}, {"state", std::string(api::text_of(check.state))}});
    put(&made, "message", check.message);
    put(&made, "since", check.since);
    if (check.retries > 0) made["retries"] = check.retries;
  }
}

void put_held(const Explanation& told, Json* out) {
  for (const admission::PodSetHeld& held : told.held) {
    Json& made = (*out)["holds"].emplace_back(
        Json{{"podSet", held.name}, {"count", held.count}, {"flavors", held.flavors}});
    for (const auto& [resource, used] : held.usage) made["usage"][resource] = used.str();
    for (const admission::TopologyDomain& domain : held.places.domains) {
      made["places"].push_back({{"values", domain.values}, {"pods", domain.count}});
    }
    if (!held.places.levels.empty()) made["levels"] = held.places.levels;
  }
}

}  // namespace

Json to_json(const Account& account) {
  const Explanation& told = account.explanation;
  Json out = {{"workload", told.key.str()},     {"standing", standing_text(account)},
              {"summary", summary_of(account)}, {"nextSteps", next_steps(account)},
              {"priority", told.priority},      {"at", format_rfc3339(account.now)}};
  put(&out, "created", told.created);
  put(&out, "reservedAt", told.reserved_at);
  put(&out, "admittedAt", told.admitted_at);
  put(&out, "requeueAt", told.requeue_at);
  put(&out, "reason", told.reason);
  put(&out, "message", told.message);
  if (told.requeues > 0) out["requeues"] = told.requeues;
  if (told.fewer_pods) out["podsThatFit"] = *told.fewer_pods;
  put_queue(told, &out);
  put_held(told, &out);
  put_checks(told, &out);
  if (account.federation) out["multiKueue"] = json_of(*account.federation);
  for (const auto& pod_set : told.tries) {
    out["podSets"].push_back(json_of(pod_set, told, account.now));
  }
  for (const admission::Victim& victim : told.victims) {
    Json& made = out["wouldPreempt"].emplace_back(json_of(victim.holder));
    made["reason"] = std::string(name_of(victim.reason));
  }
  for (const std::string& gap : account.gaps) out["gaps"].push_back(gap);
  return out;
}

}  // namespace regatta::whatif
