#include "manager/probes.h"

#include "lib/net/tcp.h"

#include <algorithm>
#include <charconv>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <utility>

namespace regatta::manager {

void TextPages::add(std::string path, std::function<Page()> page) {
  pages_.insert_or_assign(std::move(path), std::move(page));
}

Task<net::HttpResponse> TextPages::handle(net::HttpRequest request) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  const auto it = pages_.find(path);
  if (it == pages_.end()) co_return net::HttpResponse(404, "there is no such page here\n");
  if (request.method != "GET" && request.method != "HEAD") {
    co_return net::HttpResponse(405, "only GET is possible here\n");
  }
  Page page = it->second();
  net::HttpResponse response(page.status, std::move(page.text));
  response.headers.set("Content-Type", std::move(page.content_type));
  co_return response;
}

net::HttpServerOptions page_server_options() {
  net::HttpServerOptions options;
  options.header_max = 8 * 1024;
  options.body_max = 0;
  options.connections_max = 64;
  options.makes_room = true;
  options.idle_max = std::chrono::seconds(90);  // Prometheus asks every 15 to 60 s
  options.request_max = std::chrono::seconds(5);
  options.write_max = std::chrono::seconds(10);
  return options;
}

const std::string& CachedText::text() {
  constexpr Duration kept_min = std::chrono::seconds(1);
  const SteadyPoint begun = clock_.steady();
  if (!fresh_until_ || begun >= *fresh_until_) {
    text_ = make_();
    const SteadyPoint made = clock_.steady();
    fresh_until_ = made + std::max(kept_min, 10 * (made - begun));
  }
  return text_;
}

void add_probe_pages(TextPages* pages, const HealthConfig& config,
                     std::function<std::string()> waits_for) {
  pages->add("/" + config.liveness_endpoint_name, [] { return TextPages::Page{.text = "ok"}; });
  pages->add("/" + config.readiness_endpoint_name, [waits_for = std::move(waits_for)] {
    const std::string what = waits_for();
    if (what.empty()) return TextPages::Page{.text = "ok"};
    return TextPages::Page{.status = 500, .text = "not ready: " + what + "\n"};
  });
}

void add_metrics_page(TextPages* pages, std::function<std::string()> text) {
  pages->add("/metrics", [text = std::move(text)] {
    return TextPages::Page{.content_type = "text/plain; version=0.0.4; charset=utf-8",
                           .text = text()};
  });
}

std::string listening_host(std::string_view host) {
  return host.empty() ? "0.0.0.0" : host == "localhost" ? "127.0.0.1" : std::string(host);
}

Result<std::optional<BindAddress>> parse_bind_address(std::string_view text) {
  if (text.empty() || text == "0") return std::optional<BindAddress>();
  const auto malformed = [&] {
    return Error(Errc::invalid, "\"" + std::string(text) +
                                    "\" is not an address to listen on: write host:port, :port for "
                                    "every address, or 0 to switch it off");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return malformed();
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), port);
  if (error != std::errc() || end != digits.end()) return malformed();
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return malformed();
  }
  BindAddress address;
  address.host = listening_host(host);
  address.port = port;
  return std::optional<BindAddress>(std::move(address));
}

Result<std::unique_ptr<net::HttpServer>> serve_pages(const std::string& where,
                                                     std::string_view field, TaskScope& scope,
                                                     Clock& clock, Log log,
                                                     net::HttpHandler& pages) {
  const auto address = parse_bind_address(where);
  if (!address) return address.error().within(field);
  if (!*address) return std::unique_ptr<net::HttpServer>();
  auto listener = net::listen_tcp(scope.executor(), (*address)->host, (*address)->port);
  if (!listener) return listener.error().within(field);
  auto server = std::make_unique<net::HttpServer>(scope.executor(), clock, std::move(*listener),
                                                  pages, page_server_options(), std::move(log));
  scope.spawn("pages", server->run());
  return server;
}

}  // namespace regatta::manager
