#include "cli/cluster_connection.h"
#include "cli/commands.h"
#include "cli/frameworks_flag.h"
#include "lib/base/json.h"
#include "lib/runtime/process.h"
#include "manager/endpoint.h"
#include "operate/doctor.h"

#include <nlohmann/json.hpp>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

namespace regatta::cli {
namespace {

struct DoctorFlags {
  ClusterFlags hub;
  std::string ns = "kueue-system";
  std::vector<std::string> workers;  ///< NAME=FILE
  std::vector<std::string> frameworks = {"batch/job"};
  std::string output = "table";
};

/// A client of a worker, for as long as it is looked at.
struct Visit final : operate::Trial {
  explicit Visit(std::unique_ptr<kubeconfig::Connection> connection)
      : connection(std::move(connection)) {}
  kube::Client& client() override { return connection->client(); }
  std::unique_ptr<kubeconfig::Connection> connection;
};

constexpr int healthy = 0, ill = 1, not_examined = 2;

int examination_failed(const Error& error) {
  std::cerr << "regatta: " << error.what() << "\n";
  return not_examined;
}

Task<int> examine_fleet(DoctorFlags flags) {
  Connections connections(co_await asio::this_coro::executor);
  auto hub = connections.open(flags.hub);
  if (!hub) co_return examination_failed(hub.error().within("the hub"));
  const operate::TryToken open =
      [&](const kubeconfig::Endpoint& endpoint) -> Result<std::unique_ptr<operate::Trial>> {
    auto made = connections.open(endpoint);
    if (!made) return made.error();
    return std::unique_ptr<operate::Trial>(new Visit(std::move(*made)));
  };
  operate::DoctorDeps deps{(*hub)->client(), connections.clock(), open, flags.ns, {},
                           flags.frameworks};
  for (const std::string& worker : flags.workers) {
    const std::size_t sign = worker.find('=');
    auto endpoint = manager::find_users_cluster(worker.substr(sign + 1), "");
    if (!endpoint) co_return examination_failed(endpoint.error());
    deps.administrators.emplace(worker.substr(0, sign), std::move(*endpoint));
  }
  const auto examined = co_await operate::examine(std::move(deps));
  if (!examined) co_return examination_failed(examined.error());
  if (flags.output == "json") {
    std::cout << dump_json_pretty(to_json(*examined)) << '\n';
  } else {
    print(*examined, std::cout);
  }
  co_return examined->findings.empty() ? healthy : ill;
}

}  // namespace

void add_doctor_command(CLI::App* app, Action* action) {
  CLI::App* command =
      app->add_subcommand("doctor", "Check a hub and its workers, and say what to do; only reads");
  auto flags = std::make_shared<DoctorFlags>();
  command->add_option("--hub-kubeconfig", flags->hub.kubeconfig,
                      "Of the hub; otherwise $KUBECONFIG, ~/.kube/config, the one this runs in");
  command->add_option("--hub-context", flags->hub.context, "A context of it");
  command->add_option("--hub-namespace", flags->ns, "Of the hub's manager")->capture_default_str();
  command
      ->add_option("--worker-kubeconfig", flags->workers,
                   "NAME=FILE: an administrator's kubeconfig of a worker, for what the hub may not "
                   "read there; may be repeated")
      ->allow_extra_args(false);
  add_frameworks(command, &flags->frameworks);
  command->add_option("-o,--output", flags->output, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->footer(
      "It looks at kinds, rights verb by verb, webhooks, the ends of certificates and tokens,\n"
      "clocks, versions, and at what Jobs need on workers: namespaces, LocalQueues, priority\n"
      "classes, kinds of jobs. Workers are seen with the hub's own credentials, from here; of one\n"
      "with a ClusterProfile the profile is checked.\n"
      "\nExit codes: 0 without findings; 1 with findings; 2 when the hub cannot be asked, or for\n"
      "the command line.");
  command->callback([flags, action] {
    for (const std::string& worker : flags->workers) {
      const std::size_t sign = worker.find('=');
      if (sign == std::string::npos || sign == 0 || sign + 1 == worker.size()) {
        throw CLI::ValidationError("--worker-kubeconfig \"" + worker + "\": write NAME=FILE");
      }
    }
    *action = [flags] { return run_process([&] { return examine_fleet(*flags); }); };
  });
}

}  // namespace regatta::cli
