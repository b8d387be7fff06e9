// What is wrong with the ClusterProfile of a worker.
#include "kubeconfig/cluster_profile.h"
#include "lib/api/codec.h"
#include "operate/doctor.h"
#include "operate/expiry.h"
#include "operate/questions.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace regatta::operate {
namespace {

std::string spelled(const api::ObjectKey& key) {
  return "ClusterProfile " + key.str();
}

/// The profile, or nullopt with a finding.
Task<std::optional<api::ClusterProfile>> find_profile(DoctorDeps deps, std::string worker,
                                                      api::ObjectKey key, Examination* out) {
  const api::ResourceInfo& resource = api::ClusterProfile::resource;
  const auto served = co_await served_at(deps.hub, "/apis/" + resource.api_version());
  if (served && !served->contains(std::string(resource.plural))) {
    out->error(worker, "the hub does not serve clusterprofiles, of which this worker is",
               "apply the CustomResourceDefinition of SIG Multicluster on the hub");
    co_return std::nullopt;
  }
  const auto text = co_await deps.hub.get_raw(resource, key);
  if (!text && text.error().code() == Errc::not_found) {
    out->error(worker, "there is no " + spelled(key),
               "see whether the cluster manager that makes them knows this cluster");
    co_return std::nullopt;
  }
  auto profile =
      text ? api::decode<api::ClusterProfile>(*text) : Result<api::ClusterProfile>(text.error());
  if (!profile) {
    out->cannot_check(worker + ": " + spelled(key) + ": " + profile.error().what());
    co_return std::nullopt;
  }
  ++out->checks;
  co_return std::move(*profile);
}

}  // namespace

Task<> examine_profile(DoctorDeps deps, std::string worker, std::string name, Examination* out) {
  const api::ObjectKey key(deps.hub_ns, name);
  const auto profile = co_await find_profile(deps, worker, key, out);
  if (!profile) co_return;
  std::vector<std::string> offered;
  for (const auto* list :
       {&profile->status.access_providers, &profile->status.credential_providers}) {
    for (const api::AccessProvider& one : *list) offered.push_back(one.name);
  }
  if (offered.empty()) {
    co_return out->error(worker, spelled(key) + " names no access provider in its status",
                         "see whether the cluster manager that makes it is well");
  }
  std::sort(offered.begin(), offered.end());
  offered.erase(std::unique(offered.begin(), offered.end()), offered.end());
  // Which of them the manager's configuration has is not known here.
  for (const std::string& provider : offered) {
    const api::ExecPlugin any{.provider = provider,
                              .api_version = "client.authentication.k8s.io/v1"};
    const auto verdict = kubeconfig::choose_access(*profile, {any});
    ++out->checks;
    if (!verdict.access) {
      out->error(worker, spelled(key) + ": " + verdict.message,
                 "the author of the profile has to change it: what is refused in kubeconfigs is "
                 "refused here, too");
    } else if (const std::string& ca = verdict.access->endpoint.ca_pem; !ca.empty()) {
      check_certificate(out, worker, "the authority of access provider " + provider, ca,
                        deps.clock.now(), ends_soon_on_workers,
                        "the profile needs the new authority");
    }
  }
}

}  // namespace regatta::operate
