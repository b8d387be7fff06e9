#include "lab/apiserver/server.h"

#include "lab/apiserver/aggregation.h"
#include "lab/apiserver/auth.h"
#include "lab/apiserver/conversions.h"
#include "lab/apiserver/definitions.h"
#include "lab/apiserver/discovery.h"
#include "lab/apiserver/health.h"
#include "lab/apiserver/openapi/openapi.h"
#include "lab/apiserver/resources.h"
#include "lab/apiserver/reviews.h"
#include "lab/apiserver/traffic.h"
#include "lab/terms.h"
#include "lib/base/check.h"
#include "lib/manifest/builtin/admission.h"
#include "lib/manifest/builtin/builtin.h"
#include "lib/manifest/json_access.h"
#include "lib/manifest/object_meta.h"
#include "lib/manifest/schema/builtin.h"
#include "lib/runtime/deadline.h"

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
        tokens_(core_),
        authorizer_(core_.store),
        caller_(core_.store, clock, core_.options.outgoing),
        conversions_(core_, caller_),
        hooks_(core_, caller_),
        writer_(core_, hooks_),
        resources_(core_, writer_, tokens_),
        definitions_(core_, writer_),
        aggregation_(core_, writer_),
        openapi_(core_.registry, clock),
        injector_(clock, options.fault_seed) {
    core_.conversions = &conversions_;
    injector_.faults() = options.faults;
    for (ResourceType& type : builtin_resources()) {
      type.schema = borrowed(builtin_schema(type.group, type.version, type.kind));
      if (type.plural == "endpoints" && type.group.empty()) {
        type.deprecation_warning =
            "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
      }
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
    seeded_ = core_.store.version();
  }

  Task<net::HttpResponse> handle(net::HttpRequest request) {
    Exchange exchange{request, parse_request(request), {}, {}, {}};
    exchange.form = form_for_errors(request.headers.get("Accept"));
    exchange.form.pretty =
        wants_pretty(exchange.info.query.get("pretty"), exchange.info.query.has("pretty"),
                     request.headers.get("User-Agent"));
    const Form errors = exchange.form;
    Reply reply = co_await answer(exchange);
    if (!core_.store.settled()) co_await core_.store.durable();
    if (reply && injector_.loses_reply(exchange)) {
      reply = Failure{500, "InternalError", "Internal error occurred: reply lost on request"};
    }
    net::HttpResponse response;
    if (reply) {
      response = std::move(*reply);
      if (response.stream) response.stream = injector_.wrap(std::move(response.stream));
    } else {
      exchange.form = errors;
      response = request.method == "HEAD" ? net::HttpResponse(405, "")
                                          : respond_failure(exchange, reply.error());
    }
    if (!is_admin(exchange.info)) traffic_.count(exchange, response.status);
    co_return response;
  }

  void start_as(const Impl& model) {
    REGATTA_CHECK(core_.store.version() == seeded_, "the server was written to before start_as()");
    Store::Snapshot snapshot = model.core_.store.snapshot();
    // The uid of kube-system is the identity of a cluster.
    snapshot.objects["namespaces"] = core_.store.shelf("namespaces").objects();
    for (const auto& [name, objects] : snapshot.objects) core_.store.shelf(name);
    core_.store.go_back(snapshot);
    core_.registry = model.core_.registry;
  }
  Task<> run() {
    std::vector<Task<>> all;
    all.push_back(aggregation_.run());
    all.push_back(definitions_.run());
    return all_of(std::move(all));
  }
  void compact() { core_.store.compact(); }
  Store& store() { return core_.store; }
  const Registry& registry() const { return core_.registry; }
  Faults& faults() { return injector_.faults(); }
  Json requests() const { return traffic_.report(); }

 private:
  Task<Reply> answer(Exchange& exchange) {
    if (exchange.info.malformed) {
      co_return Failure{400, "BadRequest", "the target of the request is not a URL"};
    }
    const std::optional<UserInfo> user = tokens_.authenticate(exchange.request);
    if (!user) co_return Failure{401, "Unauthorized", "Unauthorized"};
    exchange.user = *user;
    if (auto refused = impersonate(exchange)) co_return std::move(*refused);
    const Attributes what = attributes_of(exchange.info);
    const Verdict verdict = authorizer_.decide(exchange.user, what);
    if (!verdict.allowed) co_return refusal(exchange.user, what);
    if (is_admin(exchange.info)) co_return admin(exchange);
    if (auto healthy = health(exchange.info)) co_return std::move(*healthy);
    std::optional<Failure> fault = co_await injector_.before(exchange);
    if (fault) co_return std::move(*fault);
    if (exchange.info.path == "/metrics") co_return respond_text(200, traffic_.metrics());
    if (aggregation_.serves(exchange.info)) co_return co_await aggregation_.pass_on(exchange);
    if (exchange.info.resource_request) {
      if (auto answered = review(core_, tokens_, authorizer_, exchange)) {
        co_return std::move(*answered);
      }
      co_return co_await resources_.handle(exchange);
    }
    if (exchange.info.path.starts_with("/openapi/")) co_return documents(exchange);
    if (auto described = discovery(core_, exchange)) co_return std::move(*described);
    co_return page_not_found();
  }

  net::HttpResponse documents(const Exchange& exchange) {
    const net::Headers& headers = exchange.request.headers;
    const OpenApiAnswer answer = openapi_.answer(
        {exchange.info.path, exchange.info.query.get("hash"), std::string(headers.get("Accept")),
         std::string(headers.get("If-None-Match")), std::string(headers.get("If-Modified-Since"))});
    net::HttpResponse response(static_cast<unsigned>(answer.status), answer.body);
    for (const auto& [name, value] : answer.headers) response.headers.add(name, value);
    return response;
  }

  static bool is_admin(const RequestInfo& info) {
    return !info.segments.empty() && info.segments[0] == "_regatta";
  }

  /// /_regatta/faults (GET, PUT, DELETE) and /_regatta/requests (GET, DELETE).
  Reply admin(Exchange& exchange) {
    const std::string& path = exchange.info.path;
    const std::string& method = exchange.request.method;
    exchange.form = Form{};
    if (!exchange.user.in_group("system:masters")) return page_not_found();
    if (path == "/_regatta/requests") {
      if (method == "DELETE") traffic_.reset();
      return respond_json(exchange, 200, traffic_.report());
    }
    if (path == "/_regatta/compact" && method == "POST") {
      core_.store.compact();
      return respond_json(exchange, 200, Json::object());
    }
    if (path != "/_regatta/faults") return page_not_found();
    if (method == "DELETE") injector_.faults() = Faults{};
    if (method == "PUT" || method == "POST") {
      Result<Json> wanted = parse_json(exchange.request.body);
      if (!wanted) return bad_request(wanted.error().what());
      Faults faults = method == "PUT" ? Faults{} : injector_.faults();
      const Status merged = faults.merge(*wanted);
      if (!merged) return bad_request(merged.error().what());
      if (const auto seed = integer_at(*wanted, "seed")) {
        injector_.reseed(static_cast<std::uint64_t>(*seed));
      }
      injector_.faults() = faults;
    }
    return respond_json(exchange, 200, injector_.faults().to_json());
  }

  /// Impersonate-User and Impersonate-Group, for users that are allowed to.
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
      const std::string& kind = text_at(object, "kind");
      const char* plural = kind == "Role"          ? "roles"
                           : kind == "ClusterRole" ? "clusterroles"
                                                   : "clusterrolebindings";
      seed_one("rbac.authorization.k8s.io", "v1", plural, std::move(object));
    }
    trust_front_proxy();
    for (const ResourceTypePtr& type : core_.registry.all()) core_.store.shelf(type->store_name());
    core_.store.compact();
  }

  /// A restarted server may have another certificate.
  void trust_front_proxy() {
    Json map = aggregation_.config_map();
    if (map.is_null()) return;
    const StoredPtr known =
        core_.store.shelf("configmaps").find("kube-system", text_at(map, {"metadata", "name"}));
    if (!known) {
      seed_one("", "v1", "configmaps", std::move(map));
      return;
    }
    Json object = known->value();
    object["data"] = std::move(map["data"]);
    writer_.put_internal(*core_.registry.find("", "v1", "configmaps"), std::move(object));
  }

  void seed_one(const std::string& group, const std::string& version, const std::string& plural,
                Json object) {
    const ResourceTypePtr type = core_.registry.find(group, version, plural);
    if (!type) return;
    const std::string ns = text_at(object, {"metadata", "namespace"});
    const std::string name = text_at(object, {"metadata", "name"});
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
  HookCaller caller_;
  Conversions conversions_;
  AdmissionHooks hooks_;
  ObjectWriter writer_;
  ResourceHandler resources_;
  Definitions definitions_;
  Aggregation aggregation_;
  OpenApi openapi_;
  FaultInjector injector_;
  Traffic traffic_;
  std::uint64_t seeded_ = 0;  ///< version of the store before the first request
};

Server::Server(Executor executor, Clock& clock, Rng& rng, ServerOptions options)
    : impl_(std::make_unique<Impl>(executor, clock, rng, std::move(options))) {}

Server::~Server() = default;

Task<net::HttpResponse> Server::handle(net::HttpRequest request) {
  return impl_->handle(std::move(request));
}

void Server::start_as(const Server& model) {
  impl_->start_as(*model.impl_);
}
Task<> Server::run() {
  return impl_->run();
}
void Server::compact() {
  impl_->compact();
}
Store& Server::store() {
  return impl_->store();
}
Faults& Server::faults() {
  return impl_->faults();
}
Json Server::requests() const {
  return impl_->requests();
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
