#include "bench/measure.h"
#include "lib/base/temporary_folder.h"
#include "lib/runtime/process.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace regatta::bench {
namespace {

struct Common {
  std::string binary;
  std::string lab;
  std::string folder;  ///< empty: one of its own, removed at the end
  std::string output;
};

void add_common(CLI::App* command, Common* common) {
  command->add_option("--regatta", common->binary, "The binary that is measured")
      ->required()
      ->check(CLI::ExistingFile);
  command
      ->add_option("--lab", common->lab,
                   "The regatta-lab that serves the API; otherwise the one beside it")
      ->check(CLI::ExistingFile);
  command->add_option("--folder", common->folder, "Keep certificates and logs there");
  command->add_option("-o,--output", common->output, "json: one line, last")
      ->check(CLI::IsMember({"json"}));
}

template <class Options>
Task<int> in_folder(Common common, Options options, Task<int> (*measure)(Ground, Options)) {
  std::string folder = common.folder;
  if (folder.empty()) {
    const auto made = make_temporary_folder("regatta-bench");
    if (!made) {
      std::cerr << made.error().what() << "\n";
      co_return 1;
    }
    folder = made->string();
  }
  const std::filesystem::path binary = std::filesystem::absolute(common.binary);
  const std::filesystem::path beside =
      std::filesystem::path(binary).replace_filename("regatta-lab");
  const std::filesystem::path lab =
      common.lab.empty() ? beside : std::filesystem::absolute(common.lab);
  SystemClock clock;
  Rng rng = Rng::from_system();
  Ground ground{co_await asio::this_coro::executor, clock, rng, binary, lab,
                std::filesystem::absolute(folder)};
  options.json = common.output == "json";
  const int code = co_await measure(std::move(ground), options);
  std::error_code ignored;
  const bool keep_logs = code != 0 && code != options_are_wrong;
  if (common.folder.empty() && !keep_logs) std::filesystem::remove_all(folder, ignored);
  co_return code;
}

CLI::Range many() {
  return CLI::Range(1, 100000);
}

CLI::App* add_race(CLI::App& app, Common* common, RaceOptions* options) {
  CLI::App* command = app.add_subcommand("race", "Workloads per second, requests, CPU");
  add_common(command, common);
  command->add_option("--jobs", options->jobs)->check(many())->capture_default_str();
  command->add_option("--workers", options->workers)
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->add_option("--slots", options->slots, "Jobs one worker admits at a time")
      ->check(many())
      ->capture_default_str();
  command
      ->add_option("--kind", options->kind,
                   "Of the jobs: job, jobset, pytorchjob, rayjob, appwrapper or pod-group")
      ->capture_default_str();
  command->add_option("--dispatcher", options->dispatcher, "Instead of all at once");
  command
      ->add_option("--servers", options->servers,
                   "real: etcd and kube-apiserver of the folder KUBEBUILDER_ASSETS")
      ->check(CLI::IsMember({"embedded", "real"}))
      ->capture_default_str();
  CLI::Option* manager =
      command
          ->add_option("--manager", options->manager,
                       "Kueue's manager, raced in turn with Regatta's on real servers")
          ->check(CLI::ExistingFile);
  command
      ->add_option("--rounds", options->rounds, "Races of each manager; their middle is compared")
      ->needs(manager)
      ->check(CLI::Range(1, 99))
      ->capture_default_str();
  command
      ->add_option("--server-latency", options->server_latency_ms,
                   "Milliseconds by which embedded API servers answer later")
      ->check(CLI::Range(0, 10000));
  command->add_option("--run-seconds", options->run_seconds)->capture_default_str();
  command->add_option("--patience-seconds", options->patience_seconds)->capture_default_str();
  return command;
}

void add_memory(CLI::App& app, Common* common, MemoryOptions* options) {
  CLI::App* command = app.add_subcommand("memory", "The hub manager's memory with many Workloads");
  add_common(command, common);
  command->add_option("--workloads", options->workloads)->check(many())->capture_default_str();
  command->add_option("--workers", options->workers)
      ->check(CLI::Range(1, 20))
      ->capture_default_str();
  command->add_flag("--offered", options->offered,
                    "The hub has room for all of them: each waits on every worker");
}

CLI::App* add_workers(CLI::App& app, Common* common, WorkersOptions* options) {
  CLI::App* command =
      app.add_subcommand("workers", "What many idle workers cost the hub's manager");
  add_common(command, common);
  command->add_option("--workers", options->workers)
      ->check(CLI::Range(2, 5000))
      ->capture_default_str();
  command
      ->add_option("--frameworks", options->frameworks,
                   "Kinds of jobs that the hub dispatches, by commas")
      ->capture_default_str();
  return command;
}

CLI::App* add_webhooks(CLI::App& app, Common* common, WebhookOptions* options) {
  CLI::App* command =
      app.add_subcommand("webhooks", "Calls of webhooks: requests per second, CPU, memory");
  add_common(command, common);
  command->add_option("--requests", options->requests, "Of each webhook")
      ->check(many())
      ->capture_default_str();
  command->add_option("--connections", options->connections)
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  return command;
}

}  // namespace
}  // namespace regatta::bench

int main(int argc, char** argv) {
  using namespace regatta::bench;
  CLI::App app("Measures Regatta: a hub and workers as real processes on this machine.",
               "regatta_bench");
  app.require_subcommand(1);
  Common common;
  RaceOptions race_options;
  MemoryOptions memory_options;
  WorkersOptions workers_options;
  WebhookOptions webhook_options;
  const CLI::App* race_command = add_race(app, &common, &race_options);
  add_memory(app, &common, &memory_options);
  const CLI::App* workers_command = add_workers(app, &common, &workers_options);
  const CLI::App* webhook_command = add_webhooks(app, &common, &webhook_options);
  CLI11_PARSE(app, argc, argv);
  if (webhook_command->parsed()) {
    return regatta::run_process([&] { return in_folder(common, webhook_options, webhooks); });
  }
  if (workers_command->parsed()) {
    return regatta::run_process([&] { return in_folder(common, workers_options, workers); });
  }
  if (race_command->parsed()) {
    return regatta::run_process([&] { return in_folder(common, race_options, race); });
  }
  return regatta::run_process([&] { return in_folder(common, memory_options, memory); });
}
