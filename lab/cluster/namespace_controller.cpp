#include "lab/cluster/namespace_controller.h"

#include "lab/cluster/discovery.h"
#include "lib/runtime/worker.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace regatta::lab {

namespace {

constexpr Backoff look_again{std::chrono::milliseconds(500), std::chrono::seconds(15)};

}  // namespace

NamespaceController::NamespaceController(NamespaceControllerDeps deps)
    : deps_(std::move(deps)),
      namespaces_({deps_.client, deps_.clock, deps_.rng, deps_.executor, deps_.log}),
      scope_(deps_.executor),
      queue_(deps_.clock, scope_, look_again) {
  namespaces_.on_change([this](const api::ObjectKey& key) { queue_.add(key); });
}

Task<> NamespaceController::run() {
  scope_.spawn("namespaces", namespaces_.run());
  scope_.spawn("worker", work());
  co_await scope_.run_until_cancelled();
}

Task<> NamespaceController::work() {
  const auto step = [this](const api::ObjectKey& key) { return reconcile(key); };
  const auto told = [this](const api::ObjectKey& key, const Error& error) {
    deps_.log.info("emptying a namespace failed, trying again",
                   {{"namespace", key.name}, {"error", error.what()}});
  };
  return work_through(queue_, step, told);
}

Task<Status> NamespaceController::reconcile(api::ObjectKey key) {
  const auto ns = namespaces_.get(key);
  if (!ns || !ns->metadata.deleting()) co_return ok();
  const Result<std::size_t> left = co_await empty(key.name);
  if (!left) co_return left.error();
  if (*left > 0) {
    // Its objects are being deleted. Nothing failed, but no event says when they are gone.
    co_return Error(Errc::conflict, "the namespace is not empty yet");
  }
  co_return co_await finalize(key);
}

Task<Result<std::size_t>> NamespaceController::empty(std::string ns) {
  const auto resources = co_await discover(deps_.client);
  if (!resources) co_return resources.error();
  std::size_t left = 0;
  for (const DiscoveredResource& resource : *resources) {
    if (!resource.namespaced || !resource.can("deletecollection") || !resource.can("list")) {
      continue;
    }
    kube::DeleteOptions removal;
    removal.propagation_policy = "Background";
    kube::ListOptions everything;
    const Status removed = co_await deps_.client.remove_collection(
        resource.info(), ns, std::move(everything), std::move(removal));
    if (!removed && removed.error().code() != Errc::not_found) {
      co_return removed.error().within("removing " + resource.plural);
    }
    std::size_t found = 0;
    const kube::OnItem count = [&](const Json&, std::size_t) { ++found; };
    kube::ListOptions one_page;
    const auto listed =
        co_await deps_.client.list_raw(resource.info(), ns, std::move(one_page), count);
    if (!listed && listed.error().code() != Errc::not_found) {
      co_return listed.error().within("listing " + resource.plural);
    }
    if (found > 0) ++left;
  }
  co_return left;
}

Task<Status> NamespaceController::finalize(api::ObjectKey key) {
  kube::GetOptions read;
  const auto text = co_await deps_.client.get_raw(api::Namespace::resource, key, std::move(read));
  if (!text) {
    if (text.error().code() == Errc::not_found) co_return ok();
    co_return text.error();
  }
  Result<Json> ns = parse_json(*text);
  if (!ns) co_return ns.error();
  if (!ns->is_object() || !(*ns)["spec"].is_object()) (*ns)["spec"] = Json::object();
  Json kept = Json::array();
  for (const Json& finalizer : (*ns)["spec"].value("finalizers", Json::array())) {
    if (finalizer != "kubernetes") kept.push_back(finalizer);
  }
  (*ns)["spec"]["finalizers"] = std::move(kept);
  std::string body = dump_json(*ns);
  kube::WriteOptions options;
  options.subresource = "finalize";
  const auto written = co_await deps_.client.update_raw(api::Namespace::resource, std::move(key),
                                                        std::move(body), std::move(options));
  if (!written && written.error().code() != Errc::not_found) co_return written.error();
  co_return ok();
}

}  // namespace regatta::lab
