#pragma once

#include "lib/api/resource.h"
#include "lib/base/json.h"

#include <string>
#include <string_view>
#include <vector>

/// The objects through which API servers learn which authority signs the webhooks' certificate.
namespace regatta::manager {

struct BundleTarget {
  api::ResourceInfo resource;
  std::string name;
  bool optional = false;  ///< left alone where it may not be read
};

/// The webhook configurations, definitions and APIServices that belong to a Service, by upstream's
/// names: "kueue-webhook-service" has "kueue-validating-webhook-configuration".
std::vector<BundleTarget> bundle_targets(std::string_view service);

/// The Service of the visibility API beside that of the webhooks: "kueue-visibility-server".
std::string visibility_service(std::string_view service);

/// Writes the authorities into every clientConfig of such an object. False when they are there
/// already. A definition that no webhook converts stays as it is. An APIService that did not check
/// certificates does so from then on.
bool set_bundle(Json* object, std::string_view authorities_pem);

}  // namespace regatta::manager
