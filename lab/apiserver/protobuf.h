#pragma once

#include "lib/base/json.h"

#include <optional>
#include <string_view>

namespace regatta::apiserver {

/// An object in Kubernetes' protobuf envelope, for the few kinds that kubectl creates from its
/// command line in that form (Namespace, ConfigMap, Secret, ServiceAccount, TokenRequest, the kinds
/// of RBAC, plain Jobs, the reviews of `kubectl auth`), and for the options of a deletion. Nothing
/// for others, and nothing when fields are set that would be lost.
std::optional<Json> from_protobuf(std::string_view body);

}  // namespace regatta::apiserver
