#include "manager/visibility_port.h"

#include "lib/kube/in_cluster.h"

#include <filesystem>

namespace regatta::manager {
namespace {

constexpr const char* certificate_file = "/visibility/tls.crt";
constexpr const char* key_file = "/visibility/tls.key";
constexpr std::size_t pem_bytes_max = 1u << 20;

Result<visibility::ServerOptions> options_of(const Configuration& config, TimePoint now) {
  visibility::ServerOptions options;
  if (!config.visibility_server.bind_address.empty()) {
    options.address = config.visibility_server.bind_address;
  }
  options.port = static_cast<std::uint16_t>(config.visibility_server.bind_port);
  if (!visibility_has_files()) {
    return visibility::self_signed(std::move(options), config.ns, now);
  }
  auto certificate = kube::read_small_file(certificate_file, pem_bytes_max);
  if (!certificate) return certificate.error().within(certificate_file);
  auto key = kube::read_small_file(key_file, pem_bytes_max);
  if (!key) return key.error().within(key_file);
  options.certificate_pem = std::move(*certificate);
  options.key_pem = std::move(*key);
  return options;
}

std::optional<visibility::WorkloadSeen> find_workload(const clusters::LocalCluster& local,
                                                      const api::ObjectKey& key) {
  const auto found = local.workloads.get(key);
  if (!found) return std::nullopt;
  return visibility::WorkloadSeen{{found, &found->metadata}, found->spec.priority.value_or(0)};
}

}  // namespace

bool visibility_has_files() {
  std::error_code error;
  return std::filesystem::exists(certificate_file, error);
}

Result<std::unique_ptr<visibility::VisibilityServer>> make_visibility_port(
    const Configuration& config, const Executor& executor, Clock& clock, Log log,
    kube::Client& client, Core& core) {
  if (!config.gates.enabled("VisibilityOnDemand")) {
    return std::unique_ptr<visibility::VisibilityServer>();
  }
  auto options = options_of(config, clock.now());
  if (!options) return options.error().within("visibilityServer");
  const auto with_source = [&core](const std::function<void(const visibility::Source&)>& answer) {
    if (!core.synced()) return false;
    const admission::StatusReader reader = core.scheduler().reader();
    answer(
        {reader, [&core](const api::ObjectKey& key) { return find_workload(core.local(), key); }});
    return true;
  };
  return std::make_unique<visibility::VisibilityServer>(
      executor, visibility::HandlerDeps{client, clock, std::move(log), with_source},
      std::move(*options));
}

}  // namespace regatta::manager
