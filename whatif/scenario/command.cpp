#include "whatif/scenario/command.h"

#include "lib/base/joined.h"
#include "whatif/files.h"
#include "whatif/scenario/run.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <ostream>

namespace regatta::whatif {
namespace {

std::string flavors_of(const admission::AdmittedWorkload& admitted) {
  std::string out;
  for (const api::PodSetAssignment& set : admitted.admission.pod_set_assignments) {
    out += out.empty() ? "" : "; ";
    out += set.name + " x" + std::to_string(set.count.value_or(0));
    for (const auto& [resource, flavor] : set.flavors) out += " " + resource + "=" + flavor;
  }
  return out;
}

void print_step(std::size_t number, const ObservedStep& step, std::ostream& out) {
  const admission::CycleResult& decisions = step.decisions;
  out << "  step " << number << (decisions.ran ? "" : ": nothing to admit") << "\n";
  for (const auto& one : decisions.admitted) {
    out << "    admitted   " << one.key.str() << " in " << one.cluster_queue << " ("
        << flavors_of(one) << ")\n";
  }
  for (const auto& one : decisions.preempted) {
    out << "    preempted  " << one.key.str() << " for " << one.preemptor->key.str() << " ("
        << one.reason << ")\n";
  }
  for (const auto& one : decisions.pending) {
    out << "    pending    " << one.key.str() << ": " << one.reason << ": " << one.message << "\n";
  }
  if (!step.queued.empty()) out << "    queued     " << joined(step.queued) << "\n";
  if (!step.inadmissible.empty()) out << "    parked     " << joined(step.inadmissible) << "\n";
  for (const auto& [queue, amounts] : step.usage) {
    out << "    usage      " << queue << ":";
    for (const auto& [name, amount] : amounts) out << " " << name << "=" << amount.str();
    out << "\n";
  }
}

Status run_file(const std::string& path, bool json, std::ostream& out) {
  const auto text = read_file(path, scenario_bytes_max);
  if (!text) return text.error();
  auto scenario = parse_scenario(*text);
  if (!scenario) return scenario.error().within(path);
  if (scenario->name.empty()) scenario->name = std::filesystem::path(path).stem().string();
  const auto steps = run_scenario(*scenario);
  if (!steps) return steps.error().within(path);
  if (json) {
    out << dump_json(to_json(scenario->name, *steps)) << std::endl;
    return ok();
  }
  out << scenario->name << "\n";
  for (std::size_t i = 0; i < steps->size(); ++i) print_step(i, (*steps)[i], out);
  return ok();
}

}  // namespace

int run_scenarios(const ScenarioCommand& command, std::ostream& out, std::ostream& err) {
  int exit_code = 0;
  const auto complain = [&](const Error& error) {
    err << "regatta: " << error.what() << std::endl;
    exit_code = 1;
  };
  for (const std::string& path : command.paths) {
    const auto files = files_of(path, {".json"});
    if (!files) {
      complain(files.error());
      continue;
    }
    for (const std::string& file : *files) {
      if (const Status run = run_file(file, command.json, out); !run) complain(run.error());
    }
  }
  return exit_code;
}

}  // namespace regatta::whatif
