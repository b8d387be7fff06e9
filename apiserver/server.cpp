#include "apiserver/server.h"

#include "apiserver/auth.h"
#include "apiserver/builtin/admission.h"
#include "apiserver/builtin/builtin.h"
#include "apiserver/definitions.h"
#include "apiserver/discovery.h"
#include "apiserver/json_access.h"
#include "apiserver/object_meta.h"
#include "apiserver/resources.h"
#include "apiserver/reviews.h"
#include "apiserver/schema/builtin.h"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace regatta::apiserver {
namespace {

/// A pointer to something that lives as long as the process.
SchemaPtr borrowed(const Schema* schema) {
  return SchemaPtr(SchemaPtr(), schema);
}

std::unique_ptr<Journal> journal_of(const ServerOptions& options) {
  if (options.data_dir.empty()) return nullptr;
  Result<std::unique_ptr<Journal>> journal = open_sqlite_journal(options.data_dir);
  if (!journal) throw std::runtime_error(journal.error().what());
  return std::move(*journal);
}

}  // namespace

class Server::Impl {
 public:
  Impl(Executor executor, Clock& clock, Rng& rng, ServerOptions options)
      : core_{clock,   rng, executor,
              options, {},  Store(executor, options.watch_history_max, journal_of(options))},
        tokens_(core_.options),
        authorizer_(core_.store),
        writer_(core_),
        resources_(core_, writer_, tokens_),
        definitions_(core_, writer_) {
    for (ResourceType& type : builtin_resources()) {
      type.schema = borrowed(builtin_schema(type.group, type.version, type.kind));
      core_.registry.add(std::move(type));
    }
    definitions_.add_type();
    writer_.set_observer(
        [this](const ResourceType& type, const std::string&, const std::string& name,
               const Json* object) { definitions_.after_write(type, name, object); });
    writer_.set_definition_remover([this](const Target& target, const DeleteOptions& options) {
      return definitions_.remove(target, options);
    });
    add_review_types(core_.registry);
    const Status restored = core_.store.restore();
    if (!restored) throw std::runtime_error(restored.error().what());
    definitions_.restore();
    seed();
  }

  Task<net::HttpResponse> handle(net::HttpRequest request) {
    Exchange exchange{request, parse_request(request), {}, {}, {}};
    exchange.form = form_for_errors(request.headers.get("Accept"));
    exchange.form.pretty =
        wants_pretty(exchange.info.query.get("pretty"), exchange.info.query.has("pretty"),
                     request.headers.get("User-Agent"));
    const Form errors = exchange.form;
    Reply reply = co_await answer(exchange);
    if (!reply) {
      exchange.form = errors;
      if (request.method == "HEAD") co_return net::HttpResponse(405, "");
      co_return respond_failure(exchange, reply.error());
    }
    if (!core_.store.settled()) co_await core_.store.durable();
    co_return std::move(*reply);
  }

  void compact() { core_.store.compact(); }
  Store& store() { return core_.store; }
  const Registry& registry() const { return core_.registry; }

 private:
  Task<Reply> answer(Exchange& exchange) {
    tokens_.set_now(core_.clock.now());
    const std::optional<UserInfo> user = tokens_.authenticate(exchange.request);
    if (!user) co_return Failure{401, "Unauthorized", "Unauthorized"};
    exchange.user = *user;
    if (auto refused = impersonate(exchange)) co_return std::move(*refused);
    const Attributes what = attributes_of(exchange.info);
    const Verdict verdict = authorizer_.decide(exchange.user, what);
    if (!verdict.allowed) co_return refusal(exchange.user, what);
    if (exchange.info.resource_request) {
      if (auto answered = review(core_, tokens_, authorizer_, exchange)) {
        co_return std::move(*answered);
      }
      co_return co_await resources_.handle(exchange);
    }
    if (auto healthy = health(exchange.info)) co_return std::move(*healthy);
    if (auto described = discovery(core_, exchange)) co_return std::move(*described);
    co_return page_not_found();
  }

  /// Impersonate-User and Impersonate-Group, for those who may.
  std::optional<Failure> impersonate(Exchange& exchange) {
    const std::string name(exchange.request.headers.get("Impersonate-User"));
    if (name.empty()) return std::nullopt;
    Attributes what;
    what.verb = "impersonate";
    what.plural = "users";
    what.name = name;
    if (!authorizer_.decide(exchange.user, what).allowed) {
      Attributes refused = attributes_of(exchange.info);
      refused.verb = "impersonate-on:user-info:" + refused.verb;
      return refusal(exchange.user, refused);
    }
    UserInfo user;
    user.name = name;
    for (const auto& [field, value] : exchange.request.headers.fields()) {
      if (field == "Impersonate-Group") user.groups.push_back(value);
    }
    user.groups.push_back("system:authenticated");
    exchange.user = std::move(user);
    return std::nullopt;
  }

  void seed() {
    for (SeedObject& object : seed_objects()) {
      seed_one(object.group, object.version, object.plural, std::move(object.object));
    }
    for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
      seed_one("", "v1", "namespaces",
               {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
    }
    for (Json& object : bootstrap_rbac()) {
      const bool role = string_or_empty(object, "kind") == "ClusterRole";
      seed_one("rbac.authorization.k8s.io", "v1", role ? "clusterroles" : "clusterrolebindings",
               std::move(object));
    }
    for (const ResourceTypePtr& type : core_.registry.all()) core_.store.shelf(type->store_name());
    core_.store.compact();
  }

  void seed_one(const std::string& group, const std::string& version, const std::string& plural,
                Json object) {
    const ResourceTypePtr type = core_.registry.find(group, version, plural);
    if (!type) return;
    const std::string ns = string_or_empty(object, "metadata", "namespace");
    const std::string name = string_or_empty(object, "metadata", "name");
    if (core_.store.shelf(type->store_name()).find(ns, name)) return;
    object["apiVersion"] = type->api_version();
    object["kind"] = type->kind;
    start_metadata(object, core_.clock.now(), core_.rng);
    type->strategy->set_defaults(object);
    type->strategy->prepare_for_create(object, core_.clock.now());
    writer_.put_internal(*type, std::move(object));
  }

  Core core_;
  Authenticator tokens_;
  Authorizer authorizer_;
  ObjectWriter writer_;
  ResourceHandler resources_;
  Definitions definitions_;
};

Server::Server(Executor executor, Clock& clock, Rng& rng, ServerOptions options)
    : impl_(std::make_unique<Impl>(executor, clock, rng, std::move(options))) {}

Server::~Server() = default;

Task<net::HttpResponse> Server::handle(net::HttpRequest request) {
  return impl_->handle(std::move(request));
}

void Server::compact() {
  impl_->compact();
}
Store& Server::store() {
  return impl_->store();
}
const Registry& Server::registry() const {
  return impl_->registry();
}

Result<std::unique_ptr<Server>> start_server(Executor executor, Clock& clock, Rng& rng,
                                             ServerOptions options) {
  try {
    return std::make_unique<Server>(executor, clock, rng, std::move(options));
  } catch (const std::runtime_error& e) {
    return Error(Errc::invalid, e.what());
  }
}

}  // namespace regatta::apiserver
