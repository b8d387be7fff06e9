#include "jobs/integrations/external.h"

#include "jobs/templated_job.h"
#include "lib/api/metadata.h"
#include "lib/base/json_access.h"
#include "lib/base/lower_case.h"

namespace regatta::jobs {
namespace {

const JobShape& external_shape() {
  static const JobShape shape{.managed_by_field = ".spec.managedBy"};
  return shape;
}

class ExternalJob final : public TemplatedJob {
 public:
  ExternalJob(std::shared_ptr<const JobKind> kind, const Json& object, api::ObjectMeta metadata)
      : TemplatedJob(object, std::move(metadata), external_shape(), {}), kind_(std::move(kind)) {}

  const JobKind& kind() const override { return *kind_; }
  bool passed_over() const override { return true; }
  std::string pod_selector() const override { return {}; }
  bool active() const override { return false; }
  std::optional<Finished> finished() const override { return std::nullopt; }
  bool tells_its_end() const override { return false; }
  bool pods_ready() const override { return false; }
  std::vector<api::ReclaimablePod> reclaimable_pods() const override { return {}; }
  Json remote_job(const api::Workload& workload, const std::string& origin) const override;
  Json status_patch(const GenericJob& remote) const override;
  Json release_patch() const override { return Json::object(); }
  Json final_patch(bool, const std::string&, TimePoint) const override { return Json::object(); }

 private:
  std::shared_ptr<const JobKind> kind_;
};

/// Nothing of its spec is known but the name of its manager.
Json ExternalJob::remote_job(const api::Workload& workload, const std::string& origin) const {
  Json copy = TemplatedJob::remote_job(workload, origin);
  copy.erase("spec");
  if (const Json* own = object_at(object(), "spec")) {
    copy["spec"] = *own;
    copy["spec"].erase("managedBy");
  }
  return copy;
}

/// A worker that has not written a status yet has none to show.
Json ExternalJob::status_patch(const GenericJob& remote) const {
  const auto* theirs = dynamic_cast<const ExternalJob*>(&remote);
  if (!theirs || !theirs->object().contains("status")) return Json::object();
  return TemplatedJob::status_patch(remote);
}

/// As API servers name most resources.
std::string plural_of(std::string_view kind) {
  std::string name = lower_case(kind);
  if (name.ends_with('s')) return name + "es";
  if (name.ends_with('y')) return name.substr(0, name.size() - 1) + "ies";
  return name + "s";
}

class ExternalKind final : public JobKind, public std::enable_shared_from_this<ExternalKind> {
 public:
  ExternalKind(std::string_view kind, std::string_view version, std::string_view group,
               bool dispatched)
      : framework_(std::string(kind) + "." + std::string(version) + "." + std::string(group)),
        group_(group),
        version_(version),
        kind_(kind),
        plural_(plural_of(kind)),
        resource_{group_, version_, kind_, plural_},
        dispatched_(dispatched) {}

  std::string_view framework() const override { return framework_; }
  const api::ResourceInfo& resource() const override { return resource_; }
  bool dispatched() const override { return dispatched_; }
  Result<JobPtr> decode(const Json& object, api::TemplatePool*) const override {
    auto metadata = api::read_metadata(object);
    if (!metadata) return metadata.error();
    return std::make_shared<const ExternalJob>(shared_from_this(), object, std::move(*metadata));
  }

 private:
  const std::string framework_, group_, version_, kind_, plural_;
  const api::ResourceInfo resource_;
  const bool dispatched_;
};

}  // namespace

Result<std::shared_ptr<const JobKind>> external_kind(const std::string& name, bool dispatched) {
  const std::size_t first = name.find('.');
  const std::size_t second = first == std::string::npos ? first : name.find('.', first + 1);
  if (name.empty()) return Error(Errc::invalid, "name is required");
  if (second == std::string::npos) return Error(Errc::invalid, "invalid GVK format '" + name + "'");
  const std::string_view text = name;
  return std::make_shared<const ExternalKind>(text.substr(0, first),
                                              text.substr(first + 1, second - first - 1),
                                              text.substr(second + 1), dispatched);
}

}  // namespace regatta::jobs
