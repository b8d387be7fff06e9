#include "placement/decisions.h"

#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/base/joined.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <tuple>

namespace regatta::placement {
namespace {

namespace labels = api::placements;

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() && number >= 0;
  return whole ? std::optional(number) : std::nullopt;
}

/// The number behind the last dash of "<placement>-decision-<n>"; names without one come last.
std::int64_t number_of(const std::string& name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos) return INT64_MAX;
  return number_in(std::string_view(name).substr(dash + 1)).value_or(INT64_MAX);
}

/// A missing label counts as 0.
Result<std::int64_t> index_of(const api::ObjectMeta& part, std::string_view label) {
  const auto found = part.labels.find(std::string(label));
  if (found == part.labels.end()) return std::int64_t{0};
  if (const auto number = number_in(found->second)) return *number;
  return Error(Errc::invalid, "label " + std::string(label) + " of PlacementDecision " +
                                  part.key().str() + " is no number: \"" + found->second + "\"");
}

struct Choice {
  std::string cluster;
  std::optional<std::int64_t> score;
};

/// Its name tells groups of one index apart; the first has none.
std::string group_name_of(const api::ObjectMeta& part) {
  const auto found = part.labels.find(std::string(labels::group_name_label));
  return found == part.labels.end() ? std::string() : found->second;
}

/// Parts in order of number and name.
using Parts = std::map<std::tuple<std::int64_t, std::string>, std::vector<Choice>>;
/// Groups in order of index and name.
using Groups = std::map<std::tuple<std::int64_t, std::string>, Parts>;

void add_group(const Parts& parts, std::set<std::string>* seen, std::vector<std::string>* out) {
  std::vector<Choice> all;
  for (const auto& [number, choices] : parts) {
    all.insert(all.end(), choices.begin(), choices.end());
  }
  const bool scored =
      std::all_of(all.begin(), all.end(), [](const Choice& one) { return one.score.has_value(); });
  // Equal keys stay in the order in which they come.
  std::multimap<std::int64_t, std::string, std::greater<>> ranked;
  for (Choice& one : all) ranked.emplace(scored ? *one.score : 0, std::move(one.cluster));
  for (auto& [score, cluster] : ranked) {
    if (cluster.empty() || !seen->insert(cluster).second) continue;
    out->push_back(std::move(cluster));
  }
}

std::vector<std::string> flattened(const Groups& groups) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const auto& [group, parts] : groups) add_group(parts, &seen, &out);
  return out;
}

std::string api_of(const Reference& reference) {
  return reference.by_key ? "PlacementDecisions of multicluster.x-k8s.io/v1alpha1"
                          : "Placements of cluster.open-cluster-management.io/v1beta1";
}

/// Why a Placement has chosen nothing, as it says itself.
std::string excuse_of(const DecisionView& view) {
  if (!view.placement) return "";
  const auto* satisfied =
      api::find_condition(view.placement->status.conditions, labels::satisfied_condition);
  if (!satisfied || satisfied->status == api::ConditionStatus::True) return "";
  return " (" + satisfied->reason + ": " + satisfied->message + ")";
}

/// Decisions went although the Placement still counts the clusters that it has chosen.
bool lost(const DecisionView& view) {
  return view.parts == 0 && view.placement &&
         view.placement->status.number_of_selected_clusters > 0;
}

Verdict kept(const DecisionView& view, const std::string& why) {
  Verdict out;
  out.standing = Standing::kept;
  out.clusters = view.last_known;
  out.message = why + "; the last ones known count: " + joined(out.clusters, ", ");
  return out;
}

}  // namespace

std::string Reference::str() const {
  return (by_key ? "placement key " : "Placement ") + ns + "/" + name;
}

Result<std::vector<std::string>> in_order(
    const std::vector<std::shared_ptr<const api::PlacementDecision>>& parts) {
  Groups groups;
  for (const auto& part : parts) {
    const auto group = index_of(part->metadata, labels::group_index_label);
    if (!group) return group.error();
    const std::string& name = part->metadata.name;
    Parts& parts_of_group = groups[{*group, group_name_of(part->metadata)}];
    std::vector<Choice>& choices = parts_of_group[{number_of(name), name}];
    for (const api::ClusterDecision& decision : part->status.decisions) {
      choices.push_back({decision.cluster_name, decision.score});
    }
  }
  return flattened(groups);
}

Result<std::vector<std::string>> in_order(
    const std::vector<std::shared_ptr<const api::ProfilePlacementDecision>>& parts) {
  Groups groups;
  for (const auto& part : parts) {
    const auto index = index_of(part->metadata, labels::decision_index_label);
    if (!index) return index.error();
    std::vector<Choice>& choices = groups[{*index, ""}][{0, part->metadata.name}];
    for (const api::ProfileDecision& decision : part->decisions) {
      choices.push_back({decision.profile, std::nullopt});
    }
  }
  return flattened(groups);
}

Verdict judge(const DecisionView& view) {
  Verdict out;
  const std::string name = view.reference.str();
  if (!view.served) return out;
  const bool known = !view.last_known.empty();
  if (!*view.served) {
    out.standing = Standing::not_served;
    out.message = "This cluster does not serve " + api_of(view.reference);
  } else if (!view.unreadable.empty()) {
    if (known) return kept(view, name + " cannot be read: " + view.unreadable);
    out.standing = Standing::unreadable;
    out.message = name + " cannot be read: " + view.unreadable;
  } else if (!view.reference.by_key && (!view.placement || view.placement->metadata.deleting())) {
    out.standing = Standing::not_found;
    out.message = name + " does not exist";
  } else if (!view.clusters) {
    if (known)
      return kept(view, name + " has unreadable decisions: " + view.clusters.error().what());
    out.standing = Standing::unreadable;
    out.message = name + " has unreadable decisions: " + view.clusters.error().what();
  } else if (lost(view) && known) {
    return kept(view, "The decisions of " + name + " are gone");
  } else if (view.parts == 0) {
    out.standing = Standing::undecided;
    out.message = name + " has not decided yet" + excuse_of(view);
  } else if (view.clusters->empty()) {
    out.standing = Standing::nothing_chosen;
    out.message = name + " has chosen no cluster" + excuse_of(view);
  } else {
    out.standing = Standing::decided;
    out.clusters = *view.clusters;
    out.message = name + " has chosen " + joined(out.clusters, ", ");
  }
  return out;
}

api::Condition placement_check_condition(const Verdict& verdict, std::int64_t generation) {
  namespace reasons = api::reasons;
  api::Condition out;
  out.type = std::string(api::conditions::active);
  out.observed_generation = generation;
  out.status = api::ConditionStatus::False;
  out.message = verdict.message;
  switch (verdict.standing) {
    case Standing::decided:
    case Standing::kept:
      out.status = api::ConditionStatus::True;
      out.reason = std::string(reasons::active);
      break;
    case Standing::nothing_chosen:
    case Standing::undecided:
      out.reason = std::string(reasons::no_clusters_available);
      break;
    case Standing::not_found:
      out.reason = std::string(reasons::placement_not_found);
      break;
    case Standing::unreadable:
      out.reason = std::string(reasons::placement_decision_error);
      break;
    case Standing::not_served:
    case Standing::unknown:
      out.reason = std::string(reasons::placement_error);
      break;
  }
  return out;
}

}  // namespace regatta::placement
