// What is wrong with a worker, seen with the eyes of the hub.
#include "kubeconfig/validate.h"
#include "lib/api/core.h"
#include "lib/api/own_names.h"
#include "lib/api/workload.h"
#include "lib/base/base64.h"
#include "lib/base/json_access.h"
#include "operate/doctor.h"
#include "operate/expiry.h"
#include "operate/questions.h"
#include "operate/resources.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace regatta::operate {
namespace {

/// One worker while it is looked at.
struct Patient {
  DoctorDeps deps;
  std::string name;
  Needs needs;
  Examination* out;

  void error(std::string what, std::string todo) const {
    out->error(name, std::move(what), std::move(todo));
  }
  void skip(const std::string& what, const Error& error) const {
    out->cannot_check(name + ": " + what + ": " + error.what());
  }
};

/// The conditions of a MultiKueueCluster that tell an operator that something is wrong.
constexpr std::string_view complaints[] = {
    api::conditions::removals_held, api::conditions::origin_shared, api::conditions::same_cluster};

void check_complaints(const Patient& patient, const Json& member) {
  ++patient.out->checks;
  for (const std::string_view type : complaints) {
    const Json* one = condition_of(member, type);
    if (!one || text_at(*one, "status") != "True") continue;
    patient.out->warn(patient.name, std::string(type) + ": " + text_at(*one, "message"),
                      "see the conditions of a MultiKueueCluster in docs/operations.md");
  }
}

void check_condition(const Patient& patient, const Json& member) {
  ++patient.out->checks;
  const Json* active = condition_of(member, "Active");
  if (!active) {
    return patient.error("MultiKueueCluster has no condition Active",
                         "see whether the manager of the hub runs, and what its log says");
  }
  if (text_at(*active, "status") == "True") return;
  patient.error("MultiKueueCluster is not Active: " + text_at(*active, "reason") + ": " +
                    text_at(*active, "message"),
                "see the other findings about this worker");
}

/// The kubeconfig that the hub uses; nullopt, with a finding, when there is none.
Task<std::optional<kubeconfig::Endpoint>> find_endpoint(Patient patient, Json member) {
  const Json& source = object_or_empty(member, {"spec", "clusterSource", "kubeConfig"});
  const std::string location = text_at(source, "location");
  if (text_at(source, "locationType") == "Path" || location.empty()) {
    patient.out->cannot_check(patient.name +
                              ": its kubeconfig is no Secret: only its condition "
                              "was looked at");
    co_return std::nullopt;
  }
  const api::ObjectKey key(patient.deps.hub_ns, location);
  const std::string again = "regatta register-worker " + patient.name + " makes it anew";
  const auto text = co_await patient.deps.hub.get_raw(api::Secret::resource, key);
  if (!text && text.error().code() == Errc::not_found) {
    patient.error("there is no Secret " + key.str() + " with its kubeconfig", again);
    co_return std::nullopt;
  }
  const auto secret = text ? parse_json(*text) : Result<Json>(text.error());
  if (!secret) {
    patient.skip("its Secret", secret.error());
    co_return std::nullopt;
  }
  const auto bytes = base64_decode(text_at(object_or_empty(*secret, {"data"}), "kubeconfig"));
  ++patient.out->checks;
  if (!bytes || bytes->empty()) {
    patient.error("Secret " + key.str() + " has no key kubeconfig", again);
    co_return std::nullopt;
  }
  kubeconfig::Verdict verdict = kubeconfig::from_bytes(*bytes);
  if (!verdict.endpoint) {
    patient.error("its kubeconfig is refused: " + verdict.message, again);
  }
  co_return std::move(verdict.endpoint);
}

void check_credentials(const Patient& patient, const kubeconfig::Endpoint& endpoint) {
  const TimePoint now = patient.deps.clock.now();
  const std::string todo = "regatta register-worker " + patient.name + " --rotate";
  if (const auto end = token_end(endpoint.bearer_token)) {
    check_end(patient.out, patient.name, "the token of the hub", *end, now, ends_soon_on_workers,
              todo);
  }
  if (!endpoint.client_certificate_pem.empty()) {
    check_certificate(patient.out, patient.name, "the client certificate of the hub",
                      endpoint.client_certificate_pem, now, ends_soon_on_workers, todo);
  }
  if (!endpoint.ca_pem.empty()) {
    check_certificate(patient.out, patient.name, "the authority in the kubeconfig", endpoint.ca_pem,
                      now, ends_soon_on_workers, todo);
  }
}

int minor_of(const Json& version) {
  const std::string& text = text_at(version, "minor");
  int minor = 0;
  std::from_chars(text.data(), text.data() + text.size(), minor);
  return minor;
}

/// False when the worker cannot be asked, so that nothing else is worth a try.
Task<bool> check_connection(Patient patient, kube::Client& worker, std::string url) {
  ++patient.out->checks;
  const auto version = co_await get_json(worker, "/version");
  const bool known =
      !version && version.error().details() && version.error().details()->http_status == 403;
  if (known) co_return true;  // the credentials were accepted
  if (!version) {
    patient.error("the hub's kubeconfig does not lead to it: " + version.error().what(),
                  "see whether " + url +
                      " can be reached from here, and with --rotate get a "
                      "token that is valid");
    co_return false;
  }
  const auto of_hub = co_await get_json(patient.deps.hub, "/version");
  if (of_hub && std::abs(minor_of(*of_hub) - minor_of(*version)) > 6) {
    patient.out->warn(patient.name,
                      "it is Kubernetes 1." + std::to_string(minor_of(*version)) +
                          ", and the hub 1." + std::to_string(minor_of(*of_hub)),
                      "Jobs may have fields that the older one does not know: upgrade it");
  }
  co_return true;
}

/// Whether any version of the group has the resource.
Task<Result<bool>> serves(kube::Client& worker, FrameworkResource wanted) {
  if (wanted.group.empty()) co_return true;  // every server has the core group
  const std::string path = "/apis/" + wanted.group;
  const auto group = co_await get_json(worker, path);
  if (!group && group.error().code() == Errc::not_found) co_return false;
  if (!group) co_return group.error();
  for (const Json& version : list_or_empty(*group, "versions")) {
    const auto served = co_await served_at(worker, path + "/" + text_at(version, "version"));
    if (!served) co_return served.error();
    if (served->contains(wanted.plural)) co_return true;
  }
  co_return false;
}

Task<> check_kinds(Patient patient, kube::Client& worker) {
  const std::string path = "/apis/kueue.x-k8s.io/v1beta2";
  const auto served = co_await served_at(worker, path);
  if (!served) {
    patient.skip("workloads", served.error());
  } else {
    ++patient.out->checks;
    if (!served->contains("workloads")) {
      patient.error("workloads are not served at " + path,
                    "install Regatta or Kueue on the worker, with its CustomResourceDefinitions");
    }
  }
  for (const std::string& framework : patient.deps.frameworks) {
    const auto jobs = resource_of(framework);
    if (!jobs) continue;
    const auto known = co_await serves(worker, *jobs);
    if (!known) {
      patient.skip(jobs->plural + "." + jobs->group, known.error());
      continue;
    }
    ++patient.out->checks;
    if (*known) continue;
    patient.out->warn(
        patient.name,
        jobs->plural + "." + jobs->group + " are not served: it gets no job of " + framework,
        "install the operator of that kind there, or leave it out of --frameworks");
  }
}

void say_blind(const Patient& patient) {
  patient.out->warn(patient.name, "the hub may not watch its queues",
                    "dispatchers that compare workers do not know what room it has: regatta "
                    "register-worker " +
                        patient.name + " gives the right, as does the chart regatta-worker");
}

/// Where the hub may write: everywhere, or at least where its queues are.
Task<> check_rights(Patient patient, kube::Client& worker) {
  std::set<std::string> spaces;
  for (const auto& [ns, queue] : patient.needs.queues) spaces.insert(ns);
  bool blind = false;
  WorkerAccount account;
  account.frameworks = patient.deps.frameworks;
  for (const Permission& one : permissions_of(account)) {
    const auto everywhere = co_await may(worker, "", one);
    if (!everywhere) co_return patient.skip("rights of the hub", everywhere.error());
    ++patient.out->checks;
    if (*everywhere) continue;
    if (!one.needed) {
      if (!std::exchange(blind, true)) say_blind(patient);
      continue;
    }
    const bool read = one.verb == "get" || one.verb == "list" || one.verb == "watch";
    std::vector<Permission> missing;
    if (read || spaces.empty()) missing.push_back(one);
    for (const std::string& ns : read ? std::set<std::string>() : spaces) {
      Permission there = one;
      there.ns = ns;
      const auto allowed = co_await may(worker, "", there);
      if (allowed && !*allowed) missing.push_back(there);
    }
    for (const Permission& lacking : missing) {
      patient.error("the hub may not " + describe(lacking),
                    "regatta register-worker " + patient.name +
                        " gives every right that is needed, as does the chart regatta-worker");
    }
  }
}

/// A dry run, because the hub has no right to read Namespaces.
Task<bool> has_namespace(kube::Client& worker, std::string ns) {
  Json container{{"name", "main"}, {"image", "none"}};
  Json pod{{"restartPolicy", "Never"}};
  pod["containers"] = Json::array({std::move(container)});
  Json set{{"name", "main"}, {"count", 1}};
  set["template"]["spec"] = std::move(pod);
  Json copy{{"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", "Workload"}};
  copy["metadata"] = {{"name", "regatta-doctor"}, {"namespace", ns}};
  copy["spec"]["podSets"] = Json::array({std::move(set)});
  kube::WriteOptions options;
  options.dry_run = true;
  const auto answer =
      co_await worker.create_raw(api::Workload::resource, ns, dump_json(copy), options);
  co_return answer || answer.error().code() != Errc::not_found;
}

Task<> check_queues(Patient patient, kube::Client& hub_account, kube::Client& reader) {
  std::map<std::string, bool> known;
  for (const auto& [ns, queue] : patient.needs.queues) {
    auto there = known.find(ns);
    if (there == known.end()) {
      const bool exists = co_await has_namespace(hub_account, ns);
      there = known.emplace(ns, exists).first;
      ++patient.out->checks;
      if (!exists) patient.error("there is no namespace " + ns, "kubectl create namespace " + ns);
    }
    if (!there->second) continue;
    const auto found = co_await reader.get_raw(local_queues, {ns, queue});
    if (found || found.error().code() == Errc::not_found) ++patient.out->checks;
    if (found) continue;
    if (found.error().code() == Errc::not_found) {
      patient.error("there is no LocalQueue " + ns + "/" + queue,
                    "make one with a ClusterQueue of this worker: Jobs of the hub wait in it");
      continue;
    }
    co_return patient.skip("LocalQueues (--worker-kubeconfig " + patient.name + "=FILE)",
                           found.error());
  }
}

Task<> check_classes(Patient patient, kube::Client& reader, api::ResourceInfo resource,
                     std::set<std::string> wanted) {
  if (wanted.empty()) co_return;
  const auto found = co_await list_json(reader, resource);
  if (!found) {
    co_return patient.skip(
        std::string(resource.plural) + " (--worker-kubeconfig " + patient.name + "=FILE)",
        found.error());
  }
  const auto there = names_of(*found);
  for (const std::string& name : wanted) {
    ++patient.out->checks;
    if (there.contains(name)) continue;
    patient.error("there is no " + std::string(resource.kind) + " " + name,
                  "apply it there as on the hub, or keep Jobs with it away from this worker");
  }
}

/// A connection with an administrator's kubeconfig, or null when there is none.
std::unique_ptr<Trial> open_as_administrator(const Patient& patient) {
  const auto given = patient.deps.administrators.find(patient.name);
  if (given == patient.deps.administrators.end()) return nullptr;
  auto connected = patient.deps.open(given->second);
  if (connected) return std::move(*connected);
  patient.skip("the given kubeconfig", connected.error());
  return nullptr;
}

/// `account` may create what the hub creates; `reader` may read queues and classes.
Task<> check_needs(Patient patient, kube::Client& account, kube::Client& reader) {
  co_await check_queues(patient, account, reader);
  co_await check_classes(patient, reader, workload_classes, patient.needs.priority_classes);
  co_await check_classes(patient, reader, pod_classes, patient.needs.pod_priority_classes);
}

/// The hub's credentials come from a program in the manager's container.
Task<> check_profiled(Patient patient, std::string profile) {
  co_await examine_profile(patient.deps, patient.name, std::move(profile), patient.out);
  const std::unique_ptr<Trial> administrator = open_as_administrator(patient);
  if (!administrator) {
    co_return patient.out->cannot_check(
        patient.name +
        ": a plugin has the hub's credentials, so nothing was asked there "
        "(--worker-kubeconfig " +
        patient.name + "=FILE)");
  }
  patient.out->cannot_check(patient.name +
                            ": rights of the hub: a plugin has the hub's credentials");
  kube::Client& worker = administrator->client();
  co_await check_kinds(patient, worker);
  co_await check_needs(patient, worker, worker);
}

}  // namespace

Task<> examine_worker(DoctorDeps deps, Json member, Needs needs, std::optional<Duration> hub_ahead,
                      Examination* out) {
  const Patient patient{deps, text_at(member, {"metadata", "name"}), std::move(needs), out};
  check_condition(patient, member);
  check_complaints(patient, member);
  const Json& profile = object_or_empty(member, {"spec", "clusterSource", "clusterProfileRef"});
  if (!profile.empty()) co_return co_await check_profiled(patient, text_at(profile, "name"));
  const auto endpoint = co_await find_endpoint(patient, std::move(member));
  if (!endpoint) co_return;
  check_credentials(patient, *endpoint);
  auto opened = deps.open(*endpoint);
  if (!opened)
    co_return patient.error("its kubeconfig cannot be used: " + opened.error().what(),
                            "regatta register-worker makes it anew");
  kube::Client& worker = (*opened)->client();
  if (!co_await check_connection(patient, worker, endpoint->url)) co_return;
  const auto ahead = co_await clock_ahead(worker, deps.clock);
  if (ahead && hub_ahead) check_skew(out, patient.name, *ahead - *hub_ahead);
  co_await check_kinds(patient, worker);
  co_await check_rights(patient, worker);
  const std::unique_ptr<Trial> administrator = open_as_administrator(patient);
  co_await check_needs(patient, worker, administrator ? administrator->client() : worker);
}

}  // namespace regatta::operate
