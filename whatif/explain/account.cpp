#include "whatif/explain/account.h"

#include "whatif/explain/words.h"

namespace regatta::whatif {
namespace {

/// Workloads of the namespace that the user may mean: those of a job of that name.
std::vector<std::string> meant(const std::vector<Object>& objects, const api::ObjectKey& key) {
  std::vector<std::string> names;
  for (const Object& object : objects) {
    const auto* workload = std::get_if<api::Workload>(&object);
    if (workload == nullptr || workload->metadata.ns != key.ns) continue;
    const api::OwnerReference* owner = workload->metadata.controller();
    if (owner != nullptr && owner->name == key.name) {
      names.push_back(workload->metadata.key().str() + " (of " + owner->kind + " " + owner->name +
                      ")");
    }
  }
  return names;
}

}  // namespace

Account account_of(admission::State& state, const api::Workload& workload,
                   const std::vector<Object>& objects, TimePoint now) {
  Account account;
  account.now = now;
  account.explanation = admission::explain(state, workload, now);
  std::vector<std::string> checks;
  for (const auto& check : account.explanation.checks) checks.push_back(check.name);
  account.federation = federation_of(objects, workload, checks);
  return account;
}

Result<Account> give_account(admission::State& state, const std::vector<Object>& objects,
                             const api::ObjectKey& key, TimePoint now) {
  for (const Object& object : objects) {
    const auto* workload = std::get_if<api::Workload>(&object);
    if (workload == nullptr || workload->metadata.key() != key) continue;
    return account_of(state, *workload, objects, now);
  }
  const std::vector<std::string> others = meant(objects, key);
  return Error(Errc::not_found, "there is no Workload " + key.str() +
                                    (others.empty() ? "" : "; did you mean " + listed(others)));
}

}  // namespace regatta::whatif
