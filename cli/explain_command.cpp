#include "cli/commands.h"
#include "cli/live_cluster.h"
#include "lib/api/yaml.h"
#include "lib/runtime/process.h"
#include "manager/core_config.h"
#include "manager/endpoint.h"
#include "whatif/explain/account.h"
#include "whatif/explain/feed.h"

#include <nlohmann/json.hpp>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

namespace regatta::cli {
namespace {

struct ExplainFlags {
  std::string name;
  std::string ns;
  std::string config_file;
  std::string feature_gates;
  std::string output = "table";
  LiveClusterFlags cluster;
};

int fail(const Error& error) {
  std::cerr << "regatta: " << error.what() << "\n";
  return 1;
}

/// "ns/name", or a name in --namespace, else in "default".
api::ObjectKey key_of(const ExplainFlags& flags) {
  const std::size_t slash = flags.name.find('/');
  if (slash != std::string::npos) {
    return {flags.name.substr(0, slash), flags.name.substr(slash + 1)};
  }
  return {flags.ns.empty() ? "default" : flags.ns, flags.name};
}

/// What is wrong with the name; empty when nothing is.
std::string problem_of(const ExplainFlags& flags) {
  const std::size_t slash = flags.name.find('/');
  if (slash == std::string::npos) return {};
  const bool one = flags.name.find('/', slash + 1) == std::string::npos;
  if (!one || slash == 0 || slash + 1 == flags.name.size()) {
    return "\"" + flags.name + "\": write NAMESPACE/NAME, or NAME with --namespace";
  }
  if (!flags.ns.empty() && flags.ns != flags.name.substr(0, slash)) {
    return "\"" + flags.name + "\" and --namespace " + flags.ns + " contradict each other";
  }
  return {};
}

void print_account(const whatif::Account& account, const std::string& output) {
  if (output == "json") {
    std::cout << dump_json_pretty(to_json(account)) << '\n';
  } else if (output == "yaml") {
    std::cout << api::dump_yaml(to_json(account));
  } else {
    print(account, std::cout);
  }
}

Task<int> explain_workload(ExplainFlags flags) {
  const auto manager = manager::read_configuration(flags.config_file, flags.feature_gates, "");
  if (!manager) co_return fail(manager.error());
  auto core = core_config(*manager, "explain");
  if (!core) co_return fail(core.error());
  const api::ObjectKey key = key_of(flags);
  whatif::ReadOptions options;
  options.fallback_namespace = key.ns;
  const auto live = co_await read_live_cluster(flags.cluster, options);
  if (!live) co_return fail(live.error());
  admission::State state(std::move(core->scheduler.admission));
  const std::vector<whatif::Object>& objects = live->picture.objects;
  whatif::feed(&state, objects, live->at);
  auto account = whatif::give_account(state, objects, key, live->at);
  for (const whatif::Gap& gap : live->picture.gaps) {
    if (account) account->gaps.push_back(gap.text);
    if (!account) std::cerr << "regatta: " << gap.text << "\n";
  }
  if (!account) co_return fail(account.error());
  account->blind = !live->picture.complete();
  print_account(*account, flags.output);
  co_return 0;
}

void add_workload(CLI::App* explain, Action* action) {
  CLI::App* command = explain->add_subcommand(
      "workload", "Its place in line, every flavor tried, what is missing, and what to do");
  command->alias("wl");
  auto flags = std::make_shared<ExplainFlags>();
  command->add_option("name", flags->name, "NAMESPACE/NAME, or NAME with --namespace")->required();
  command->add_option("-n,--namespace", flags->ns, "Its namespace");
  command->add_option("--kubeconfig", flags->cluster.kubeconfig,
                      "The cluster; otherwise $KUBECONFIG, ~/.kube/config, the one this runs in");
  command->add_option("--context", flags->cluster.context, "A context of the kubeconfig");
  command->add_option("--config", flags->config_file,
                      "The manager's configuration file, where it is not the default one");
  command->add_option("--feature-gates", flags->feature_gates, "The manager's: A=true,B=false");
  command->add_option("-o,--output", flags->output, "table, json or yaml")
      ->check(CLI::IsMember({"table", "json", "yaml"}))
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  regatta explain workload team-a/job-train-5f3c1\n"
      "  regatta explain wl job-train-5f3c1 -n team-a -o json\n"
      "Of a simulation: regatta simulate -f queues/ -f jobs/ --explain team-a/train@90m\n"
      "\nExit codes: 0; 1 when there is no such Workload, the cluster cannot be read or the\n"
      "output not written; 2 for the command line.");
  command->callback([flags, action] {
    const std::string problem = problem_of(*flags);
    if (!problem.empty()) throw CLI::ValidationError(problem);
    *action = [flags] { return run_process([&] { return explain_workload(*flags); }); };
  });
}

}  // namespace

void add_explain_command(CLI::App* app, Action* action) {
  CLI::App* explain =
      app->add_subcommand("explain", "Explain why a workload waits, or where it runs; only reads");
  explain->require_subcommand(1);
  add_workload(explain, action);
}

}  // namespace regatta::cli
