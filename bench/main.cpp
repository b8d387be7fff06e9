#include "bench/measure.h"
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
    std::string pattern = (std::filesystem::temp_directory_path() / "regatta-bench-XXXXXX");
    if (!::mkdtemp(pattern.data())) co_return 1;
    folder = pattern;
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
  if (common.folder.empty() && code == 0) std::filesystem::remove_all(folder, ignored);
  co_return code;
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
  CLI::App* race_command = app.add_subcommand("race", "Workloads per second, requests, CPU");
  add_common(race_command, &common);
  const CLI::Range many(1, 100000);
  race_command->add_option("--jobs", race_options.jobs)->check(many)->capture_default_str();
  race_command->add_option("--workers", race_options.workers)
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  race_command->add_option("--slots", race_options.slots, "Jobs one worker admits at a time")
      ->check(many)
      ->capture_default_str();
  race_command
      ->add_option("--kind", race_options.kind,
                   "Of the jobs: job, jobset, pytorchjob, rayjob or appwrapper")
      ->capture_default_str();
  race_command->add_option("--dispatcher", race_options.dispatcher, "Instead of all at once");
  race_command
      ->add_option("--server-latency", race_options.server_latency_ms,
                   "Milliseconds by which the API servers answer later")
      ->check(CLI::Range(0, 10000));
  race_command->add_option("--run-seconds", race_options.run_seconds)->capture_default_str();
  race_command->add_option("--patience-seconds", race_options.patience_seconds)
      ->capture_default_str();
  MemoryOptions memory_options;
  CLI::App* memory_command =
      app.add_subcommand("memory", "The hub manager's memory with many Workloads");
  add_common(memory_command, &common);
  memory_command->add_option("--workloads", memory_options.workloads)
      ->check(many)
      ->capture_default_str();
  memory_command->add_option("--workers", memory_options.workers)
      ->check(CLI::Range(1, 20))
      ->capture_default_str();
  WebhookOptions webhook_options;
  CLI::App* webhook_command =
      app.add_subcommand("webhooks", "Calls of webhooks: requests per second, CPU, memory");
  add_common(webhook_command, &common);
  webhook_command->add_option("--requests", webhook_options.requests, "Of each webhook")
      ->check(many)
      ->capture_default_str();
  webhook_command->add_option("--connections", webhook_options.connections)
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (webhook_command->parsed()) {
    return regatta::run_process([&] { return in_folder(common, webhook_options, webhooks); });
  }
  if (race_command->parsed()) {
    return regatta::run_process([&] { return in_folder(common, race_options, race); });
  }
  return regatta::run_process([&] { return in_folder(common, memory_options, memory); });
}
