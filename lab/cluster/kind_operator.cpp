#include "lab/cluster/kind_operator.h"

#include "lib/api/metadata.h"
#include "lib/api/names.h"
#include "lib/base/merge_patch.h"
#include "lib/runtime/worker.h"

#include <utility>

namespace regatta::lab {
namespace {

const api::PodTemplate& no_template() {
  static const api::PodTemplate none;
  return none;
}

kube::InformerOptions followed(const OperatedKind& kind) {
  kube::InformerOptions options;
  if (kind.pods) options.label_selector = std::string(api::labels::managed) + "=true";
  options.absent_retry = std::chrono::minutes(2);
  options.forbidden_is_absent = true;
  return options;
}

}  // namespace

KindOperator::KindOperator(KindOperatorDeps deps, const OperatedKind& kind)
    : deps_(std::move(deps)),
      kind_(kind),
      jobs_({deps_.client, deps_.clock, deps_.rng, deps_.executor, deps_.log}, kind.resource,
            followed(kind), decode),
      scope_(deps_.executor),
      queue_(deps_.clock, scope_) {
  jobs_.on_transition([this](const api::ObjectKey& key, const auto& before, const auto& after) {
    if (!after) starts_.erase(before->metadata.uid);
    queue_.add(key);
  });
}

Result<std::shared_ptr<const KindOperator::Operated>> KindOperator::decode(const Json& object) {
  auto metadata = api::read_metadata(object);
  if (!metadata) return metadata.error();
  return std::make_shared<const Operated>(Operated{std::move(*metadata), object});
}

Task<> KindOperator::run() {
  scope_.spawn("jobs", jobs_.run());
  scope_.spawn("worker", work());
  co_await scope_.run_until_cancelled();
}

Task<> KindOperator::work() {
  co_await jobs_.wait_synced();
  const auto step = [this](const api::ObjectKey& key) { return reconcile(key); };
  const auto told = [this](const api::ObjectKey& key, const Error& error) {
    deps_.log.info("job step failed, trying again", {{"job", key.str()}, {"error", error.what()}});
  };
  Task<> working = work_through(queue_, step, told);
  co_await std::move(working);
}

Duration KindOperator::time_run(const Operated& job) {
  const std::string& uid = job.metadata.uid;
  if (operated_suspended(kind_, job.object) || operated_ended(kind_, job.object)) {
    starts_.erase(uid);
    return Duration(0);
  }
  const SteadyPoint began = starts_.try_emplace(uid, deps_.clock.steady()).first->second;
  return deps_.clock.steady() - began;
}

Task<Status> KindOperator::reconcile(api::ObjectKey key) {
  const auto job = jobs_.get(key);
  if (!job || job->metadata.deleting() || !operated_here(kind_, job->object)) co_return ok();
  const api::ObjectMeta& metadata = job->metadata;
  const bool said =
      manifest::seconds_in(metadata, no_template(), manifest::annotations::run_seconds).has_value();
  if (!said) co_return ok();
  const manifest::Behaviour how = manifest::behaviour_of(metadata, no_template(), {});
  OperatedStep step = plan_operated(kind_, job->object, how, time_run(*job), deps_.clock.now());
  if (step.again) queue_.add_after(key, *step.again);
  if (!step.status) co_return ok();
  Task<Status> written = write(*job, std::move(*step.status));
  co_return co_await std::move(written);
}

Task<Status> KindOperator::write(const Operated& before, Json status) {
  const auto had = before.object.find("status");
  const Json from = had == before.object.end() ? Json::object() : *had;
  Json patch = {{"metadata", {{"resourceVersion", before.metadata.resource_version}}},
                {"status", merge_patch_between(from, status)}};
  kube::WriteOptions options;
  options.subresource = "status";
  std::string body = dump_json(patch);
  api::ObjectKey key = before.metadata.key();
  const auto written = co_await deps_.client.patch_raw(
      kind_.resource, std::move(key), kube::PatchType::merge, std::move(body), std::move(options));
  if (written) co_return ok();
  if (written.error().code() == Errc::not_found) co_return ok();
  co_return written.error();
}

}  // namespace regatta::lab
