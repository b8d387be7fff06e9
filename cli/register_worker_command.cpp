#include "cli/cluster_connection.h"
#include "cli/commands.h"
#include "cli/frameworks_flag.h"
#include "lib/base/duration.h"
#include "lib/runtime/process.h"
#include "manager/endpoint.h"
#include "operate/registration.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

namespace regatta::cli {
namespace {

struct RegisterFlags {
  ClusterFlags hub, worker;
  std::string account = "multikueue-sa";
  std::string token_for = "8760h";
  std::string timeout = "2m";
  bool dry_run = false;
  bool rotate = false;
  bool remove = false;
  operate::RegistrationOptions options;
};

int register_failed(const Error& error) {
  std::cerr << "regatta: " << error.what() << "\n";
  return 1;
}

/// A client with a token of its own, for as long as it is tried.
struct TokenTrial final : operate::Trial {
  explicit TokenTrial(std::unique_ptr<kubeconfig::Connection> connection)
      : connection(std::move(connection)) {}
  kube::Client& client() override { return connection->client(); }
  std::unique_ptr<kubeconfig::Connection> connection;
};

Task<int> carry_out(RegisterFlags flags) {
  Connections connections(co_await asio::this_coro::executor);
  auto hub = connections.open(flags.hub);
  if (!hub) co_return register_failed(hub.error().within("the hub"));
  std::unique_ptr<kubeconfig::Connection> worker;
  if (!flags.worker.kubeconfig.empty()) {
    auto opened = connections.open(flags.worker);
    if (!opened) co_return register_failed(opened.error().within("the worker"));
    worker = std::move(*opened);
  }
  const std::function<void(const std::string&)> say = [](const std::string& line) {
    std::cout << line << std::endl;
  };
  kube::Client& hub_client = (*hub)->client();
  Status done = ok();
  if (flags.remove) {
    kube::Client* client = worker ? &worker->client() : nullptr;
    done = co_await operate::remove_worker(hub_client, client, flags.options, say);
  } else {
    const operate::TryToken open =
        [&](const kubeconfig::Endpoint& endpoint) -> Result<std::unique_ptr<operate::Trial>> {
      auto made = connections.open(endpoint);
      if (!made) return made.error();
      return std::unique_ptr<operate::Trial>(new TokenTrial(std::move(*made)));
    };
    operate::RegistrationDeps deps{hub_client, worker->client(), connections.clock(), open, say};
    const auto work = flags.rotate ? operate::rotate_token : operate::register_worker;
    done = co_await work(std::move(deps), flags.options, worker->endpoint());
  }
  co_return done ? 0 : register_failed(done.error());
}

int print_dry_run(const RegisterFlags& flags) {
  const auto endpoint = manager::find_users_cluster(flags.worker.kubeconfig, flags.worker.context);
  if (!endpoint) return register_failed(endpoint.error());
  std::cout << operate::dry_run(flags.options, *endpoint);
  return 0;
}

Duration length_of(const std::string& flag, const std::string& text, Duration least) {
  const auto length = parse_go_duration(text);
  if (!length || *length < least) {
    throw CLI::ValidationError(flag + ": \"" + text + "\" is not a duration of at least " +
                               format_go_duration(least) + ", like 24h or 90s");
  }
  return std::chrono::duration_cast<Duration>(*length);
}

/// Turns texts into options; throws for what does not fit together.
void complete_registration(RegisterFlags* flags) {
  operate::RegistrationOptions& options = flags->options;
  options.token_for = length_of("--token-duration", flags->token_for, std::chrono::minutes(10));
  options.timeout = length_of("--timeout", flags->timeout, std::chrono::seconds(1));
  const std::size_t slash = flags->account.find('/');
  options.account.name = flags->account.substr(slash == std::string::npos ? 0 : slash + 1);
  if (slash != std::string::npos) options.account.ns = flags->account.substr(0, slash);
  if (options.account.name.empty() || options.account.ns.empty()) {
    throw CLI::ValidationError("--account: write NAME or NAMESPACE/NAME");
  }
  if (!flags->remove && flags->worker.kubeconfig.empty()) {
    throw CLI::RequiredError("--worker-kubeconfig");
  }
  const auto url = kubeconfig::parse_server_url(options.server);
  if (!options.server.empty() && !url) {
    throw CLI::ValidationError("--worker-server: " + url.error().what());
  }
}

void add_registration_options(CLI::App* command, RegisterFlags* flags) {
  operate::RegistrationOptions& options = flags->options;
  command->add_option("name", options.cluster, "Name of the worker on the hub")->required();
  command->add_option("--worker-kubeconfig", flags->worker.kubeconfig,
                      "An administrator's kubeconfig of the worker");
  command->add_option("--worker-context", flags->worker.context, "A context of it");
  command->add_option("--hub-kubeconfig", flags->hub.kubeconfig,
                      "Of the hub; otherwise $KUBECONFIG, ~/.kube/config, the one this runs in");
  command->add_option("--hub-context", flags->hub.context, "A context of it");
  command->add_option("--hub-namespace", options.hub_ns, "Of the hub's manager: for the Secret")
      ->capture_default_str();
  command
      ->add_option("--namespaces", options.account.namespaces,
                   "Where the hub may write on the worker: A,B; otherwise everywhere")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_frameworks(command, &options.account.frameworks);
  command->add_flag("--provide", options.account.provide,
                    "Let the hub create namespaces, LocalQueues and WorkloadPriorityClasses there "
                    "that its jobs need");
  command
      ->add_option("--account", flags->account,
                   "ServiceAccount of the hub on the worker: NAME, or NAMESPACE/NAME for another "
                   "namespace than kueue-system; each hub needs one of its own")
      ->capture_default_str();
  command->add_option(
      "--worker-server", options.server,
      "The URL under which the hub reaches the worker, if it is another one than in "
      "the kubeconfig");
  command->add_option("--token-duration", flags->token_for, "A cluster may shorten it")
      ->capture_default_str();
  command->add_option("--timeout", flags->timeout, "How long to wait until the worker is Active")
      ->capture_default_str();
  CLI::Option* dry =
      command->add_flag("--dry-run", flags->dry_run, "Print the objects as YAML, ask no cluster");
  CLI::Option* rotate = command->add_flag(
      "--rotate", flags->rotate, "Only a new token. Earlier ones are valid until they end");
  command
      ->add_flag("--remove", flags->remove,
                 "Delete what was made; on the worker with --worker-kubeconfig, which ends its "
                 "tokens at once")
      ->excludes(dry)
      ->excludes(rotate);
  rotate->excludes(dry);
}

}  // namespace

void add_register_worker_command(CLI::App* app, Action* action) {
  CLI::App* command =
      app->add_subcommand("register-worker", "Let a hub use a worker cluster, in one step");
  auto flags = std::make_shared<RegisterFlags>();
  add_registration_options(command, flags.get());
  command->footer(
      "On the worker: a ServiceAccount, its permissions and a token. On the hub: a Secret with\n"
      "the kubeconfig, and a MultiKueueCluster. It can be repeated, also after a failure.\n"
      "\nExamples:\n"
      "  regatta register-worker east --worker-kubeconfig east.yaml\n"
      "  regatta register-worker east --worker-kubeconfig east.yaml --namespaces team-a,team-b\n"
      "  regatta register-worker east --worker-kubeconfig east.yaml --provide\n"
      "  regatta register-worker east --worker-kubeconfig east.yaml --rotate\n"
      "  regatta register-worker east --worker-kubeconfig east.yaml --remove\n"
      "\nExit codes: 0; 1 when something was refused, or the worker is not Active in time; 2 for\n"
      "the command line.");
  command->callback([flags, action] {
    complete_registration(flags.get());
    *action = [flags] {
      if (flags->dry_run) return print_dry_run(*flags);
      return run_process([&] { return carry_out(*flags); });
    };
  });
}

}  // namespace regatta::cli
