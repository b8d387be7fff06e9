#pragma once

/// The account of one workload: sentences for people, JSON for programs.

#include "admission/explain.h"
#include "lib/base/json.h"
#include "whatif/explain/federation.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace regatta::whatif {

struct Account {
  admission::Explanation explanation;
  std::optional<FederationView> federation;
  std::vector<std::string> gaps;  ///< what could not be read, and what follows
  bool blind = false;             ///< too little could be read to say what admission would do
  TimePoint now{};
};

/// Explains a workload that `state` knows as it is in the API. `objects` contain the clusters of a
/// hub.
Account account_of(admission::State& state, const api::Workload& workload,
                   const std::vector<Object>& objects, TimePoint now);

/// Explains a workload of `objects`, with which `state` was fed. `not_found`, with near misses,
/// when it is not among them.
Result<Account> give_account(admission::State& state, const std::vector<Object>& objects,
                             const api::ObjectKey& key, TimePoint now);

/// One or two sentences about where the workload stands.
std::string summary_of(const Account& account);
/// What the user can do, the most likely first. Empty when nothing needs to be done.
std::vector<std::string> next_steps(const Account& account);
/// One sentence about what this flavor would mean for the workload.
std::string sentence_of(const admission::FlavorTry& flavor, TimePoint now);
/// The reasons why preemption does not make room in this flavor, one sentence each.
std::vector<std::string> why_no_preemption(const admission::FlavorTry& flavor,
                                           const api::ClusterQueuePreemption& policy);

void print(const Account& account, std::ostream& out);
Json to_json(const Account& account);

}  // namespace regatta::whatif
