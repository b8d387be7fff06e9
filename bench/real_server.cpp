#include "bench/report/audit_log.h"
#include "bench/server.h"
#include "lab/servers/apply.h"
#include "lab/servers/files.h"
#include "lib/manifest/assets.h"

#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

namespace regatta::bench {
namespace {

/// Whose holders may do everything.
constexpr const char* masters = "system:masters";
/// So many events may wait to be written before the log lacks some.
constexpr int audit_buffer = 200'000;

class RealServer final : public Server {
 public:
  RealServer(Ground ground, std::string name)
      : ground_(std::move(ground)), name_(std::move(name)) {}

  Status start() override {
    const auto port = free_port(ground_.executor);
    if (!port) return port.error();
    const auto client = free_port(ground_.executor);
    if (!client) return client.error();
    const auto peer = free_port(ground_.executor);
    if (!peer) return peer.error();
    const Status written = write_files(*port);
    if (!written) return written;
    const std::string url = "http://127.0.0.1:" + std::to_string(*client);
    const std::string peers = "http://127.0.0.1:" + std::to_string(*peer);
    const Status stored = add(Role::etcd, "etcd", etcd_argv(url, peers), Ending::killed);
    if (!stored) return stored;
    return add(Role::api_server, "API server", apiserver_argv(*port, url), Ending::killed);
  }

  Task<Status> complete(kube::Client& client) override {
    auto crds = manifest::objects_below(manifest::kueue_crds());
    if (!crds) co_return crds.error();
    lab::Applier applier(client, ground_.clock);
    const SteadyPoint deadline = ground_.clock.steady() + ground_.start_max();
    const Status installed = co_await applier.install_crds(std::move(*crds), deadline);
    if (!installed) co_return installed.error();
    const std::vector<std::string> argv = {ground_.lab, "nodes",   "--kubeconfig", of(users::nodes),
                                           "--no-pods", "--fleet", "8xCPU"};
    co_return add(Role::nodes, "nodes", argv, Ending::asked);
  }

  std::vector<Part> parts() const override {
    std::vector<Part> all;
    for (const auto& [role, process] : processes_) all.push_back({role, process.get()});
    return all;
  }

  std::filesystem::path admin_kubeconfig() const override { return of(users::bench); }
  std::filesystem::path manager_kubeconfig() const override { return of(users::manager); }
  std::filesystem::path hub_kubeconfig() const override { return of(users::hub); }

  Task<Result<Requests>> requests(kubeconfig::Connection&) override {
    std::ifstream log(audit_log());
    log.seekg(static_cast<std::streamoff>(forgotten_bytes_));
    const std::string text{std::istreambuf_iterator<char>(log), {}};
    if (!log) co_return Error(Errc::unavailable, "cannot read " + audit_log().string());
    co_return read_audit_log(name_, text);
  }

  /// A line that is written at this moment counts as forgotten.
  Task<Status> forget_requests(kubeconfig::Connection&) override {
    std::ifstream log(audit_log());
    const std::string text{std::istreambuf_iterator<char>(log), {}};
    if (!log) co_return Error(Errc::unavailable, "cannot read " + audit_log().string());
    forgotten_bytes_ = text.rfind('\n') + 1;  // 0 without a line
    co_return ok();
  }

 private:
  Status write_files(std::uint16_t port) {
    const TimePoint now = ground_.clock.now();
    auto files = lab::ClusterFiles::prepare(folder(), port, now);
    if (!files) return files.error();
    for (const char* user : {users::manager, users::hub, users::nodes}) {
      const auto written = files->write_kubeconfig(user, user, {masters}, now);
      if (!written) return written.error();
    }
    const net::KeyPair& front = files->front_proxy();
    Status done = lab::write_private(file("front-proxy.crt"), front.certificate_pem);
    if (done) done = lab::write_private(file("front-proxy.key"), front.key_pem);
    if (done) done = lab::write_private(file("audit-policy.json"), audit_policy());
    return done;
  }

  Status add(Role role, const std::string& what, const std::vector<std::string>& argv,
             Ending ending) {
    const std::filesystem::path log =
        folder() / (what == "API server" ? "apiserver.log" : what + ".log");
    auto process = Process::start(name_ + " " + what, argv, log, ending);
    if (!process) return process.error();
    processes_.emplace_back(role, std::make_unique<Process>(std::move(*process)));
    return ok();
  }

  std::vector<std::string> etcd_argv(const std::string& url, const std::string& peers) const {
    return {ground_.assets + "/etcd",
            "--data-dir",
            file("etcd"),
            "--listen-client-urls",
            url,
            "--advertise-client-urls",
            url,
            "--listen-peer-urls",
            peers,
            "--unsafe-no-fsync",
            "--log-level=error"};
  }

  std::vector<std::string> apiserver_argv(std::uint16_t port, const std::string& etcd) const {
    return {ground_.assets + "/kube-apiserver",
            "--etcd-servers=" + etcd,
            "--secure-port=" + std::to_string(port),
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            "--tls-cert-file=" + file("server.crt"),
            "--tls-private-key-file=" + file("server.key"),
            "--client-ca-file=" + file("ca.crt"),
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-key-file=" + file("sa.pub"),
            "--service-account-signing-key-file=" + file("sa.key"),
            "--service-cluster-ip-range=10.0.0.0/24",
            "--authorization-mode=RBAC",
            "--enable-aggregator-routing=true",
            "--requestheader-client-ca-file=" + file("front-proxy-ca.crt"),
            std::string("--requestheader-allowed-names=") + lab::ClusterFiles::front_proxy_name,
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            "--proxy-client-cert-file=" + file("front-proxy.crt"),
            "--proxy-client-key-file=" + file("front-proxy.key"),
            "--disable-admission-plugins=ServiceAccount",
            "--endpoint-reconciler-type=none",
            "--audit-policy-file=" + file("audit-policy.json"),
            "--audit-log-path=" + audit_log().string(),
            "--audit-log-mode=batch",
            "--audit-log-batch-buffer-size=" + std::to_string(audit_buffer),
            "--audit-log-maxsize=0"};
  }

  std::filesystem::path folder() const { return ground_.folder / name_; }
  std::string file(const char* name) const { return (folder() / name).string(); }
  std::filesystem::path of(const char* user) const {
    return folder() / (std::string(user) + ".kubeconfig");
  }
  std::filesystem::path audit_log() const { return folder() / "audit.log"; }

  Ground ground_;
  std::string name_;
  std::size_t forgotten_bytes_ = 0;
  std::vector<std::pair<Role, std::unique_ptr<Process>>> processes_;
};

}  // namespace

std::unique_ptr<Server> real_server(Ground ground, std::string name) {
  return std::make_unique<RealServer>(std::move(ground), std::move(name));
}

}  // namespace regatta::bench
