#pragma once

#include "lib/base/json.h"
#include "lib/base/log.h"
#include "lib/base/task.h"
#include "lib/kube/client.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::manager {

/// What Kueue's installation leaves in a cluster after Kueue was stopped, and what breaks without
/// it: webhooks, which refuse every Job while nothing answers them, and the conversion of CRDs.
/// docs/moving.md says how to remove them.

/// Whether this manager answers calls of that path.
using Answers = std::function<bool(std::string_view path)>;

/// The webhooks of a MutatingWebhookConfigurationList or ValidatingWebhookConfigurationList that
/// call Kueue's service, but for those that are answered:
/// "kueue-mutating-webhook-configuration: mjob.kb.io, mpod.kb.io".
std::vector<std::string> webhooks_of_kueue(const Json& list, const Answers& answers);
/// Whether the objects of a CustomResourceDefinition are converted by Kueue's service, and not
/// here.
bool converted_by_kueue(const Json& definition, const Answers& answers);

/// Looks once, and logs a warning for each thing found. Where it may not look it says nothing.
Task<> warn_of_kueue_leftovers(kube::Client& client, Log log, Answers answers);

}  // namespace regatta::manager
