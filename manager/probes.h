#pragma once

#include "lib/base/clock.h"
#include "lib/net/http.h"
#include "lib/net/http_server.h"
#include "lib/runtime/task_scope.h"
#include "manager/config/configuration.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace regatta::manager {

/// Answers GET of a few fixed paths with text.
class TextPages final : public net::HttpHandler {
 public:
  struct Page {
    unsigned status = 200;
    std::string content_type = "text/plain; charset=utf-8";
    std::string text;
  };
  void add(std::string path, std::function<Page()> page);
  Task<net::HttpResponse> handle(net::HttpRequest request) override;

 private:
  std::map<std::string, std::function<Page()>, std::less<>> pages_;
};

/// For a port that any client may reach: no bodies, few connections, little patience.
net::HttpServerOptions page_server_options();

/// A text that takes time to make. Whatever the number of readers, making it takes at most a tenth
/// of the time: it is kept for a second, and for ten times as long as the last one took.
class CachedText {
 public:
  CachedText(const Clock& clock, std::function<std::string()> make)
      : clock_(clock), make_(std::move(make)) {}
  const std::string& text();

 private:
  const Clock& clock_;
  std::function<std::string()> make_;
  std::string text_;
  std::optional<SteadyPoint> fresh_until_;
};

/// The liveness and readiness pages; `waits_for` returns what the manager waits for, or an empty
/// text when it is ready.
void add_probe_pages(TextPages* pages, const HealthConfig& config,
                     std::function<std::string()> waits_for);
/// /metrics: `text` in the format of Prometheus.
void add_metrics_page(TextPages* pages, std::function<std::string()> text);

/// "0.0.0.0:8081", ":8081" or "[::1]:8081", split in two; an empty host is every address. `invalid`
/// when the port or host is missing or unusable; nullopt for "0" and "", which mean "do not
/// listen".
struct BindAddress {
  std::string host;
  std::uint16_t port = 0;
};
Result<std::optional<BindAddress>> parse_bind_address(std::string_view text);
/// Serves pages over HTTP at such an address, in that scope; null for "do not listen". `field`
/// names it in errors.
Result<std::unique_ptr<net::HttpServer>> serve_pages(const std::string& where,
                                                     std::string_view field, TaskScope& scope,
                                                     Clock& clock, Log log,
                                                     net::HttpHandler& pages);
/// The IP address for such a host.
std::string listening_host(std::string_view host);

}  // namespace regatta::manager
