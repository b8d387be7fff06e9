#include "bench/server.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace regatta::bench {
namespace {

constexpr Duration answer_max = std::chrono::seconds(30);

class EmbeddedServer final : public Server {
 public:
  EmbeddedServer(Ground ground, std::string name)
      : ground_(std::move(ground)), name_(std::move(name)) {}

  Status start() override {
    std::vector<std::string> argv = {ground_.lab, "apiserver", "--dir",   folder(),
                                     "--crds",    "--no-pods", "--fleet", "8xCPU"};
    if (ground_.server_latency_ms > 0) {
      argv.insert(argv.end(), {"--faults", dump_json({{"latencyMs", ground_.server_latency_ms}})});
    }
    auto process = Process::start(name_ + " API server", argv, folder() / "apiserver.log");
    if (!process) return process.error();
    process_ = std::make_unique<Process>(std::move(*process));
    return ok();
  }

  Task<Status> complete(kube::Client&) override { co_return ok(); }

  std::vector<Part> parts() const override { return {{Role::api_server, process_.get()}}; }

  std::filesystem::path admin_kubeconfig() const override { return folder() / "admin.kubeconfig"; }
  // It tells managers apart by their User-Agents.
  std::filesystem::path manager_kubeconfig() const override { return admin_kubeconfig(); }
  std::filesystem::path hub_kubeconfig() const override { return admin_kubeconfig(); }

  Task<Result<Requests>> requests(kubeconfig::Connection& connection) override {
    const auto text = co_await connection.client().get_path("/_regatta/requests");
    if (!text) co_return text.error();
    const auto report = parse_json(*text);
    if (!report) co_return report.error();
    co_return Requests::from_report(name_, *report);
  }

  Task<Status> forget_requests(kubeconfig::Connection& connection) override {
    net::HttpRequest request("DELETE", "/_regatta/requests");
    net::SendOptions options;
    options.deadline = ground_.clock.steady() + answer_max;
    const auto answer = co_await connection.sender().send(std::move(request), options);
    if (!answer) co_return answer.error();
    co_return ok();
  }

 private:
  std::filesystem::path folder() const { return ground_.folder / name_; }

  Ground ground_;
  std::string name_;
  std::unique_ptr<Process> process_;
};

}  // namespace

std::unique_ptr<Server> embedded_server(Ground ground, std::string name) {
  return std::make_unique<EmbeddedServer>(std::move(ground), std::move(name));
}

}  // namespace regatta::bench
