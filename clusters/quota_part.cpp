#include "clusters/quota_part.h"

#include "lib/api/codec.h"
#include "lib/api/kueue.h"
#include "lib/api/names.h"
#include "lib/api/quota.h"

#include <nlohmann/json.hpp>

namespace regatta::clusters {
namespace {

bool is_readable(const char* section, const std::string& name, const Json& field) {
  const Json alone = {{section, {{name, field}}}};
  return api::from_json<api::Workload>(alone).has_value();
}

/// The entries that can be read; none when there are too many of them.
Json readable_entries(const char* section, const std::string& name, const Json& list) {
  Json out = Json::array();
  for (const Json& one : list) {
    if (is_readable(section, name, Json::array({one}))) out.push_back(one);
  }
  return is_readable(section, name, out) ? out : Json::array();
}

/// What can be read of `spec` or `status`.
Json readable_part(const Json& value, const char* section) {
  Json out = Json::object();
  const auto found = value.find(section);
  if (found == value.end() || !found->is_object()) return out;
  for (const auto& [name, field] : found->items()) {
    if (is_readable(section, name, field)) {
      out[name] = field;
      continue;
    }
    if (!field.is_array()) continue;
    Json entries = readable_entries(section, name, field);
    if (!entries.empty()) out[name] = std::move(entries);
  }
  return out;
}

/// `stored` with what `seen` tells of the quota that both hold.
api::Workload with_quota_of(const api::Workload& seen, api::Workload stored) {
  stored.status.admission = seen.status.admission;
  stored.status.reclaimable_pods = seen.status.reclaimable_pods;
  const auto& pod_sets = seen.spec.pod_sets;
  if (pod_sets.size() == stored.spec.pod_sets.size() && pod_sets != stored.spec.pod_sets) {
    stored.spec.pod_sets = pod_sets;
    stored.raw_spec = {};
  }
  return stored;
}

bool tell_the_same(const api::Workload& a, const api::Workload& b) {
  return a.status.admission == b.status.admission &&
         a.status.reclaimable_pods == b.status.reclaimable_pods &&
         a.spec.pod_sets == b.spec.pod_sets;
}

}  // namespace

Result<jobs::WorkloadPtr> part_with_quota(const Json& value, const api::Workload* stored) {
  Json known = value;
  for (const char* section : {"spec", "status"}) known[section] = readable_part(value, section);
  Result<api::Workload> part = api::from_json<api::Workload>(known);
  if (!part) return part.error();
  api::Conditions& conditions = part->status.conditions;
  if (!api::find_condition(conditions, api::conditions::quota_reserved)) {
    api::Condition reserved;
    reserved.type = api::conditions::quota_reserved;
    reserved.status = api::ConditionStatus::True;
    reserved.reason = api::reasons::quota_reserved;
    conditions.push_back(std::move(reserved));
  }
  if (!api::holds_quota(*part)) return Error(Errc::not_found, "it holds no quota");
  if (stored && api::holds_quota(*stored)) {
    part = with_quota_of(*part, *stored);
    if (tell_the_same(*part, *stored)) {
      return Error(Errc::not_found, "an older version holds the same quota");
    }
  }
  part->metadata.resource_version = "1";
  return std::make_shared<const api::Workload>(std::move(*part));
}

}  // namespace regatta::clusters
