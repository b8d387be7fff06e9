#include "operate/registration.h"

#include "lib/api/core.h"
#include "lib/api/kueue.h"
#include "lib/api/selected_clusters.h"
#include "lib/api/yaml.h"
#include "lib/base/contains.h"
#include "lib/base/duration.h"
#include "lib/base/joined.h"
#include "lib/base/json_access.h"
#include "operate/resources.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace regatta::operate {
namespace {

constexpr api::ResourceInfo namespaces{"", "v1", "Namespace", "namespaces", false};
constexpr Duration look_every = std::chrono::seconds(1);
/// A manager watches the Secrets of its namespace.
constexpr Duration hub_reads_within = std::chrono::seconds(5);
constexpr const char* kueue_path = "/apis/kueue.x-k8s.io/v1beta2";
constexpr const char* token_hidden = "<a token of the ServiceAccount>";

Error on(const std::string& where, const std::string& doing, const Error& error) {
  return error.within(doing + " on the " + where);
}

/// "was refused" needs to say what to do.
Error refusal(const std::string& where, const std::string& doing, const Error& error) {
  if (error.code() == Errc::conflict) {
    return Error(Errc::conflict, doing + " on the " + where + ": " + error.what() +
                                     "; something else manages it: choose another name, or delete "
                                     "it first");
  }
  if (error.code() == Errc::denied) {
    return Error(Errc::denied, doing + " on the " + where + ": " + error.what() +
                                   "; the user of the kubeconfig needs this right, and cannot give "
                                   "rights that it lacks: use an administrator's");
  }
  return on(where, doing, error);
}

Task<Status> apply(kube::Client& client, std::string where, Wanted wanted,
                   std::function<void(const std::string&)> say) {
  kube::ApplyOptions options;
  options.field_manager = field_manager;
  const auto applied = co_await client.apply_raw(wanted.resource, wanted.key(),
                                                 dump_json(wanted.object), std::move(options));
  const std::string doing = "applying " + wanted.str();
  if (!applied) co_return refusal(where, doing, applied.error());
  say(where + ": " + wanted.str());
  co_return ok();
}

/// Both clusters serve Kueue's kinds, and are not the same one.
Task<Status> check_clusters(kube::Client& hub, kube::Client& worker) {
  const std::pair<kube::Client*, std::string> both[] = {{&hub, "hub"}, {&worker, "worker"}};
  std::set<std::string> uids;
  for (const auto& [client, where] : both) {
    const auto served = co_await client->get_path(kueue_path);
    if (!served && served.error().code() == Errc::not_found) {
      co_return Error(Errc::not_found, "the " + where +
                                           " does not serve kueue.x-k8s.io/v1beta2: install "
                                           "Regatta or Kueue there first");
    }
    if (!served) co_return refusal(where, "reading " + std::string(kueue_path), served.error());
    const auto system = co_await client->get_raw(namespaces, api::ObjectKey("kube-system"));
    const auto read = system ? parse_json(*system) : Result<Json>(system.error());
    if (read) uids.insert(text_at(*read, {"metadata", "uid"}));
    if (!read) uids.insert(where);  // not readable: then it is not known
  }
  if (uids.size() < 2) {
    co_return Error(Errc::invalid, "hub and worker are the same cluster");
  }
  co_return ok();
}

Task<Status> make_namespace(kube::Client& worker, std::string ns,
                            std::function<void(const std::string&)> say) {
  const auto there = co_await worker.get_raw(namespaces, api::ObjectKey(ns));
  if (there) co_return ok();
  if (there.error().code() != Errc::not_found) {
    co_return refusal("worker", "reading Namespace " + ns, there.error());
  }
  const Json made{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}};
  const auto created = co_await worker.create_raw(namespaces, "", dump_json(made));
  if (!created) co_return refusal("worker", "creating Namespace " + ns, created.error());
  say("worker: Namespace " + ns);
  co_return ok();
}

using KeptObjects = std::set<std::pair<std::string_view, api::ObjectKey>>;

/// Deletes the objects of that kind that the selector finds, in namespace `ns` if it is set, and
/// that are not kept.
Task<Status> prune_kind(kube::Client& worker, api::ResourceInfo resource, std::string ns,
                        std::string selector, KeptObjects kept,
                        std::function<void(const std::string&)> say) {
  std::vector<Wanted> found;
  const kube::OnItem take = [&](const Json& item, std::size_t) {
    found.push_back({resource, item});
  };
  kube::ListOptions options;
  options.label_selector = std::move(selector);
  const auto listed = co_await worker.list_raw(resource, ns, std::move(options), take);
  const std::string doing = "listing " + std::string(resource.plural);
  if (!listed) co_return refusal("worker", doing, listed.error());
  for (const Wanted& one : found) {
    if (kept.contains({resource.kind, one.key()})) continue;
    const Status removed = co_await worker.remove(resource, one.key());
    if (!removed && removed.error().code() != Errc::not_found) {
      co_return refusal("worker", "deleting " + one.str(), removed.error());
    }
    say("worker: " + one.str() + " deleted");
  }
  co_return ok();
}

/// Deletes what an earlier call made for the account and is not in `keep`.
Task<Status> prune(kube::Client& worker, WorkerAccount account, std::vector<Wanted> keep,
                   std::function<void(const std::string&)> say) {
  KeptObjects kept;
  for (const Wanted& wanted : keep) kept.emplace(wanted.resource.kind, wanted.key());
  for (const api::ResourceInfo& resource : account_kinds()) {
    const Status pruned =
        co_await prune_kind(worker, resource, "", selector_of(account), kept, say);
    if (!pruned) co_return pruned;
  }
  co_return ok();
}

/// The Secret that a new token ends with.
Task<Result<Wanted>> make_tie(kube::Client& worker, RegistrationOptions options) {
  const std::string doing = "creating a Secret that the token is bound to";
  const Wanted tie = token_tie(options.account, options.cluster);
  const auto made =
      co_await worker.create_raw(tie.resource, options.account.ns, dump_json(tie.object));
  if (!made) co_return refusal("worker", doing, made.error());
  const auto read = parse_json(*made);
  if (!read) co_return read.error().within(doing);
  co_return Wanted{tie.resource, *read};
}

struct Token {
  std::string text;
  std::string ends;  ///< as the server writes it
};
Task<Result<Token>> request_token(kube::Client& worker, RegistrationOptions options, Wanted tie) {
  const auto lasts = std::chrono::duration_cast<std::chrono::seconds>(options.token_for).count();
  const Json request{{"apiVersion", "authentication.k8s.io/v1"},
                     {"kind", "TokenRequest"},
                     {"metadata", {{"name", options.account.name}}},
                     {"spec",
                      {{"expirationSeconds", lasts},
                       {"boundObjectRef",
                        {{"apiVersion", "v1"},
                         {"kind", "Secret"},
                         {"name", tie.key().name},
                         {"uid", text_at(tie.object, {"metadata", "uid"})}}}}}};
  kube::WriteOptions write;
  write.subresource = "token";
  const auto answer = co_await worker.create_raw(accounts, options.account.ns, dump_json(request),
                                                 std::move(write));
  const std::string doing =
      "requesting a token of ServiceAccount " + options.account.ns + "/" + options.account.name;
  if (!answer && answer.error().code() == Errc::not_found) {
    co_return Error(Errc::not_found, doing +
                                         " on the worker: there is no such ServiceAccount; "
                                         "register the worker first, or name its --account");
  }
  if (!answer) co_return refusal("worker", doing, answer.error());
  const auto read = parse_json(*answer);
  if (!read) co_return read.error().within(doing);
  Token token{text_at(*read, {"status", "token"}),
              text_at(*read, {"status", "expirationTimestamp"})};
  if (token.text.empty()) co_return Error(Errc::invalid, doing + ": the answer has no token");
  co_return token;
}

/// Uses the token as a hub does, so that the hub never gets one that does not work.
Task<Status> try_token(TryToken open, kubeconfig::Endpoint endpoint, WorkerAccount account) {
  auto trial = open(endpoint);
  if (!trial) co_return trial.error().within("trying the token");
  constexpr api::ResourceInfo reviews{"authorization.k8s.io", "v1", "SelfSubjectAccessReview",
                                      "selfsubjectaccessreviews", false};
  for (const Permission& one : permissions_of(account)) {
    Json attributes{{"verb", one.verb}, {"group", one.group}, {"resource", one.resource}};
    if (!one.subresource.empty()) attributes["subresource"] = one.subresource;
    if (!one.ns.empty()) attributes["namespace"] = one.ns;
    const Json review{{"apiVersion", "authorization.k8s.io/v1"},
                      {"kind", "SelfSubjectAccessReview"},
                      {"spec", {{"resourceAttributes", attributes}}}};
    const auto answer = co_await (*trial)->client().create_raw(reviews, "", dump_json(review));
    if (!answer) co_return answer.error().within("trying the token at " + endpoint.url);
    const auto read = parse_json(*answer);
    if (read && true_at(object_or_empty(*read, {"status"}), "allowed")) continue;
    co_return Error(Errc::denied, "trying the token: it may not " + one.verb + " " + one.resource +
                                      (one.ns.empty() ? "" : " in namespace " + one.ns));
  }
  co_return ok();
}

kubeconfig::Endpoint endpoint_for_hub(kubeconfig::Endpoint given, const std::string& server,
                                      std::string token) {
  kubeconfig::Endpoint out;
  out.url = server.empty() ? given.url : server;
  out.ca_pem = given.ca_pem;
  out.tls_server_name = given.tls_server_name;
  out.bearer_token = std::move(token);
  if (const auto parsed = kubeconfig::parse_server_url(out.url)) {
    out.tls = parsed->tls;
    out.host = parsed->host;
    out.port = parsed->port;
    out.base_path = parsed->base_path;
  }
  return out;
}

Task<Status> wait_active(kube::Client& hub, Clock& clock, std::string cluster, Duration timeout) {
  const SteadyPoint deadline = clock.steady() + timeout;
  std::string last = "the hub's manager has not looked at it: is it running?";
  for (;;) {
    const auto member = co_await hub.get<api::MultiKueueCluster>(api::ObjectKey(cluster));
    if (!member) co_return refusal("hub", "reading MultiKueueCluster " + cluster, member.error());
    const api::Condition* active = api::find_condition(member->status.conditions, "Active");
    if (active && active->status == api::ConditionStatus::True) co_return ok();
    if (active) last = active->reason + ": " + active->message;
    if (clock.steady() >= deadline) {
      co_return Error(Errc::timeout, "MultiKueueCluster " + cluster + " is not Active after " +
                                         format_go_duration(timeout) + ": " + last);
    }
    co_await clock.sleep_for(look_every);
  }
}

/// Earlier tokens end. The hub has had its Secret for a while by then, and uses the new one.
Task<Status> end_earlier_tokens(RegistrationDeps deps, RegistrationOptions options, Wanted tie) {
  co_await deps.clock.sleep_for(hub_reads_within);
  KeptObjects kept;
  kept.emplace(tie.resource.kind, tie.key());
  co_return co_await prune_kind(deps.worker, tie.resource, options.account.ns,
                                ties_of(options.account, options.cluster), std::move(kept),
                                deps.say);
}

/// Token, Secret, MultiKueueCluster, and the wait for it.
Task<Status> give_token(RegistrationDeps deps, RegistrationOptions options,
                        kubeconfig::Endpoint endpoint) {
  const auto tie = co_await make_tie(deps.worker, options);
  if (!tie) co_return tie.error();
  auto token = co_await request_token(deps.worker, options, *tie);
  if (!token) co_return token.error();
  deps.say("worker: a token that ends " + token->ends + ", or with " + tie->str());
  endpoint = endpoint_for_hub(std::move(endpoint), options.server, std::move(token->text));
  const Status tried = co_await try_token(deps.try_token, endpoint, options.account);
  if (!tried) co_return tried;
  const std::string text = kubeconfig::write(endpoint, options.cluster);
  for (Wanted& wanted :
       hub_objects(options.hub_ns, options.cluster, text, options.account.provide)) {
    const Status applied = co_await apply(deps.hub, "hub", std::move(wanted), deps.say);
    if (!applied) co_return applied;
  }
  const Status active =
      co_await wait_active(deps.hub, deps.clock, options.cluster, options.timeout);
  if (!active) co_return active;
  deps.say("hub: MultiKueueCluster " + options.cluster + " is Active");
  co_return co_await end_earlier_tokens(std::move(deps), std::move(options), *tie);
}

Task<Result<std::vector<std::string>>> configs_naming(kube::Client& hub, std::string cluster) {
  std::vector<std::string> out;
  const auto configs = co_await hub.list<api::MultiKueueConfig>();
  if (!configs) co_return refusal("hub", "listing MultiKueueConfigs", configs.error());
  const auto found = co_await hub.get<api::MultiKueueCluster>(api::ObjectKey(cluster));
  std::vector<const api::ObjectMeta*> all;
  if (found) all.push_back(&found->metadata);
  for (const api::MultiKueueConfig& config : *configs) {
    const auto names = api::listed_clusters(config, all);
    if (contains(names ? *names : config.spec.clusters, cluster)) {
      out.push_back(config.metadata.name);
    }
  }
  co_return out;
}

}  // namespace

Task<Status> register_worker(RegistrationDeps deps, RegistrationOptions options,
                             kubeconfig::Endpoint worker_endpoint) {
  const Status clusters = co_await check_clusters(deps.hub, deps.worker);
  if (!clusters) co_return clusters;
  const Status made = co_await make_namespace(deps.worker, options.account.ns, deps.say);
  if (!made) co_return made;
  const std::vector<Wanted> objects = worker_objects(options.account);
  for (const Wanted& wanted : objects) {
    const Status applied = co_await apply(deps.worker, "worker", wanted, deps.say);
    if (!applied) co_return applied;
  }
  const Status pruned = co_await prune(deps.worker, options.account, objects, deps.say);
  if (!pruned) co_return pruned;
  const Status given = co_await give_token(deps, options, std::move(worker_endpoint));
  if (!given) co_return given;
  const auto named = co_await configs_naming(deps.hub, options.cluster);
  if (named && named->empty()) {
    deps.say("next: name " + options.cluster +
             " in spec.clusters of a MultiKueueConfig, or give it labels that one selects; until "
             "then it gets no Jobs");
  }
  deps.say("next: renew the token before it ends, with --rotate");
  co_return ok();
}

Task<Status> rotate_token(RegistrationDeps deps, RegistrationOptions options,
                          kubeconfig::Endpoint worker_endpoint) {
  const auto member =
      co_await deps.hub.get<api::MultiKueueCluster>(api::ObjectKey(options.cluster));
  if (!member && member.error().code() == Errc::not_found) {
    co_return Error(Errc::not_found, "the hub has no MultiKueueCluster " + options.cluster +
                                         ": register it without --rotate");
  }
  if (!member) co_return refusal("hub", "reading the MultiKueueCluster", member.error());
  co_return co_await give_token(std::move(deps), std::move(options), std::move(worker_endpoint));
}

Task<Status> remove_worker(kube::Client& hub, kube::Client* worker, RegistrationOptions options,
                           std::function<void(const std::string&)> say) {
  const auto named = co_await configs_naming(hub, options.cluster);
  if (!named) co_return named.error();
  if (!named->empty()) {
    co_return Error(Errc::conflict,
                    "MultiKueueConfig " + joined(*named, ", ") + " lists " + options.cluster +
                        ": take it out of spec.clusters, or take the labels away that select it, "
                        "and wait until its Jobs have ended or gone elsewhere");
  }
  std::vector<Wanted> objects = hub_objects(options.hub_ns, options.cluster, "");
  std::reverse(objects.begin(), objects.end());
  for (const Wanted& one : objects) {
    const auto found = co_await hub.get_raw(one.resource, one.key());
    if (!found && found.error().code() == Errc::not_found) continue;
    const auto read = found ? parse_json(*found) : Result<Json>(found.error());
    if (!read) co_return refusal("hub", "reading " + one.str(), read.error());
    if (!is_ours(*read)) {
      say("hub: " + one.str() + " was not made by this command, and stays");
      continue;
    }
    const Status removed = co_await hub.remove(one.resource, one.key());
    if (!removed) co_return refusal("hub", "deleting " + one.str(), removed.error());
    say("hub: " + one.str() + " deleted");
  }
  if (!worker) {
    say("next: the identity on the worker stays; --worker-kubeconfig removes it, too");
    co_return ok();
  }
  const Status ended = co_await prune_kind(*worker, api::Secret::resource, options.account.ns,
                                           selector_of(options.account), {}, say);
  if (!ended) co_return ended;
  co_return co_await prune(*worker, options.account, {}, say);
}

std::string dry_run(const RegistrationOptions& options, kubeconfig::Endpoint worker_endpoint) {
  const auto endpoint = endpoint_for_hub(std::move(worker_endpoint), options.server, token_hidden);
  std::string out = "# On the worker\n";
  for (const Wanted& wanted : worker_objects(options.account)) {
    out += "---\n" + api::dump_yaml(wanted.object);
  }
  out += "---\n# On the hub\n";
  std::vector<Wanted> objects =
      hub_objects(options.hub_ns, options.cluster, "", options.account.provide);
  objects.front().object["stringData"] = {
      {"kubeconfig", kubeconfig::write(endpoint, options.cluster)}};
  objects.front().object.erase("data");
  for (const Wanted& wanted : objects) out += "---\n" + api::dump_yaml(wanted.object);
  return out;
}

}  // namespace regatta::operate
