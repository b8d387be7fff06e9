#pragma once

#include "lib/api/labels.h"
#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/manifest/cel/program.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::apiserver {

/// Where a webhook is called, as its configuration says.
struct HookTarget {
  std::string url;  ///< empty: the Service
  std::string service_namespace;
  std::string service;
  std::string path;
  std::uint16_t port = 443;  ///< of the Service
  std::string ca_pem;        ///< empty: no certificate is accepted

  /// The URL without a query, as messages show it.
  std::string shown_url() const;
};

/// The clientConfig of a webhook, of a conversion, or of an APIService's spec.
HookTarget read_target(const Json& client);

/// The resource of a write, as rules see it.
struct HookedResource {
  std::string_view group;
  std::string_view version;
  std::string_view plural;
  std::string_view subresource;
  std::string_view operation;  ///< CREATE, UPDATE or DELETE
  bool namespaced = true;
};

struct HookRule {
  std::vector<std::string> operations, groups, versions, resources;
  std::string scope;

  bool matches(const HookedResource& what) const;
};

struct MatchCondition {
  std::string name;
  std::shared_ptr<const manifest::cel::Program> program;
};

/// One webhook of a MutatingWebhookConfiguration or of a ValidatingWebhookConfiguration.
struct Hook {
  std::string name;
  bool mutating = false;
  HookTarget target;
  std::vector<HookRule> rules;
  bool exact = false;         ///< matchPolicy Exact
  bool fails_open = false;    ///< failurePolicy Ignore
  bool called_again = false;  ///< reinvocationPolicy IfNeeded
  Duration timeout = std::chrono::seconds(10);
  api::Selector namespaces;
  api::Selector objects;
  std::vector<MatchCondition> conditions;
  std::string review_version = "v1";  ///< of admission.k8s.io

  bool matches(const HookedResource& what) const;
};

/// The webhooks of a configuration, in its order. Those that validation would refuse are left out.
std::vector<Hook> read_hooks(const Json& configuration, bool mutating);

/// The variables of matchConditions, in order.
std::vector<manifest::cel::Variable> match_variables();

}  // namespace regatta::apiserver
