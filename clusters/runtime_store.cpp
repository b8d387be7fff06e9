#include "clusters/runtime_store.h"

#include "clusters/job_store.h"
#include "lib/api/metadata.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::clusters {
namespace {

Result<RuntimeStore::Informer::Ptr> decode(const Json& object) {
  auto metadata = api::read_metadata(object);
  if (!metadata) return metadata.error();
  return std::make_shared<const Runtime>(Runtime{std::move(*metadata), object});
}

}  // namespace

RuntimeStore::RuntimeStore(
    const jobs::JobKinds& kinds,
    const std::function<kube::InformerDeps(const api::ResourceInfo&)>& informer) {
  kube::InformerOptions options;
  options.absent_retry = absent_retry;
  for (const auto& kind : kinds.all()) {
    for (const api::ResourceInfo& runtime : kind->runtimes()) {
      // Several kinds may refer to one.
      const bool known = std::any_of(informers_.begin(), informers_.end(),
                                     [&](const auto& one) { return *one.first == runtime; });
      if (known) continue;
      informers_.emplace_back(
          &runtime, std::make_unique<Informer>(informer(runtime), runtime, options, decode));
    }
  }
}

void RuntimeStore::for_each_informer(
    const std::function<void(const api::ResourceInfo&, Informer&)>& visit) {
  for (auto& [resource, informer] : informers_) visit(*resource, *informer);
}

Task<> RuntimeStore::wait_synced() {
  for (auto& [resource, informer] : informers_) co_await informer->wait_synced();
}

void RuntimeStore::on_change(const std::function<void(const jobs::RuntimeRef&)>& handler) {
  for (auto& [resource, informer] : informers_) {
    informer->on_change([resource = resource, handler](const api::ObjectKey& key) {
      handler(jobs::RuntimeRef{resource, key});
    });
  }
}

std::shared_ptr<const Json> RuntimeStore::get(const jobs::RuntimeRef& ref) const {
  for (const auto& [resource, informer] : informers_) {
    if (*resource != *ref.resource) continue;
    auto found = informer->get(ref.key);
    if (!found) return nullptr;
    return std::shared_ptr<const Json>(found, &found->object);
  }
  return nullptr;
}

bool RuntimeStore::serves(const api::ResourceInfo& kind) const {
  for (const auto& [resource, informer] : informers_) {
    if (*resource == kind) return informer->health().served;
  }
  return false;
}

}  // namespace regatta::clusters
