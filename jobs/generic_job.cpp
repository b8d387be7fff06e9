#include "jobs/generic_job.h"

#include <tuple>

namespace regatta::jobs {
namespace {

std::tuple<std::string_view, std::string_view> group_kind(const JobKind* kind) {
  if (!kind) return {};
  return {kind->resource().group, kind->resource().kind};
}

}  // namespace

const JobKind* JobKinds::find(std::string_view group, std::string_view kind) const {
  for (const auto& one : kinds_) {
    const bool named = one->resource().group == group && one->resource().kind == kind;
    if (named && !one->parent_kind()) return one.get();
  }
  return nullptr;
}

JobKinds JobKinds::dispatched() const {
  std::vector<std::shared_ptr<const JobKind>> out;
  for (const auto& one : kinds_) {
    if (one->dispatched()) out.push_back(one);
  }
  return JobKinds(std::move(out));
}

const JobKind* JobKinds::find(const api::OwnerReference& owner) const {
  return find(api::group_of(owner.api_version), owner.kind);
}

JobId planned_as(const GenericJob& job) {
  const JobKind* groups = job.kind().group_kind();
  std::string name = groups ? job.kind().group_of(job) : std::string();
  if (name.empty()) return id_of(job);
  return {groups, api::ObjectKey(job.metadata().ns, std::move(name))};
}

std::string unsupported_runtime(std::string_view kind, std::string_view group) {
  return "unsupported runtime: " + std::string(kind) + "." + std::string(group);
}

std::string RuntimeRef::str() const {
  return resource->group_resource() + "/" + key.str();
}

std::string JobId::str() const {
  return (kind ? std::string(kind->resource().kind) + " " : std::string()) + key.str();
}

std::strong_ordering operator<=>(const JobId& a, const JobId& b) {
  if (a.kind != b.kind) {
    if (const auto order = group_kind(a.kind) <=> group_kind(b.kind); order != 0) return order;
    // Pods that are jobs, and Pods that are planned with what made them.
    const JobKind* parent = a.kind ? a.kind->parent_kind() : nullptr;
    const JobKind* other = b.kind ? b.kind->parent_kind() : nullptr;
    if (const auto order = group_kind(parent) <=> group_kind(other); order != 0) return order;
  }
  return a.key <=> b.key;
}

}  // namespace regatta::jobs
