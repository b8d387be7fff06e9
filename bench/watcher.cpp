#include "bench/watcher.h"

#include "bench/objects.h"
#include "lib/api/workload.h"

#include <nlohmann/json.hpp>

namespace regatta::bench {
namespace {

const Json& at(const Json& object, const char* name) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto it = object.find(name);
  return it == object.end() ? none : *it;
}

bool holds(const Json& conditions, std::string_view type) {
  for (const Json& condition : conditions) {
    if (at(condition, "type") == type) return at(condition, "status") == "True";
  }
  return false;
}

}  // namespace

Task<> Watcher::run() {
  kube::WatchOptions options;
  options.server_timeout = std::chrono::hours(1);
  auto watch = co_await client_.watch(api::Workload::resource, job_namespace, options);
  if (!watch) {
    error_ = watch.error().what();
    changed_.notify_all();
    co_return;
  }
  for (;;) {
    const auto event = co_await watch->next();
    if (!event || !*event) {
      error_ = event ? "the watch ended" : event.error().what();
      changed_.notify_all();
      co_return;
    }
    if ((*event)->type == kube::WatchEventType::bookmark) continue;
    note(*(*event)->object);
  }
}

void Watcher::note(const Json& workload) {
  const Json& owners = at(at(workload, "metadata"), "ownerReferences");
  if (!owners.is_array() || owners.empty()) return;
  // That of a group has its name, and no controller.
  const bool of_job = at(owners.front(), "controller") == true;
  const Json& owner = at(of_job ? owners.front() : at(workload, "metadata"), "name");
  if (!owner.is_string()) return;
  const auto& name = owner.get_ref<const std::string&>();
  const Instant now = std::chrono::steady_clock::now();
  const Json& conditions = at(at(workload, "status"), "conditions");
  seen_.try_emplace(name, now);
  if (holds(conditions, "Admitted")) admitted_.try_emplace(name, now);
  if (holds(conditions, "Finished")) finished_.try_emplace(name, now);
  changed_.notify_all();
}

}  // namespace regatta::bench
