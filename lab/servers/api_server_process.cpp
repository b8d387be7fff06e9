#include "lab/apiserver/server.h"
#include "lab/servers/apply.h"
#include "lab/servers/controllers.h"
#include "lab/servers/files.h"
#include "lab/servers/servers.h"
#include "lib/kube/in_cluster.h"
#include "lib/manifest/assets.h"
#include "lib/net/handler_sender.h"
#include "lib/net/http_server.h"
#include "lib/net/tls.h"
#include "lib/runtime/deadline.h"
#include "lib/runtime/process.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <unistd.h>
#include <utility>

namespace regatta::lab {
namespace {

constexpr std::size_t token_key_bytes_max = 64 * 1024;
constexpr Duration crds_wait = std::chrono::seconds(20);

net::PeerIdentity controllers_identity() {
  return {"system:kube-controller-manager", {"system:masters"}};
}

Task<Status> install_carried_crds(kube::Client& client, Clock& clock) {
  auto crds = manifest::objects_below(manifest::kueue_crds());
  if (!crds) co_return crds.error();
  Applier applier(client, clock);
  const SteadyPoint deadline = clock.steady() + crds_wait;
  co_return co_await applier.install_crds(std::move(*crds), deadline);
}

/// One API server and the controllers in its process.
class ApiServerProcess {
 public:
  ApiServerProcess(Executor executor, ApiServerOptions options)
      : executor_(std::move(executor)),
        options_(std::move(options)),
        log_(make_stderr_sink(options_.log_format, options_.log_level), "apiserver"),
        rng_(Rng::from_system()) {}

  Task<int> run() {
    auto fleet = find_fleet(options_.fleet);
    if (!fleet) co_return refuse(fleet.error());
    const Status started = start();
    if (!started) co_return refuse(started.error());
    kube::ClientConfig config;
    config.user_agent = "regatta-sandbox";
    config.field_manager = "regatta-sandbox-controllers";
    net::HandlerSender inside(clock_, *server_, controllers_identity());
    kube::Client client(kube::ClientDeps{inside, clock_, rng_, nullptr, config});
    if (options_.crds) {
      const Status installed = co_await install_carried_crds(client, clock_);
      if (!installed) co_return refuse(installed.error());
    }
    log_.info("serving", {{"url", url_}, {"kubeconfig", kubeconfig_}});
    std::vector<Task<>> all;
    all.push_back(http_->run());
    all.push_back(server_->run());
    if (options_.controllers) {
      ControllersDeps deps{client, clock_, rng_, executor_, log_};
      ControllerOptions controllers;
      controllers.fleet = std::move(*fleet);
      controllers.pods = options_.pods;
      all.push_back(run_cluster_controllers(std::move(deps), std::move(controllers)));
    }
    Task<> serving = all_of(std::move(all));
    co_await until_signalled(std::move(serving));
    log_.info("stopped");
    co_return 0;
  }

 private:
  int refuse(const Error& error) {
    log_.error("cannot start", {{"error", error.what()}});
    return 1;
  }

  Status start() {
    const TimePoint now = clock_.now();
    // The port comes first, because the kubeconfigs name it.
    auto probe = net::listen_tcp(executor_, "127.0.0.1", options_.port);
    if (!probe) return probe.error();
    const std::uint16_t port = (*probe)->port();
    (*probe)->close();
    auto files = ClusterFiles::prepare(options_.folder, port, now);
    if (!files) return files.error();
    apiserver::ServerOptions server_options;
    server_options.server_address = "127.0.0.1:" + std::to_string(port);
    server_options.data_dir = options_.data_folder;
    server_options.definition_delay = Duration(options_.crd_delay_ms);
    server_options.outgoing = apiserver::make_https_outgoing(executor_, clock_, "", "");
    server_options.front_proxy = front_proxy_of(*files);
    if (!options_.faults.empty()) {
      const auto faults = parse_json(options_.faults);
      const Status merged = faults ? server_options.faults.merge(*faults) : faults.error();
      if (!merged) return merged.error().within("--faults");
    }
    auto token_key = kube::read_small_file(files->file("sa.key"), token_key_bytes_max);
    if (!token_key) return token_key.error().within("the key of service account tokens");
    server_options.token_key = std::move(*token_key);
    auto server = apiserver::start_server(executor_, clock_, rng_, std::move(server_options));
    if (!server) return server.error();
    server_ = std::move(*server);
    net::TlsServerOptions tls;
    tls.certificate_pem = files->server().certificate_pem;
    tls.key_pem = files->server().key_pem;
    tls.client_ca_pem = files->authority().certificate_pem();
    tls.sessions = true;
    auto listener = net::listen_tls(executor_, "127.0.0.1", port, tls);
    if (!listener) return listener.error();
    http_ = std::make_unique<net::HttpServer>(executor_, clock_, std::move(*listener), *server_,
                                              net::HttpServerOptions{}, log_.named("http"));
    url_ = files->url();
    kubeconfig_ = files->admin_kubeconfig().string();
    return ok();
  }

  apiserver::FrontProxy front_proxy_of(const ClusterFiles& files) {
    apiserver::FrontProxy proxy;
    proxy.name = ClusterFiles::front_proxy_name;
    proxy.ca_pem = files.front_proxy_authority().certificate_pem();
    proxy.client_ca_pem = files.authority().certificate_pem();
    const net::KeyPair& pair = files.front_proxy();
    proxy.outgoing =
        apiserver::make_https_outgoing(executor_, clock_, pair.certificate_pem, pair.key_pem);
    return proxy;
  }

  Executor executor_;
  ApiServerOptions options_;
  Log log_;
  SystemClock clock_;
  Rng rng_;
  std::unique_ptr<apiserver::Server> server_;
  std::unique_ptr<net::HttpServer> http_;
  std::string url_, kubeconfig_;
};

Task<int> serve(ApiServerOptions options) {
  ApiServerProcess process(co_await asio::this_coro::executor, std::move(options));
  co_return co_await process.run();
}

}  // namespace

int run_with_parent(int parent, const std::vector<std::string>& argv) {
  if (argv.empty()) return 2;
  die_with_parent(parent);
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  std::cerr << "regatta: cannot start " << argv[0] << ": " << std::strerror(errno) << '\n';
  return 1;
}

int run_api_server(ApiServerOptions options) {
  die_with_parent(options.parent);
  return run_process([&] { return serve(options); });
}

}  // namespace regatta::lab
