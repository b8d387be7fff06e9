#include "cli/cluster_connection.h"
#include "cli/commands.h"
#include "lib/base/duration.h"
#include "lib/runtime/process.h"
#include "operate/secret_credential.h"

#include <boost/asio/this_coro.hpp>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <memory>

namespace regatta::cli {
namespace {

struct CredentialFlags {
  ClusterFlags cluster;
  operate::SecretFlags secret;
  std::string valid_for = "10m";
};

Task<Result<std::string>> credential_of(CredentialFlags flags) {
  const char* info = std::getenv("KUBERNETES_EXEC_INFO");
  const auto request = operate::secret_request(flags.secret, info ? info : "");
  if (!request) co_return request.error();
  Connections connections(co_await asio::this_coro::executor);
  auto cluster = connections.open(flags.cluster);
  if (!cluster) co_return cluster.error();
  const auto secret = co_await (*cluster)->client().get<api::Secret>(request->secret);
  if (!secret) co_return secret.error().within("Secret " + request->secret.str());
  co_return operate::secret_credential(*request, *secret, connections.clock().now());
}

Task<int> print_credential(CredentialFlags flags) {
  const Result<std::string> printed = co_await credential_of(std::move(flags));
  if (!printed) {
    std::cerr << "regatta: " << printed.error().what() << "\n";
    co_return 1;
  }
  std::cout << *printed << "\n";
  co_return 0;
}

void complete_credentials(CredentialFlags* flags) {
  const auto length = parse_go_duration(flags->valid_for);
  if (!length || *length < std::chrono::seconds(15)) {
    throw CLI::ValidationError("--valid-for: \"" + flags->valid_for +
                               "\" is not a duration of at least 15s, like 10m");
  }
  flags->secret.valid_for = std::chrono::duration_cast<Duration>(*length);
}

}  // namespace

void add_credentials_command(CLI::App* app, Action* action) {
  CLI::App* command =
      app->add_subcommand("credentials", "Credential plugins for workers of ClusterProfiles");
  command->require_subcommand(1);
  CLI::App* secret = command->add_subcommand("secret", "Print the token that a Secret holds");
  auto flags = std::make_shared<CredentialFlags>();
  secret->add_option("--secret", flags->secret.name,
                     "Name of the Secret; otherwise the ClusterProfile names it");
  secret->add_option("--namespace", flags->secret.ns, "Of the Secret")->capture_default_str();
  secret->add_option("--key", flags->secret.key, "Of its data")->capture_default_str();
  secret->add_option("--valid-for", flags->valid_for, "After so long the Secret is read again")
      ->capture_default_str();
  secret->add_option("--kubeconfig", flags->cluster.kubeconfig,
                     "Of the cluster with the Secret; otherwise $KUBECONFIG, ~/.kube/config, the "
                     "one this runs in");
  secret->add_option("--context", flags->cluster.context, "A context of it");
  secret->footer(
      "The manager starts this as a plugin: multiKueue.clusterProfile.accessProviders. A Secret\n"
      "that a ClusterProfile names needs the annotation multikueue.regatta.dev/server with the\n"
      "server of its access provider.\n"
      "\nExit codes: 0; 1 when there is no token; 2 for the command line.");
  secret->callback([flags, action] {
    complete_credentials(flags.get());
    *action = [flags] { return run_process([&] { return print_credential(*flags); }); };
  });
}

}  // namespace regatta::cli
