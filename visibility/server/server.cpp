#include "visibility/server/server.h"

#include <utility>

namespace regatta::visibility {
namespace {

constexpr Duration reading_pause = std::chrono::minutes(1);

net::HttpServerOptions http_options() {
  net::HttpServerOptions options;
  options.body_max = 64 * 1024;  // nothing reads a body
  options.connections_max = 256;
  options.makes_room = true;
  options.request_max = std::chrono::seconds(10);
  options.write_max = std::chrono::seconds(10);
  return options;
}

}  // namespace

VisibilityServer::VisibilityServer(const Executor& executor, HandlerDeps deps,
                                   ServerOptions options)
    : deps_(deps), options_(std::move(options)), handler_(std::move(deps)), scope_(executor) {}

net::TlsServerOptions VisibilityServer::tls_of(const FrontProxy& proxy) const {
  return {options_.certificate_pem, options_.key_pem, proxy.ca_pem, false};
}

Status VisibilityServer::open(const FrontProxy& proxy) {
  auto listener =
      net::listen_tls(scope_.executor(), options_.address, options_.port, tls_of(proxy));
  if (!listener) return listener.error();
  listener_ = listener->get();
  server_ = std::make_unique<net::HttpServer>(scope_.executor(), deps_.clock, std::move(*listener),
                                              handler_, http_options(), deps_.log);
  scope_.spawn("visibility pages", server_->run());
  return ok();
}

Status VisibilityServer::present(const std::string& certificate_pem, const std::string& key_pem) {
  ServerOptions before = options_;
  options_.certificate_pem = certificate_pem;
  options_.key_pem = key_pem;
  const Status taken = listener_ && proxy_ ? listener_->reload(tls_of(*proxy_)) : ok();
  if (!taken) options_ = std::move(before);
  return taken;
}

Task<Status> VisibilityServer::follow() {
  const std::string where =
      "which API servers to trust: kube-system/extension-apiserver-authentication";
  const auto map = co_await deps_.client.get<api::ConfigMap>(
      {"kube-system", "extension-apiserver-authentication"});
  if (!map) co_return map.error().within(where);
  auto proxy = read_front_proxy(*map);
  if (!proxy) co_return proxy.error().within(where);
  if (proxy_ == *proxy) co_return ok();
  const Status changed = listener_ == nullptr ? open(*proxy) : listener_->reload(tls_of(*proxy));
  if (!changed) co_return changed;
  // What came over the former ones was from whom the former authority trusts.
  server_->retire_connections();
  proxy_ = *proxy;
  handler_.trust(std::move(*proxy));
  co_return ok();
}

Task<> VisibilityServer::run() {
  scope_.spawn("front proxy", follow_on());
  co_await scope_.run_until_cancelled();
}

Task<> VisibilityServer::follow_on() {
  std::string told;
  for (;;) {
    const Status followed = co_await follow();
    const std::string problem = followed ? "" : followed.error().what();
    const bool changed = !problem.empty() && problem != std::exchange(told, problem);
    if (changed && followed.error().code() == Errc::not_found) {
      deps_.log.info("the cluster has no aggregation layer: the visibility API stays closed");
    } else if (changed) {
      deps_.log.warning("the visibility API is not served as it should be", {{"error", problem}});
    }
    co_await deps_.clock.sleep_until(deps_.clock.steady() + reading_pause);
  }
}

}  // namespace regatta::visibility
