#include "manager/webhooks/job_reviews.h"

#include "webhooks/admission_gates.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace regatta::manager {
namespace {

using webhooks::Handler;
using webhooks::ReviewRequest;
using webhooks::Verdict;

Verdict refusal(int code, std::string message) {
  return {code, std::move(message), {}, Json::array()};
}

class JobReviews {
 public:
  JobReviews(const jobs::JobKind& kind, JobReviewDeps deps) : kind_(kind), deps_(std::move(deps)) {}

  Task<Verdict> review(Handler handler, const ReviewRequest& request) const {
    if (request.operation == "DELETE" || request.operation == "CONNECT") co_return Verdict();
    if (!deps_.synced())
      co_return refusal(503, "the manager is starting: its caches are being filled");
    // A job that runs must not be suspended by some other change.
    const bool defaults = request.operation == "CREATE" || kind_.defaults_updates();
    if (handler == Handler::mutating && !defaults) co_return Verdict();
    const auto job = read(request.object);
    if (!job) co_return refusal(400, job.error().what());
    if (handler == Handler::mutating) {
      // The job may be a moment younger than its owner.
      const Status known = co_await deps_.cluster.fetch_makers(*job);
      if (!known) co_return refusal(500, known.error().what());
      co_return defaulted(request.object, **job);
    }
    if (request.operation == "CREATE") co_return created(request.object, *job);
    const auto before = read(request.old_object);
    if (!before) co_return refusal(400, before.error().what());
    co_return updated(request, **before, *job);
  }

 private:
  Result<jobs::JobPtr> read(const Json& object) const {
    if (!object.is_object()) return Error(Errc::invalid, "there is no content to decode");
    return kind_.decode(object, nullptr);
  }

  Verdict defaulted(const Json& object, const jobs::GenericJob& job) const {
    Json after = object;
    const auto patch = jobs::default_job(deps_.cluster.objects(), job, deps_.config);
    if (!patch) return refusal(400, patch.error().what());
    after.merge_patch(*patch);
    Verdict verdict;
    verdict.patch = Json::diff(object, after);
    return verdict;
  }

  Verdict created(const Json& object, const jobs::JobPtr& job) const {
    api::FieldErrors errors = jobs::validate_job(deps_.cluster.objects(), job, deps_.config);
    api::ErrorList gates;
    if (deps_.admission_gates) webhooks::check_admission_gates(object, &gates);
    return judged(std::move(errors), gates.take(), *job);
  }

  Verdict updated(const ReviewRequest& request, const jobs::GenericJob& before,
                  const jobs::JobPtr& after) const {
    api::FieldErrors errors =
        jobs::validate_job_update(deps_.cluster.objects(), before, after, deps_.config);
    api::ErrorList gates;
    if (deps_.admission_gates) {
      webhooks::check_admission_gates_update(request.old_object, request.object, &gates);
    }
    return judged(std::move(errors), gates.take(), *after);
  }

  Verdict judged(api::FieldErrors errors, const api::FieldErrors& more,
                 const jobs::GenericJob& job) const {
    errors.insert(errors.end(), more.begin(), more.end());
    Verdict verdict = webhooks::judged(std::move(errors));
    verdict.warnings = jobs::job_warnings(deps_.cluster.objects(), job);
    return verdict;
  }

  const jobs::JobKind& kind_;
  JobReviewDeps deps_;
};

}  // namespace

std::string job_webhook_path(const jobs::JobKind& kind, Handler handler) {
  const api::ResourceInfo& resource = kind.resource();
  std::string path = std::string(resource.group) + "-" + std::string(resource.version) + "-" +
                     std::string(resource.kind);
  for (char& c : path) {
    if (c == '.') c = '-';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return (handler == Handler::mutating ? "/mutate-" : "/validate-") + path;
}

void add_job_webhooks(webhooks::WebhookHandler* handler, JobReviewDeps deps) {
  for (const auto& kind : deps.cluster.objects().kinds().all()) {
    if (kind->parent_kind()) continue;
    const auto reviews = std::make_shared<const JobReviews>(*kind, deps);
    for (const Handler part : {Handler::mutating, Handler::validating}) {
      handler->add(job_webhook_path(*kind, part), [reviews, part](const ReviewRequest& request) {
        return reviews->review(part, request);
      });
    }
  }
}

}  // namespace regatta::manager
