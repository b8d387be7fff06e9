#pragma once

#include "clusters/local_cluster.h"
#include "jobs/integrations/job_webhook.h"
#include "webhooks/server/handler.h"

#include <functional>

namespace regatta::manager {

/// What the webhooks of jobs need. All of it outlives the handler.
struct JobReviewDeps {
  clusters::LocalCluster& cluster;
  jobs::JobWebhookConfig config;
  bool admission_gates = true;  ///< AdmissionGatedBy
  /// Whether the caches are complete. Before that no job is let in: it might run without quota.
  std::function<bool()> synced;
};

/// "/mutate-batch-v1-job", "/validate-batch-v1-job".
std::string job_webhook_path(const jobs::JobKind& kind, webhooks::Handler handler);

/// Adds the webhooks of every kind of job.
void add_job_webhooks(webhooks::WebhookHandler* handler, JobReviewDeps deps);

}  // namespace regatta::manager
