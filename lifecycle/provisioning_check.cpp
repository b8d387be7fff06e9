#include "lifecycle/provisioning_check.h"

#include "lib/api/check_retries.h"
#include "lib/api/names.h"
#include "lib/api/owner_reference.h"
#include "lib/base/digest.h"
#include "lib/base/limited_text.h"
#include "lifecycle/lifecycle.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace regatta::lifecycle {
namespace {

namespace provisioning = api::provisioning;

constexpr std::size_t name_bytes_max = 247;
/// A name that is too long to be parsed is compared with the names of so many attempts.
constexpr std::int32_t attempts_max = 1000;

std::string limited(std::string name) {
  if (name.size() <= name_bytes_max) return name;
  return name.substr(0, name_bytes_max) + "-" + sha1_hex(name).substr(0, 5);
}

std::string template_name(const std::string& request, const std::string& pod_set) {
  return limited("ppt-" + request + "-" + pod_set);
}

bool is(const api::ProvisioningRequest& request, std::string_view type) {
  return api::is_true(request.status.conditions, type);
}

std::string said(const api::ProvisioningRequest& request, std::string_view type) {
  const api::Condition* condition = api::find_condition(request.status.conditions, type);
  return condition ? condition->message : "";
}

/// The number of the attempt that the request is for that check; 0: it belongs to another check.
std::int32_t attempt_of(const api::ProvisioningRequest& request, const std::string& workload,
                        const std::string& check) {
  const std::string prefix = workload + "-" + check + "-";
  const std::string& name = request.metadata.name;
  if (name.starts_with(prefix)) {
    std::int32_t attempt = 0;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + prefix.size(), end, attempt);
    return read.ec == std::errc() && read.ptr == end ? attempt : 0;
  }
  if (prefix.size() < name_bytes_max) return 0;
  for (std::int32_t attempt = 1; attempt <= attempts_max; ++attempt) {
    if (name == provisioning_request_name(workload, check, attempt)) return attempt;
  }
  return 0;
}

bool uses(const api::ResourceRequirements& resources, const std::vector<std::string>& managed) {
  return std::any_of(managed.begin(), managed.end(), [&](const std::string& name) {
    return resources.requests.contains(name) || resources.limits.contains(name);
  });
}

bool concerns(const api::PodSet& pod_set, const std::vector<std::string>& managed) {
  if (pod_set.count <= 0) return false;
  if (managed.empty()) return true;
  const api::PodSpec& spec = pod_set.pod_template.spec();
  const auto container_uses = [&](const api::Container& container) {
    return uses(container.resources, managed);
  };
  return std::any_of(spec.init_containers.begin(), spec.init_containers.end(), container_uses) ||
         std::any_of(spec.containers.begin(), spec.containers.end(), container_uses);
}

Json spec_of(const api::PodSet& pod_set) {
  const Json whole = pod_set.pod_template.json();
  const auto spec = whole.find("spec");
  return spec == whole.end() ? Json::object() : *spec;
}

/// The fields of the pods that the scheduler and the autoscaler read.
Json scheduling_requirements(const api::PodSet& pod_set) {
  const api::PodSpec& view = pod_set.pod_template.spec();
  const Json spec = spec_of(pod_set);
  Json out = Json::object();
  for (const char* field :
       {"resources", "nodeSelector", "tolerations", "affinity", "resourceClaims"}) {
    if (const auto found = spec.find(field); found != spec.end()) out[field] = *found;
  }
  for (const auto* containers : {&view.containers, &view.init_containers}) {
    Json list = Json::array();
    for (const api::Container& container : *containers) {
      Json requests = Json::object();
      for (const auto& [name, quantity] : container.resources.requests) {
        requests[name] = quantity.str();
      }
      list.push_back(std::move(requests));
    }
    out[containers == &view.containers ? "containers" : "initContainers"] = std::move(list);
  }
  return out;
}

bool alike(const api::PodSet& a, const api::PodSet& b, const std::string& policy) {
  if (policy == "IdenticalPodTemplates") return a.pod_template.json() == b.pod_template.json();
  if (policy == "IdenticalWorkloadSchedulingRequirements") {
    return scheduling_requirements(a) == scheduling_requirements(b);
  }
  return false;
}

/// The pods for which a request of that config asks; empty: no request is needed.
Result<std::vector<ProvisionedPods>> pods_to_provision(
    const api::Workload& workload, const api::ProvisioningRequestConfigSpec& config,
    const std::string& request_name) {
  std::vector<ProvisionedPods> pods;
  std::vector<const api::PodSet*> first;
  const auto& assignments = workload.status.admission->pod_set_assignments;
  for (const api::PodSet& pod_set : workload.spec.pod_sets) {
    if (!concerns(pod_set, config.managed_resources)) continue;
    const auto assigned =
        std::find_if(assignments.begin(), assignments.end(),
                     [&](const auto& assignment) { return assignment.name == pod_set.name; });
    if (assigned == assignments.end()) {
      return Error(Errc::conflict,
                   "inconsistent podSet assignments: missing assignment for PodSet \"" +
                       pod_set.name + "\"");
    }
    const std::int32_t count = assigned->count.value_or(pod_set.count);
    if (count <= 0) continue;
    std::size_t at = 0;
    while (at < pods.size() && !alike(*first[at], pod_set, config.pod_set_merge_policy)) ++at;
    if (at == pods.size()) {
      first.push_back(&pod_set);
      pods.emplace_back().template_name = template_name(request_name, pod_set.name);
    }
    pods[at].pod_sets.push_back(pod_set.name);
    pods[at].count += count;
  }
  return pods;
}

bool follows(const api::ProvisioningRequest& request,
             const api::ProvisioningRequestConfigSpec& config) {
  if (request.spec.provisioning_class_name != config.provisioning_class_name) return false;
  return std::all_of(config.parameters.begin(), config.parameters.end(), [&](const auto& wanted) {
    const auto found = request.spec.parameters.find(wanted.first);
    return found != request.spec.parameters.end() && found->second == wanted.second;
  });
}

std::vector<api::PodSetUpdate> updates_of(const std::vector<ProvisionedPods>& pods,
                                          const api::ProvisioningRequest& request,
                                          const api::ProvisioningRequestConfigSpec& config) {
  std::vector<api::PodSetUpdate> updates;
  for (const ProvisionedPods& some : pods) {
    for (const std::string& pod_set : some.pod_sets) {
      api::PodSetUpdate& update = updates.emplace_back();
      update.name = pod_set;
      update.annotations[std::string(provisioning::consume_annotation)] = request.metadata.name;
      update.annotations[std::string(provisioning::class_annotation)] =
          request.spec.provisioning_class_name;
      for (const api::NodeSelectorUpdate& selector : config.node_selector_updates) {
        const auto& details = request.status.provisioning_class_details;
        const auto detail = details.find(selector.value_from_provisioning_class_detail);
        if (detail != details.end()) update.node_selector[selector.key] = detail->second;
      }
    }
  }
  return updates;
}

/// One check of one workload.
class CheckPlanner {
 public:
  CheckPlanner(const ProvisioningView& view, const ProvisioningCheck& check, TimePoint now)
      : workload_(*view.workload), requests_(view.requests), check_(check), now_(now) {
    before_ = *api::find_check(workload_.status, check.name);
    state_ = before_;
    for (const RequestPtr& request : view.requests) consider(request);
  }

  Status plan(ProvisioningPlan* out) {
    if (!check_.config) {
      // What runs goes on with the nodes that it has.
      const bool runs = is_admitted(workload_) && state_.state == api::CheckState::Ready;
      if (runs || check_.config_unreadable) {
        keep_all(out);
        return ok();
      }
      state_.state = api::CheckState::Pending;
      state_.message = "the check is not active";
      report(out);
      return ok();
    }
    const std::int32_t attempt = current_ ? attempt_ : retries() + 1;
    auto pods = pods_to_provision(workload_, check_.config->spec, name(attempt));
    if (!pods) return pods.error();
    if (pods->empty()) {
      if (state_.state != api::CheckState::Ready) {
        state_.state = api::CheckState::Ready;
        state_.message = "the provisioning request is not needed";
        state_.pod_set_updates.clear();
      }
      current_.reset();
    } else if (current_) {
      follow(*pods);
      out->current.push_back(current_);
    }
    report(out);
    if (!pods->empty()) return want_request(out);
    return ok();
  }

  const RequestPtr& current() const { return current_; }

 private:
  std::string name(std::int32_t attempt) const {
    return provisioning_request_name(workload_.metadata.name, check_.name, attempt);
  }

  /// The last attempt counts, but not one that asks for something else than the config does now.
  void consider(const RequestPtr& request) {
    if (!check_.config || request->metadata.deleting()) return;
    const std::int32_t attempt = attempt_of(*request, workload_.metadata.name, check_.name);
    if (attempt <= attempt_ || !follows(*request, check_.config->spec)) return;
    current_ = request;
    attempt_ = attempt;
  }

  void keep_all(ProvisioningPlan* out) const {
    for (const RequestPtr& request : requests_) {
      const bool mine = attempt_of(*request, workload_.metadata.name, check_.name) > 0;
      if (mine && !request->metadata.deleting()) out->current.push_back(request);
    }
  }

  bool earlier_attempt() const { return attempt_ <= retries(); }

  std::int32_t retries() const { return api::retries_of(state_); }

  bool came_to_nothing() const {
    return is(*current_, provisioning::failed) ||
           (is(*current_, provisioning::booking_expired) && !is_admitted(workload_) &&
            !is(*current_, provisioning::capacity_revoked));
  }

  void fail(const char* prefix, const std::string& why) {
    const auto& retry = check_.config->spec.retry_strategy;
    if (attempt_ > retry.backoff_limit_count) {
      state_.state = api::CheckState::Rejected;
      state_.message = why;
      return;
    }
    // What hinders the next attempt is told already.
    if (earlier_attempt() && state_.message.starts_with(creation_failed)) return;
    state_.message = prefix + why;
    if (earlier_attempt()) return;
    state_.state = api::CheckState::Retry;
    std::int64_t wait = retry.backoff_base_seconds;
    for (std::int32_t i = retries(); i > 0 && wait > 0 && wait < retry.backoff_max_seconds; --i) {
      wait = std::min<std::int64_t>(wait * 2, retry.backoff_max_seconds);
    }
    state_.requeue_after_seconds =
        static_cast<std::int32_t>(std::min<std::int64_t>(wait, retry.backoff_max_seconds));
  }

  void follow(const std::vector<ProvisionedPods>& pods) {
    const api::ProvisioningRequest& request = *current_;
    if (is(request, provisioning::failed)) {
      fail("Retrying after failure: ", said(request, provisioning::failed));
    } else if (is(request, provisioning::capacity_revoked)) {
      if (!workload_.spec.active) return;
      state_.state = api::CheckState::Rejected;
      state_.message = said(request, provisioning::capacity_revoked);
    } else if (is(request, provisioning::booking_expired)) {
      if (is_admitted(workload_)) return;
      fail("Retrying after booking expired: ", said(request, provisioning::booking_expired));
    } else if (is(request, provisioning::provisioned)) {
      if (state_.state == api::CheckState::Ready) return;
      state_.state = api::CheckState::Ready;
      state_.pod_set_updates = updates_of(pods, request, check_.config->spec);
      state_.message = said(request, provisioning::provisioned);
    } else if (is(request, provisioning::accepted)) {
      const auto& conditions = request.status.conditions;
      if (api::find_condition(conditions, provisioning::provisioned) == nullptr) return;
      state_.state = api::CheckState::Pending;
      state_.message = said(request, provisioning::provisioned);
    } else {
      state_.state = api::CheckState::Pending;
      state_.message.clear();
    }
  }

  void report(ProvisioningPlan* out) {
    state_.message = limited_text(std::move(state_.message), api::condition_message_max);
    if (state_ == before_) return;
    if (state_.state != before_.state) {
      state_.last_transition_time = std::chrono::floor<std::chrono::seconds>(now_);
      std::string note = "Admission check " + check_.name + " updated state from " +
                         std::string(text_of(before_.state)) + " to " +
                         std::string(text_of(state_.state));
      if (!state_.message.empty()) note += " with message: " + state_.message;
      out->notes.push_back(std::move(note));
    }
    out->states.push_back(state_);
  }

  /// Wants a new request: the first one, or one after an attempt before the last eviction. A check
  /// in state Retry or Rejected has none, because the workload is about to lose its quota.
  Status want_request(ProvisioningPlan* out) {
    if (state_.state != api::CheckState::Pending) return ok();
    if (current_ && !(came_to_nothing() && earlier_attempt())) return ok();
    const std::int32_t attempt =
        std::clamp(current_ ? attempt_ : 0, retries(), api::retries_max) + 1;
    const api::ProvisioningRequestConfigSpec& config = check_.config->spec;
    WantedRequest wanted;
    wanted.check = check_.name;
    auto pods = pods_to_provision(workload_, config, name(attempt));
    if (!pods) return pods.error();
    wanted.pods = std::move(*pods);
    api::ProvisioningRequest& request = wanted.request;
    request.metadata.name = name(attempt);
    request.metadata.ns = workload_.metadata.ns;
    request.metadata.labels[std::string(api::labels::managed)] = "true";
    request.metadata.owner_references.push_back(
        api::controller_reference(api::Workload::resource, workload_.metadata));
    request.spec.provisioning_class_name = config.provisioning_class_name;
    request.spec.parameters = config.parameters;
    for (const auto& [key, value] : workload_.metadata.annotations) {
      if (!key.starts_with(api::annotations::provisioning_request_prefix)) continue;
      request.spec.parameters[key.substr(api::annotations::provisioning_request_prefix.size())] =
          value;
    }
    for (const ProvisionedPods& some : wanted.pods) {
      request.spec.pod_sets.push_back({some.template_name, some.count});
    }
    out->create.push_back(std::move(wanted));
    return ok();
  }

  const api::Workload& workload_;
  const std::vector<RequestPtr>& requests_;
  const ProvisioningCheck& check_;
  TimePoint now_;
  api::AdmissionCheckState before_;
  api::AdmissionCheckState state_;
  RequestPtr current_;
  std::int32_t attempt_ = 0;
};

}  // namespace

std::string provisioning_request_name(const std::string& workload, const std::string& check,
                                      std::int32_t attempt) {
  return limited(workload + "-" + check + "-" + std::to_string(attempt));
}

Result<ProvisioningPlan> plan_provisioning(const ProvisioningView& view, TimePoint now) {
  ProvisioningPlan plan;
  const api::Workload& workload = *view.workload;
  const bool over = is_finished(workload) || (is_evicted(workload) && view.cleanup_on_eviction);
  if (over) {
    for (const RequestPtr& request : view.requests) {
      if (!request->metadata.deleting()) plan.remove.push_back(request);
    }
    return plan;
  }
  if (is_evicted(workload) || !is_reserved(workload) || !workload.status.admission) return plan;
  for (const ProvisioningCheck& check : view.checks) {
    CheckPlanner planner(view, check, now);
    if (Status planned = planner.plan(&plan); !planned) return planned.error();
  }
  for (const RequestPtr& request : view.requests) {
    const auto& kept = plan.current;
    if (request->metadata.deleting()) continue;
    if (std::find(kept.begin(), kept.end(), request) == kept.end()) plan.remove.push_back(request);
  }
  return plan;
}

api::WorkloadStatus with_states(api::WorkloadStatus status,
                                const std::vector<api::AdmissionCheckState>& states) {
  for (const api::AdmissionCheckState& state : states) {
    if (auto* mine = api::find_check(&status, state.name)) *mine = state;
  }
  return status;
}

}  // namespace regatta::lifecycle
