#include "lab/demo/job_mix.h"

#include "lib/api/quantity.h"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace regatta::lab {
namespace {

constexpr int group_size = 3;
constexpr const char* run_seconds = "sandbox.regatta.dev/run-seconds";
constexpr std::array<const char*, 2> namespaces = {"team-product", "team-research"};

Result<api::Quantity> request(const Json& pod, const char* resource) {
  const Json& requests = pod.at("containers").at(0).at("resources").at("requests");
  const auto it = requests.find(resource);
  if (it == requests.end()) return api::Quantity();
  return api::Quantity::parse(it->is_string() ? it->get<std::string>() : it->dump());
}

std::string numbered(int number, int count) {
  std::string digits = std::to_string(number);
  const std::size_t width = std::max<std::size_t>(2, std::to_string(count).size());
  return "job-" + std::string(width - std::min(width, digits.size()), '0') + digits;
}

/// Tenths of a second as text: "2.5".
std::string tenths(std::int64_t value) {
  return std::to_string(value / 10) + "." + std::to_string(value % 10);
}

Result<DemoJob> make_job(const Json& example, const RacedKind& kind, std::string name, Rng& rng) {
  constexpr std::int64_t shortest = 10;
  constexpr std::int64_t longest = 40;
  DemoJob job;
  job.kind = example.at("metadata").at("name").get<std::string>();
  Json object = example;
  Json& metadata = object["metadata"];
  metadata["name"] = name;
  metadata["namespace"] = namespaces[static_cast<std::size_t>(rng.between(0, 1))];
  metadata["annotations"][run_seconds] = tenths(rng.between(shortest, longest));
  job.key = api::ObjectKey(metadata["namespace"].get<std::string>(), std::move(name));
  job.resource = kind.resource;
  const Json& pod = example.at("spec").at("template").at("spec");
  const auto cpu = request(pod, "cpu");
  const auto accelerators = request(pod, "nvidia.com/gpu");
  if (!cpu) return cpu.error();
  if (!accelerators) return accelerators.error();
  std::int64_t pods = 1;
  if (&kind == &plain_jobs()) {
    // Sets what a webhook would set on queued and dispatched Jobs.
    Json& spec = object["spec"];
    spec["suspend"] = true;
    spec["managedBy"] = "kueue.x-k8s.io/multikueue";
    pods = spec.value("parallelism", std::int64_t(1));
    job.objects.push_back(std::move(object));
  } else {
    job.kind = kind.name;
    job.objects = kind.make(std::move(metadata), example.at("spec").at("template"), group_size);
    pods = kind.objects(group_size);
  }
  job.cpu_milli = cpu->milli_value() * pods;
  job.accelerators = accelerators->value() * pods;
  return job;
}

}  // namespace

Result<std::vector<DemoJob>> mix_jobs(const std::vector<Json>& examples,
                                      const std::vector<const RacedKind*>& kinds, int count,
                                      Rng& rng) {
  if (examples.empty()) return Error(Errc::invalid, "no example of a Job");
  if (count < 1 || count > demo_jobs_max) {
    return Error(Errc::invalid, "1 to " + std::to_string(demo_jobs_max) + " jobs are possible");
  }
  try {
    std::vector<DemoJob> jobs;
    const auto last = static_cast<std::int64_t>(examples.size()) - 1;
    for (int i = 1; i <= count; ++i) {
      const auto which = static_cast<std::size_t>(rng.between(0, last));
      // One kind leaves the mix of a seed as it is.
      const RacedKind* kind = kinds.front();
      if (kinds.size() > 1) {
        kind = kinds[static_cast<std::size_t>(rng.between(0, std::int64_t(kinds.size()) - 1))];
      }
      auto job = make_job(examples[which], *kind, numbered(i, count), rng);
      if (!job) return job.error();
      jobs.push_back(std::move(*job));
    }
    return jobs;
  } catch (const Json::exception& e) {
    return Error(Errc::invalid, std::string("an example of a Job: ") + e.what());
  }
}

}  // namespace regatta::lab
