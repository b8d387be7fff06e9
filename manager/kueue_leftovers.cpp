#include "manager/kueue_leftovers.h"

#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::manager {
namespace {

constexpr const char* page = "docs/moving.md";

/// `config` is a clientConfig.
bool only_kueue_answers(const Json& config, const Answers& answers) {
  const Json* service = object_at(config, "service");
  return service && text_at(*service, "name") == "kueue-webhook-service" &&
         !answers(text_at(*service, "path"));
}

}  // namespace

std::vector<std::string> webhooks_of_kueue(const Json& list, const Answers& answers) {
  std::vector<std::string> found;
  const Json* items = member(list, "items");
  if (!items || !items->is_array()) return found;
  for (const Json& item : *items) {
    const Json* metadata = member(item, "metadata");
    const Json* hooks = member(item, "webhooks");
    if (!metadata || !hooks || !hooks->is_array()) continue;
    std::string names;
    for (const Json& hook : *hooks) {
      const Json* config = member(hook, "clientConfig");
      if (!config || !only_kueue_answers(*config, answers)) continue;
      names += (names.empty() ? "" : ", ") + text_at(hook, "name");
    }
    if (!names.empty()) found.push_back(text_at(*metadata, "name") + ": " + names);
  }
  return found;
}

bool converted_by_kueue(const Json& definition, const Answers& answers) {
  const Json* spec = member(definition, "spec");
  const Json* conversion = spec ? member(*spec, "conversion") : nullptr;
  if (!conversion || text_at(*conversion, "strategy") != "Webhook") return false;
  const Json* webhook = member(*conversion, "webhook");
  const Json* config = webhook ? member(*webhook, "clientConfig") : nullptr;
  return config && only_kueue_answers(*config, answers);
}

Task<> warn_of_kueue_leftovers(kube::Client& client, Log log, Answers answers) {
  for (const char* kind : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}) {
    auto text =
        co_await client.get_path("/apis/admissionregistration.k8s.io/v1/" + std::string(kind));
    const Result<Json> list = text ? parse_json(*text) : Result<Json>(text.error());
    if (!list) continue;
    for (const std::string& found : webhooks_of_kueue(*list, answers)) {
      log.warning("webhooks of Kueue are installed: without Kueue they refuse jobs",
                  {{"configuration", found}, {"see", page}});
    }
  }
  auto text = co_await client.get_path(
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/workloads.kueue.x-k8s.io");
  const Result<Json> definition = text ? parse_json(*text) : Result<Json>(text.error());
  if (!definition || !converted_by_kueue(*definition, answers)) co_return;
  log.warning("Kueue converts the versions of its objects: without Kueue v1beta1 cannot be read",
              {{"definition", "workloads.kueue.x-k8s.io"}, {"see", page}});
}

}  // namespace regatta::manager
