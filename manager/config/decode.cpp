#include "manager/config/strict_reader.h"

namespace regatta::manager {

// The readers are static and not in an unnamed namespace, because the templates of StrictReader
// would not find them there.
template <class E>
static void field_of_choice(StrictReader* reader, std::string_view name,
                            const std::vector<std::string_view>& texts, E* out) {
  const Json* value = reader->take(name);
  if (!value) return;
  auto index = static_cast<std::size_t>(*out);
  read_choice(*value, reader->at(name), reader->context(), texts, &index);
  *out = static_cast<E>(index);
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       WebhookConfig* out) {
  StrictReader reader(value, path, context);
  reader.field("port", &out->port);
  reader.field("host", &out->host);
  reader.field("certDir", &out->cert_dir);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       LeaderElectionConfig* out) {
  StrictReader reader(value, path, context);
  reader.field("leaderElect", &out->leader_elect);
  reader.field("leaseDuration", &out->lease_duration);
  reader.field("renewDeadline", &out->renew_deadline);
  reader.field("retryPeriod", &out->retry_period);
  reader.field("resourceLock", &out->resource_lock);
  reader.field("resourceName", &out->resource_name);
  reader.field("resourceNamespace", &out->resource_namespace);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       CustomMetricLabel* out) {
  StrictReader reader(value, path, context);
  reader.field("name", &out->name);
  reader.require("name");
  reader.field("sourceLabelKey", &out->source_label_key);
  field_of_choice(&reader, "sourceKind", {"ClusterQueue", "LocalQueue", "Cohort", "Workload"},
                  &out->source_kind);
  reader.field("sourceAnnotationKey", &out->source_annotation_key);
  reader.field("trackedValues", &out->tracked_values);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       LocalQueueMetricsConfig* out) {
  StrictReader reader(value, path, context);
  reader.field("enable", &out->enable);
  reader.field("localQueueSelector", &out->local_queue_selector);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       MetricsConfig* out) {
  StrictReader reader(value, path, context);
  reader.field("bindAddress", &out->bind_address);
  reader.field("enableClusterQueueResources", &out->enable_cluster_queue_resources);
  reader.field("customLabels", &out->custom_labels);
  reader.field("localQueueMetrics", &out->local_queue_metrics);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       HealthConfig* out) {
  StrictReader reader(value, path, context);
  reader.field("healthProbeBindAddress", &out->health_probe_bind_address);
  reader.field("readinessEndpointName", &out->readiness_endpoint_name);
  reader.field("livenessEndpointName", &out->liveness_endpoint_name);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       ControllerConfig* out) {
  StrictReader reader(value, path, context);
  reader.field("groupKindConcurrency", &out->group_kind_concurrency);
  if (const Json* timeout = reader.take("cacheSyncTimeout")) {
    // A bare Go duration: nanoseconds when written as a number.
    if (timeout->is_number_integer()) {
      std::int64_t nanoseconds = 0;
      read_value(*timeout, reader.at("cacheSyncTimeout"), context, &nanoseconds);
      out->cache_sync_timeout = Duration(nanoseconds / 1000000);
    } else {
      read_value(*timeout, reader.at("cacheSyncTimeout"), context, &out->cache_sync_timeout);
    }
  }
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       TLSOptions* out) {
  StrictReader reader(value, path, context);
  reader.field("minVersion", &out->min_version);
  reader.field("cipherSuites", &out->cipher_suites);
  reader.field("curvePreferences", &out->curve_preferences);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       InternalCertManagement* out) {
  StrictReader reader(value, path, context);
  reader.field("enable", &out->enable);
  reader.field("webhookServiceName", &out->webhook_service_name);
  reader.field("webhookSecretName", &out->webhook_secret_name);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       RequeuingStrategy* out) {
  StrictReader reader(value, path, context);
  field_of_choice(&reader, "timestamp", {"Eviction", "Creation"}, &out->timestamp);
  reader.field("backoffLimitCount", &out->backoff_limit_count);
  reader.field("backoffBaseSeconds", &out->backoff_base_seconds);
  reader.field("backoffMaxSeconds", &out->backoff_max_seconds);
  reader.finish();
}

/// In v1beta1 the stanza has a switch, which is off by default, has other defaults, and blocks
/// admission.
static void read_wait_for_pods_ready(const Json& value, const std::string& path,
                                     ReadContext* context, std::optional<WaitForPodsReady>* into) {
  WaitForPodsReady read;
  bool enable = true;
  StrictReader reader(value, path, context);
  if (context->v1beta1) {
    enable = false;
    read.timeout = std::chrono::minutes(5);
    read.block_admission = true;
    reader.field("enable", &enable);
  }
  reader.field("timeout", &read.timeout);
  reader.field("recoveryTimeout", &read.recovery_timeout);
  reader.field("blockAdmission", &read.block_admission);
  reader.field("requeuingStrategy", &read.requeuing_strategy);
  reader.finish();
  // Without the field v1beta1 has no limit for recovery.
  if (context->v1beta1 && !read.recovery_timeout) read.recovery_timeout = Duration(0);
  into->reset();
  if (enable) *into = read;
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       ClientConnection* out) {
  StrictReader reader(value, path, context);
  reader.field("qps", &out->qps);
  reader.field("burst", &out->burst);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       PodOptions* out) {
  StrictReader reader(value, path, context);
  reader.field("namespaceSelector", &out->namespace_selector);
  reader.field("podSelector", &out->pod_selector);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       Integrations* out) {
  StrictReader reader(value, path, context);
  reader.field("frameworks", &out->frameworks);
  reader.field("externalFrameworks", &out->external_frameworks);
  reader.field("labelKeysToCopy", &out->label_keys_to_copy);
  if (context->v1beta1) reader.field("podOptions", &out->pod_options);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       ExecEnvVar* out) {
  StrictReader reader(value, path, context);
  reader.field("name", &out->name);
  reader.field("value", &out->value);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       ExecConfig* out) {
  StrictReader reader(value, path, context);
  reader.field("command", &out->command);
  reader.field("args", &out->args);
  reader.field("env", &out->env);
  reader.field("apiVersion", &out->api_version);
  reader.field("installHint", &out->install_hint);
  reader.field("provideClusterInfo", &out->provide_cluster_info);
  reader.field("interactiveMode", &out->interactive_mode);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       ClusterProfileAccessProvider* out) {
  StrictReader reader(value, path, context);
  reader.field("name", &out->name);
  reader.field("execConfig", &out->exec_config);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       ClusterProfileConfig* out) {
  StrictReader reader(value, path, context);
  reader.field("accessProviders", &out->access_providers);
  std::vector<ClusterProfileAccessProvider> deprecated;
  reader.field("credentialsProviders", &deprecated);
  if (!deprecated.empty() && !out->access_providers.empty()) {
    context->problems.push_back(reader.at("credentialsProviders") +
                                ": Forbidden: must not be specified when accessProviders is "
                                "specified");
  }
  if (out->access_providers.empty()) out->access_providers = std::move(deprecated);
  reader.finish();
}

static void read_names(StrictReader* reader, std::string_view list, std::vector<std::string>* out) {
  const Json* value = reader->take(list);
  if (!value) return;
  if (!value->is_array()) {
    return wrong_type(*value, reader->at(list), "a list", reader->context());
  }
  for (std::size_t i = 0; i < value->size(); ++i) {
    StrictReader item((*value)[i], reader->at(list) + "[" + std::to_string(i) + "]",
                      reader->context());
    item.field("name", &out->emplace_back());
    item.finish();
  }
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       WorkerLimits* out) {
  StrictReader reader(value, path, context);
  reader.field("objects", &out->objects);
  if (const Json* bytes = reader.take("bytes")) {
    api::Quantity quantity;
    read_value(*bytes, reader.at("bytes"), context, &quantity);
    out->bytes = quantity.value();
  }
  reader.field("pages", &out->pages);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       MultiKueueConfiguration* out) {
  StrictReader reader(value, path, context);
  reader.field("gcInterval", &out->gc_interval);
  reader.field("origin", &out->origin);
  reader.field("workerLostTimeout", &out->worker_lost_timeout);
  reader.field("dispatcherName", &out->dispatcher_name);
  read_names(&reader, "externalFrameworks", &out->external_frameworks);
  if (!context->v1beta1) {
    reader.field("dispatchTimeout", &out->dispatch_timeout);
    reader.field("dispatchAttempts", &out->dispatch_attempts);
    reader.field("clusterProfile", &out->cluster_profile);
    reader.field("workerLimits", &out->worker_limits);
    if (const Json* incremental = reader.take("incrementalDispatcherConfig")) {
      const std::string where = reader.at("incrementalDispatcherConfig");
      if (out->dispatcher_name != api::dispatchers::incremental) {
        context->problems.push_back(where +
                                    ": Forbidden: may be set only when dispatcherName is \"" +
                                    std::string(api::dispatchers::incremental) + "\"");
      }
      StrictReader step(*incremental, where, context);
      step.field("stepSize", &out->incremental_step_size);
      step.finish();
    }
  }
  if (const Json* brake = reader.take("removalBrake")) {
    StrictReader fields(*brake, reader.at("removalBrake"), context);
    fields.field("sharePercent", &out->brake_share_percent);
    fields.field("atLeast", &out->brake_at_least);
    fields.finish();
  }
  reader.finish();
  if (out->origin.empty()) out->origin = api::default_origin;
}

static void read_fair_sharing(const Json& value, const std::string& path, ReadContext* context,
                              std::optional<FairSharing>* into) {
  FairSharing read;
  bool enable = !context->v1beta1;
  StrictReader reader(value, path, context);
  if (context->v1beta1) reader.field("enable", &enable);
  reader.field("preemptionStrategies", &read.preemption_strategies);
  reader.finish();
  if (read.preemption_strategies.empty()) {
    read.preemption_strategies = FairSharing().preemption_strategies;
  }
  into->reset();
  if (enable) *into = std::move(read);
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       AdmissionFairSharing* out) {
  StrictReader reader(value, path, context);
  reader.field("usageHalfLifeTime", &out->usage_half_life_time);
  reader.field("usageSamplingInterval", &out->usage_sampling_interval);
  reader.field("resourceWeights", &out->resource_weights);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       ResourceTransformation* out) {
  StrictReader reader(value, path, context);
  reader.field("input", &out->input);
  field_of_choice(&reader, "strategy", {"Retain", "Replace"}, &out->strategy);
  reader.field("multiplyBy", &out->multiply_by);
  reader.field("outputs", &out->outputs);
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       DeviceClassMapping* out) {
  StrictReader reader(value, path, context);
  reader.field("name", &out->name);
  reader.field("deviceClassNames", &out->device_class_names);
  reader.take("sources");  // of consumable and partitionable devices, which have no effect here
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       ResourcesConfig* out) {
  StrictReader reader(value, path, context);
  field_of_choice(&reader, "quotaCheckStrategy", {"BlockUndeclared", "IgnoreUndeclared"},
                  &out->quota_check_strategy);
  reader.field("excludeResourcePrefixes", &out->exclude_resource_prefixes);
  reader.field("transformations", &out->transformations);
  reader.field("deviceClassMappings", &out->device_class_mappings);
  reader.finish();
}

static void read_retention(const Json& value, const std::string& path, ReadContext* context,
                           WorkloadRetention* out) {
  StrictReader reader(value, path, context);
  if (const Json* workloads = reader.take("workloads")) {
    StrictReader inner(*workloads, reader.at("workloads"), context);
    inner.field("afterFinished", &out->after_finished);
    inner.field("afterDeactivatedByKueue", &out->after_deactivated_by_kueue);
    inner.finish();
  }
  reader.finish();
}

static void read_value(const Json& value, const std::string& path, ReadContext* context,
                       VisibilityServerConfig* out) {
  StrictReader reader(value, path, context);
  reader.field("bindAddress", &out->bind_address);
  reader.field("bindPort", &out->bind_port);
  reader.finish();
}

void decode_configuration(const Json& document, ReadContext* context, Configuration* out) {
  if (context->v1beta1) out->wait_for_pods_ready.reset();
  StrictReader reader(document, "", context);
  reader.take("apiVersion");
  reader.take("kind");
  reader.take("metadata");
  reader.field("namespace", &out->ns);
  reader.field("webhook", &out->webhook);
  reader.field("leaderElection", &out->leader_election);
  reader.field("metrics", &out->metrics);
  reader.field("health", &out->health);
  reader.field("pprofBindAddress", &out->pprof_bind_address);
  reader.field("controller", &out->controller);
  reader.field("tls", &out->tls);
  reader.field("manageJobsWithoutQueueName", &out->manage_jobs_without_queue_name);
  reader.field("managedJobsNamespaceSelector", &out->managed_jobs_namespace_selector);
  reader.field("internalCertManagement", &out->internal_cert_management);
  if (const Json* stanza = reader.take("waitForPodsReady")) {
    read_wait_for_pods_ready(*stanza, "waitForPodsReady", context, &out->wait_for_pods_ready);
  }
  reader.field("clientConnection", &out->client_connection);
  reader.field("integrations", &out->integrations);
  reader.field("multiKueue", &out->multi_kueue);
  if (const Json* stanza = reader.take("fairSharing")) {
    read_fair_sharing(*stanza, "fairSharing", context, &out->fair_sharing);
  }
  reader.field("admissionFairSharing", &out->admission_fair_sharing);
  reader.field("resources", &out->resources);
  reader.field("featureGates", &out->feature_gates);
  if (const Json* stanza = reader.take("objectRetentionPolicies")) {
    read_retention(*stanza, "objectRetentionPolicies", context, &out->workload_retention);
  }
  reader.field("visibilityServer", &out->visibility_server);
  if (context->v1beta1 && reader.take("queueVisibility")) {
    out->warnings.push_back("queueVisibility has no effect: use the visibility API");
  }
  reader.finish();
}

}  // namespace regatta::manager
