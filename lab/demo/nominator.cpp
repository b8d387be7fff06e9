#include "lab/demo/nominator.h"

#include "lib/api/names.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace regatta::lab {
namespace {

constexpr Duration look_every{50};
/// How long the first worker is the only nominated one.
constexpr Duration head_start{1000};
constexpr const char* dispatcher_field_manager = "regatta-sandbox-dispatcher";

std::size_t first_choice(const std::string& key, std::size_t workers) {
  std::size_t sum = 0;
  for (const char c : key) sum = sum * 31 + static_cast<unsigned char>(c);
  return sum % workers;
}

}  // namespace

std::optional<std::vector<std::string>> nominate(const api::Workload& workload,
                                                 const std::vector<std::string>& workers,
                                                 TimePoint now) {
  const api::WorkloadStatus& status = workload.status;
  const api::Condition* reserved =
      api::find_condition(status.conditions, api::conditions::quota_reserved);
  if (workers.empty() || !reserved || reserved->status != api::ConditionStatus::True ||
      status.cluster_name || api::is_true(status.conditions, api::conditions::finished)) {
    return std::nullopt;
  }
  if (status.nominated_cluster_names.empty()) {
    return std::vector{workers[first_choice(workload.metadata.key().str(), workers.size())]};
  }
  const bool all = status.nominated_cluster_names.size() >= workers.size();
  if (all || now < reserved->last_transition_time + head_start) return std::nullopt;
  return workers;
}

Task<> Nominator::run() {
  while (true) {
    const TimePoint now = clock_.now();
    for (const auto& workload : workloads_.list()) {
      auto nominated = nominate(*workload, workers_, now);
      const api::ObjectKey key = workload->metadata.key();
      if (!nominated || written_[key] >= nominated->size()) continue;
      const std::size_t count = nominated->size();
      const Status done = co_await write(key, std::move(*nominated));
      if (done) written_[key] = count;
    }
    co_await clock_.sleep_for(look_every);
  }
}

Task<Status> Nominator::write(api::ObjectKey key, std::vector<std::string> nominated) {
  Json object = Json::object();
  object["apiVersion"] = api::Workload::resource.api_version();
  object["kind"] = "Workload";
  object["metadata"]["name"] = key.name;
  object["metadata"]["namespace"] = key.ns;
  object["status"]["nominatedClusterNames"] = nominated;
  kube::ApplyOptions options;
  options.subresource = "status";
  options.field_manager = dispatcher_field_manager;
  options.force = true;
  std::string body = dump_json(object);
  const auto applied = co_await client_.apply_raw(api::Workload::resource, std::move(key),
                                                  std::move(body), std::move(options));
  if (!applied) co_return applied.error();
  co_return ok();
}

}  // namespace regatta::lab
