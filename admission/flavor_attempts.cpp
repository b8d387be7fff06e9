#include "admission/flavor_assigner.h"

#include <algorithm>

namespace regatta::admission {
namespace {

std::string_view name_of(Mode mode) {
  switch (mode) {
    case Mode::no_fit:
      return "NoFit";
    case Mode::no_candidates:
      return "preemptionMode=NoCandidates";
    case Mode::preempt:
      return "preemptionMode=Preempt";
    case Mode::reclaim:
      return "preemptionMode=Reclaim";
    case Mode::fit:
      return "Fit";
  }
  return {};
}

std::string render(const FlavorAttempt& attempt, const Names& names) {
  std::string text = names.flavors.name(attempt.flavor) + "(";
  text += name_of(attempt.mode);
  if (attempt.borrow > 0) text += ";borrow=" + std::to_string(attempt.borrow);
  std::vector<std::string> reasons;
  reasons.reserve(attempt.notes.size());
  for (const FlavorNote& note : attempt.notes) reasons.push_back(render(note, names));
  std::sort(reasons.begin(), reasons.end());
  reasons.erase(std::unique(reasons.begin(), reasons.end()), reasons.end());
  for (const std::string& reason : reasons) text += ";" + reason;
  return text + ")";
}

}  // namespace

std::string Assignment::considered(const Names& names) const {
  std::string text;
  for (const PodSetPlan& pod_set : pod_sets) {
    if (pod_set.attempts.empty()) continue;
    std::vector<const FlavorAttempt*> attempts;
    attempts.reserve(pod_set.attempts.size());
    for (const FlavorAttempt& attempt : pod_set.attempts) attempts.push_back(&attempt);
    std::sort(attempts.begin(), attempts.end(), [&](const auto* a, const auto* b) {
      return names.flavors.name(a->flavor) < names.flavors.name(b->flavor);
    });
    text += (text.empty() ? "" : " | ") + pod_set.shape->name + ": ";
    for (const FlavorAttempt* attempt : attempts) {
      text += (attempt == attempts.front() ? "" : ", ") + render(*attempt, names);
    }
  }
  return text;
}

}  // namespace regatta::admission
