#pragma once

#include "lab/apiserver/core.h"
#include "lab/apiserver/hook_caller.h"
#include "lab/apiserver/hooks/review.h"
#include "lab/apiserver/output.h"

#include <map>

namespace regatta::apiserver {

/// A write on its way through the webhooks.
struct HookedWrite {
  Exchange& exchange;
  const ResourceType& type;
  std::string ns;
  std::string name;  ///< empty before a name is generated
  std::string subresource;
  std::string operation;  ///< CREATE, UPDATE or DELETE
  const Json* old;        ///< null for a create
  Json options;           ///< CreateOptions, UpdateOptions or DeleteOptions
  bool dry_run = false;
};

/// A webhook that is called for writes of a resource, and the version in which it sees the object.
struct Matched {
  const Hook* hook;
  ResourceTypePtr as;  ///< null: the version of the request
};

/// Calls the webhooks of the MutatingWebhookConfigurations and ValidatingWebhookConfigurations in
/// the store, by configuration name and in the order of each configuration. Nothing is locked while
/// a call is under way: what is written afterwards has to look at the store again.
class AdmissionHooks {
 public:
  AdmissionHooks(Core& core, HookCaller& caller) : core_(core), caller_(caller) {}

  /// Whether any webhook could be called for such a write. Cheap.
  bool any(const ResourceType& type, std::string_view subresource, std::string_view operation);

  /// Lets the mutating webhooks change `object` (null for a delete), which has its defaults before
  /// and after. The refusal of the write, if one refuses.
  Task<std::optional<Failure>> mutate(const HookedWrite& write, Json* object);
  Task<std::optional<Failure>> validate(const HookedWrite& write, const Json* object);

 private:
  using Chosen = std::shared_ptr<const std::vector<Matched>>;
  struct Asked {
    const ResourceType& type;
    std::string_view subresource;
    std::string_view operation;
    HookedResource as(const ResourceType& version) const;
  };
  Chosen chosen(const Asked& asked, bool mutating);
  void refresh();
  std::vector<Matched> choose(const Asked& asked, bool mutating) const;
  enum class Interest { none, some };
  /// Whether selectors and matchConditions let the webhook see the object.
  Answer<Interest> interest_of(const HookedWrite& write, const Hook& hook, const Json* object,
                               const Json& request) const;
  const Json* labels_of_namespace(const HookedWrite& write, const Json* object) const;
  Task<Answer<Json>> request_of(const HookedWrite& write, const Matched& matched,
                                const Json* object) const;
  /// One call. The answer is unset when the webhook is passed over.
  Task<Answer<std::optional<HookAnswer>>> call(const HookedWrite& write, const Matched& matched,
                                               const Json* object);
  Task<std::optional<Failure>> mutate_once(const HookedWrite& write, const Matched& matched,
                                           Json* object, bool* changed);

  Core& core_;
  HookCaller& caller_;
  std::shared_ptr<const std::vector<Hook>> mutating_, validating_;
  std::uint64_t seen_mutating_ = 0, seen_validating_ = 0, seen_types_ = 0;
  std::map<std::string, Chosen, std::less<>> by_resource_;
};

}  // namespace regatta::apiserver
