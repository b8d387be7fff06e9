#include "lab/federation/commands.h"

#include "lab/federation/federation.h"
#include "lab/federation/free_ports.h"
#include "lib/runtime/process.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <pwd.h>
#include <unistd.h>
#include <utility>

namespace regatta::lab {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

int fail(const Error& error) {
  std::cerr << "regatta: " << error.what() << '\n';
  return 1;
}

void print(const std::string& line) {
  std::cerr << line << std::endl;
}

bool anything_runs(const SandboxState& state) {
  for (const Component& component : state.components) {
    if (is_running(component.process)) return true;
  }
  return false;
}

void print_hints(const SandboxState& state) {
  const std::string hub = state.hub().kubeconfig("admin");
  std::cout << "\nThe sandbox is up. To look around:\n\n"
            << "  export KUBECONFIG=" << hub << "\n"
            << "  kubectl get multikueueclusters,clusterqueues,localqueues -A\n"
            << "  kubectl create -f examples/jobs/train.yaml\n"
            << "  kubectl get workloads -A -w\n\nThe workers:\n\n";
  for (const ClusterState& cluster : state.clusters) {
    if (cluster.hub) continue;
    std::cout << "  kubectl --kubeconfig " << cluster.kubeconfig("admin") << " get nodes,jobs -A\n";
  }
  std::cout << "\n./dev sandbox status --dir " << state.folder << "\n./dev sandbox down --dir "
            << state.folder << '\n';
}

struct World {
  explicit World(Executor executor) : executor(std::move(executor)), rng(Rng::from_system()) {}
  FederationDeps deps() { return {executor, clock, rng, print}; }
  Executor executor;
  SystemClock clock;
  Rng rng;
};

Task<> bring_up(Federation& federation, Status* outcome) {
  *outcome = co_await federation.up();
}

Task<int> up(LayoutOptions options) {
  World world(co_await asio::this_coro::executor);
  const auto before = load_state(options.folder);
  if (before && anything_runs(*before)) {
    co_return fail(Error(Errc::already_exists,
                         "a sandbox runs in " + options.folder +
                             " already; stop it with: ./dev sandbox down --dir " + options.folder));
  }
  FreePorts ports;  // until everything listens
  auto state = lay_out(options, [&] { return ports.next(); });
  if (!state) co_return fail(state.error());
  std::error_code ignored;
  for (const ClusterState& cluster : state->clusters) fs::remove_all(cluster.folder, ignored);
  fs::remove_all(fs::path(options.folder) / "logs", ignored);
  Federation federation(world.deps(), std::move(*state));
  Status outcome = ok();
  Task<> work = bring_up(federation, &outcome);
  const bool done = co_await until_signalled(std::move(work));
  if (done && outcome) {
    print_hints(federation.state());
    co_return 0;
  }
  co_await federation.down();
  forget_state(options.folder);
  if (!done) co_return fail(Error(Errc::unavailable, "interrupted; everything was stopped"));
  co_return fail(outcome.error());
}

Task<int> down(std::string folder) {
  World world(co_await asio::this_coro::executor);
  auto state = load_state(folder);
  if (!state) co_return fail(state.error());
  Federation federation(world.deps(), std::move(*state));
  co_await federation.down();
  forget_state(folder);
  print("stopped; logs and credentials stay in " + folder);
  co_return 0;
}

using Step = Task<Status> (Federation::*)(std::string);

Task<int> change(std::string folder, std::string name, Step step, std::string done) {
  World world(co_await asio::this_coro::executor);
  auto state = load_state(folder);
  if (!state) co_return fail(state.error());
  Federation federation(world.deps(), std::move(*state));
  const Status changed = co_await (federation.*step)(name);
  if (!changed) co_return fail(changed.error());
  print(name + " " + done);
  co_return 0;
}

}  // namespace

std::string default_folder() {
  const std::string state = environment("XDG_STATE_HOME");
  if (!state.empty()) return state + "/regatta/sandbox";
  std::string home = environment("HOME");
  if (home.empty()) {
    // As in a service without an environment. A name in /tmp could be taken by another user.
    const passwd* const user = ::getpwuid(::getuid());
    home = user && user->pw_dir ? user->pw_dir : fs::current_path().string();
  }
  return home + "/.local/state/regatta/sandbox";
}

void complete(LayoutOptions* options, const std::string& folder) {
  if (options->folder.empty()) options->folder = folder;
  std::error_code ignored;
  if (!options->folder.empty()) {
    const fs::path absolute = fs::absolute(options->folder, ignored);
    options->folder = absolute.lexically_normal().string();
  }
  if (options->binary.empty()) options->binary = own_binary();
  if (options->manager.empty()) {
    options->manager = fs::path(options->binary).replace_filename("regatta").string();
  }
  const std::string assets = environment("KUBEBUILDER_ASSETS");
  if (fs::exists(assets + "/etcd", ignored) && fs::exists(assets + "/kube-apiserver", ignored)) {
    options->assets = assets;
  }
}

int sandbox_up(LayoutOptions options) {
  return run_process([&] { return up(options); });
}

int sandbox_down(const std::string& folder) {
  return run_process([&] { return down(folder); });
}

int sandbox_restart(const std::string& folder, const std::string& component) {
  return run_process([&] { return change(folder, component, &Federation::restart, "restarted"); });
}

int sandbox_stop(const std::string& folder, const std::string& component) {
  return run_process([&] { return change(folder, component, &Federation::stop, "stopped"); });
}

int sandbox_rotate(const std::string& folder, const std::string& worker) {
  return run_process(
      [&] { return change(folder, worker, &Federation::rotate, "has new credentials"); });
}

int sandbox_status(const std::string& folder, bool json) {
  const auto state = load_state(folder);
  if (!state) return fail(state.error());
  bool all = true;
  Json out = to_json(*state);
  for (std::size_t i = 0; i < state->components.size(); ++i) {
    const Component& component = state->components[i];
    const bool running = is_running(component.process);
    all = all && running;
    out["components"][i]["running"] = running;
    if (json) continue;
    std::string name = component.name;
    name.resize(std::max<std::size_t>(name.size(), 20), ' ');
    std::cout << name << (running ? "running  " : "stopped  ") << "pid " << component.process.pid
              << "  " << component.log << '\n';
  }
  if (json) std::cout << dump_json_pretty(out) << '\n';
  return all ? 0 : 3;
}

int sandbox_logs(const std::string& folder, const std::string& component, int lines) {
  auto state = load_state(folder);
  if (!state) return fail(state.error());
  const Component* found = state->component(component);
  if (!found) {
    std::string known;
    for (const Component& other : state->components) known += " " + other.name;
    return fail(Error(Errc::not_found, "there is no " + component + "; there are:" + known));
  }
  std::cerr << found->log << '\n';
  std::cout << tail(found->log, lines);
  return 0;
}

}  // namespace regatta::lab
