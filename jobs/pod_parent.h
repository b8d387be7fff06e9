#pragma once

#include "jobs/idle_job.h"
#include "lib/api/metadata.h"
#include "lib/base/json_access.h"

#include <memory>
#include <string_view>
#include <utility>

namespace regatta::jobs {

/// A job with replicas, whose Pods are held back and not the job.
class PodParent : public IdleObject {
 public:
  /// No Pod of it is ready: its queue may change.
  bool suspended() const override { return integer_at(status(), "readyReplicas").value_or(0) == 0; }

 protected:
  using IdleObject::IdleObject;

  const Json& spec() const { return object_or_empty(object(), {"spec"}); }
  const Json& status() const { return object_or_empty(object(), {"status"}); }
};

/// A kind of such jobs.
template <class Job>
class PodParentKind : public JobKind {
 public:
  PodParentKind(std::string_view framework, const api::ResourceInfo& resource)
      : framework_(framework), resource_(resource) {}

  std::string_view framework() const override { return framework_; }
  const api::ResourceInfo& resource() const override { return resource_; }
  bool acts_through_pods() const override { return true; }
  bool defaults_updates() const override { return true; }
  bool dispatched() const override { return false; }
  CommonChecks common_checks() const override { return CommonChecks::queue_and_class; }
  Result<JobPtr> decode(const Json& object, api::TemplatePool*) const override {
    auto metadata = api::read_metadata(object);
    if (!metadata) return metadata.error();
    return std::make_shared<const Job>(*this, object, std::move(*metadata));
  }

 private:
  std::string_view framework_;
  api::ResourceInfo resource_;
};

}  // namespace regatta::jobs
