#pragma once

#include "lib/api/labels.h"
#include "lib/api/meta.h"
#include "lib/api/quantity.h"
#include "lib/api/raw_json.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regatta::api {

struct Path;
class FirstError;

using ResourceList = std::map<std::string, Quantity>;

struct ResourceRequirements {
  ResourceList requests;
  ResourceList limits;
  friend bool operator==(const ResourceRequirements&, const ResourceRequirements&) = default;
};

struct Container {
  std::string name;
  std::string image;
  std::string restart_policy;  ///< "Always" makes an init container a sidecar
  ResourceRequirements resources;

  bool is_sidecar() const { return restart_policy == "Always"; }
  friend bool operator==(const Container&, const Container&) = default;
};

struct Toleration {
  std::string key;
  std::string op;  ///< "Equal" (also when empty) or "Exists"
  std::string value;
  std::string effect;
  std::optional<std::int64_t> toleration_seconds;
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct Taint {
  std::string key;
  std::string value;
  std::string effect;
  std::optional<TimePoint> time_added;
  friend bool operator==(const Taint&, const Taint&) = default;
};

bool tolerates(const Toleration& toleration, const Taint& taint);

struct NodeSelectorTerm {
  std::vector<LabelSelectorRequirement> match_expressions;
  std::vector<LabelSelectorRequirement> match_fields;
  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

struct PreferredSchedulingTerm {
  std::int32_t weight = 0;
  NodeSelectorTerm preference;
  friend bool operator==(const PreferredSchedulingTerm&, const PreferredSchedulingTerm&) = default;
};

/// Node affinity; pod (anti-)affinity travels in the raw template only.
struct NodeAffinity {
  /// Terms are alternatives. Absent: no requirement; present and empty: no node matches.
  std::optional<std::vector<NodeSelectorTerm>> required;
  std::vector<PreferredSchedulingTerm> preferred;
  friend bool operator==(const NodeAffinity&, const NodeAffinity&) = default;
};

/// Whether `labels` (and the node's name, for match_fields) satisfy the term; an empty term matches
/// nothing.
bool matches(const NodeSelectorTerm& term, const StringMap& labels, std::string_view node_name);

/// What Regatta reads of a pod's spec.
struct PodSpec {
  std::vector<Container> containers;
  std::vector<Container> init_containers;
  std::optional<ResourceRequirements> resources;  ///< pod-level
  ResourceList overhead;
  StringMap node_selector;
  std::optional<NodeAffinity> node_affinity;
  std::vector<Toleration> tolerations;
  std::string priority_class_name;
  std::optional<std::int32_t> priority;
  std::string runtime_class_name;
  std::string scheduler_name;
  std::string service_account_name;
  std::string node_name;
  std::string restart_policy;
  std::vector<std::string> scheduling_gates;
  /// Names only; the raw template says what is claimed.
  std::vector<std::string> resource_claims;
  std::optional<std::int64_t> termination_grace_period_seconds;
  friend bool operator==(const PodSpec&, const PodSpec&) = default;
};

/// What Regatta reads of a pod template besides its spec.
struct PodTemplateView {
  StringMap labels;
  StringMap annotations;
  friend bool operator==(const PodTemplateView&, const PodTemplateView&) = default;
};

/// A core/v1 PodTemplateSpec: its complete text, and what was parsed from it. Immutable and cheap
/// to copy; to change a template, change its JSON and make a new one.
class PodTemplate {
 public:
  PodTemplate();
  /// Errors name the path, below `path`.
  static Result<PodTemplate> from(const Json& value, std::string_view path = "template");
  static Result<PodTemplate> from(RawJson raw, std::string_view path = "template");

  const RawJson& raw() const { return raw_; }
  const PodTemplateView& view() const { return *view_; }
  const PodSpec& spec() const { return *spec_; }
  Json json() const;
  /// This template with a view() without labels; its text keeps them.
  PodTemplate without_labels() const;
  /// Makes each template a slice of `whole`, in which their texts occur one after the other. One
  /// that does not occur behind the template before it keeps its own text.
  static void place_within(const RawJson& whole, const std::vector<PodTemplate*>& in_order);

  friend bool operator==(const PodTemplate& a, const PodTemplate& b) { return a.raw_ == b.raw_; }

 private:
  friend class TemplatePool;
  /// As part of an object: `error` is the whole object's.
  friend void read_value(const Json& value, PodTemplate& out, const Path& path, FirstError* error);
  static Result<PodTemplate> from(RawJson raw, const Json& value, std::string_view path);
  void read(const Json& value, const Path& path, FirstError* error);

  RawJson raw_;
  std::shared_ptr<const PodTemplateView> view_;  ///< never null
  std::shared_ptr<const PodSpec> spec_;          ///< never null
  std::size_t spec_hash_ = 0;                    ///< equal for equal specs
};

/// What a pod of this spec requests, as the Kubernetes scheduler counts it: containers plus
/// sidecars or the largest init step, whichever is more; pod-level requests win where set; plus
/// overhead.
ResourceList pod_requests(const PodSpec& spec);

/// The same in Kueue's integer amounts.
std::map<std::string, std::int64_t> pod_request_amounts(const PodSpec& spec);

}  // namespace regatta::api
