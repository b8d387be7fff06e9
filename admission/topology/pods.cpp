#include "admission/topology/pods.h"

#include "admission/topology/text.h"
#include "lib/api/names.h"

#include <algorithm>

namespace regatta::admission {
namespace {

std::string text_of(const PodProfile& profile) {
  std::string text;
  for (const ResourceAmount& request : profile.requests) {
    text += std::to_string(request.resource) + '=' + std::to_string(request.amount) + ',';
  }
  for (const auto& [key, value] : profile.node_selector) {
    write(&text, key);
    write(&text, value);
  }
  text += '|';
  for (const api::Toleration& toleration : profile.tolerations) {
    write(&text, toleration.key);
    write(&text, toleration.op);
    write(&text, toleration.value);
    write(&text, toleration.effect);
  }
  text += profile.node_affinity ? '+' : '-';
  if (!profile.node_affinity) return text;
  for (const api::NodeSelectorTerm& term : *profile.node_affinity) {
    write(&text, term.match_expressions);
    write(&text, term.match_fields);
  }
  return text;
}

}  // namespace

PodAmounts pod_amounts(const api::PodSpec& spec) {
  PodAmounts amounts = api::pod_request_amounts(spec);
  amounts[std::string(api::pods_resource)] += 1;
  return amounts;
}

PodProfilePtr PodProfiles::share(std::unique_ptr<PodProfile> profile) {
  profile->text = text_of(*profile);
  if (const auto it = known_->find(profile->text); it != known_->end()) return it->second.lock();
  profile->id = ++last_id_;
  const auto forget = [known = known_](const PodProfile* dead) {
    known->erase(dead->text);
    delete dead;
  };
  PodProfilePtr shared(profile.release(), forget);
  known_->emplace(shared->text, shared);
  return shared;
}

PodProfilePtr PodProfiles::intern(const api::PodSpec& spec, Names* names) {
  auto profile = std::make_unique<PodProfile>();
  for (const auto& [name, amount] : pod_amounts(spec)) {
    profile->requests.push_back({names->resources.intern(name), std::max<Amount>(0, amount)});
  }
  profile->tolerations = spec.tolerations;
  profile->node_selector = spec.node_selector;
  if (spec.node_affinity) profile->node_affinity = spec.node_affinity->required;
  return share(std::move(profile));
}

PodProfilePtr PodProfiles::intern(const PodProfile& base,
                                  const std::vector<api::Toleration>& tolerations,
                                  const api::StringMap& node_selector) {
  auto profile = std::make_unique<PodProfile>();
  profile->requests = base.requests;
  profile->tolerations = base.tolerations;
  for (const api::Toleration& toleration : tolerations) {
    const auto& known = profile->tolerations;
    if (std::find(known.begin(), known.end(), toleration) != known.end()) continue;
    profile->tolerations.push_back(toleration);
  }
  profile->node_selector = base.node_selector;
  profile->node_selector.insert(node_selector.begin(), node_selector.end());
  profile->node_affinity = base.node_affinity;
  return share(std::move(profile));
}

}  // namespace regatta::admission
