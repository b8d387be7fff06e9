#include "lab/conformance/command.h"

#include "lab/conformance/areas.h"
#include "lab/conformance/compare.h"
#include "lab/conformance/corpus.h"
#include "lab/conformance/job_compare.h"
#include "lib/base/json_access.h"
#include "whatif/files.h"

#include <nlohmann/json.hpp>

#include <map>
#include <ostream>

namespace regatta::lab {
namespace {

Result<Json> read_scenario_file(const std::string& path) {
  const auto text = whatif::read_file(path, scenario_file_bytes_max);
  if (!text) return text.error();
  const auto scenario = parse_json(*text);
  if (!scenario) return scenario.error().within(path);
  return *scenario;
}

class Run {
 public:
  Run(const ConformanceOptions& options, std::ostream& out, std::ostream& err)
      : options_(options), out_(out), err_(err) {}

  Played run() {
    const auto files = whatif::files_of(options_.folder, {".json"});
    if (!files) {
      complain(files.error());
    } else {
      for (const std::string& file : *files) play_file(file);
    }
    err_.flush();
    return std::move(played_);
  }

 private:
  void complain(const Error& error) {
    err_ << "regatta-lab: " << error.what() << "\n";
    played_.fine = false;
  }

  void play_file(const std::string& path) {
    const auto scenario = read_scenario_file(path);
    if (!scenario) return complain(scenario.error());
    const auto outcome = play(*scenario);
    if (!outcome) {
      ++played_.groups[group_of(*scenario)].failed;
      return complain(outcome.error().within(path));
    }
    if (options_.json) {
      out_ << dump_json(*outcome) << "\n";
    } else if (is_jobs_scenario(*scenario)) {
      judge_steps(path, *scenario, *outcome);
    } else {
      judge(path, *scenario, *outcome);
    }
  }

  void judge(const std::string& path, const Json& scenario, const Json& outcome) {
    count(path, compare(scenario, outcome), &played_.groups[group_of(scenario)]);
  }

  void judge_steps(const std::string& path, const Json& scenario, const Json& outcome) {
    const Json& steps = list_or_empty(scenario, "steps");
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Json& got = outcome["steps"][i];
      Tally& tally = played_.groups[group_of(scenario) + " " + text_at(steps[i], "op")];
      if (got.contains("notImplemented")) {
        ++tally.total;
        ++tally.not_implemented;
        played_.fine = false;
        continue;
      }
      const std::string at = path + ": step " + std::to_string(i);
      count(at, compare_job_step(steps[i], got["expect"]), &tally);
    }
  }

  void count(const std::string& path, const Differences& differences, Tally* counted) {
    Tally& tally = *counted;
    ++tally.total;
    tally.messages += differences.message_count;
    tally.messages_matched +=
        differences.message_count - static_cast<int>(differences.messages.size());
    if (differences.decisions.empty()) ++tally.matched;
    if (!differences.decisions.empty()) played_.fine = false;
    for (const auto* texts : {&differences.decisions, &differences.messages}) {
      for (const std::string& text : *texts) out_ << path << ": " << text << "\n";
    }
  }

  const ConformanceOptions& options_;
  std::ostream& out_;
  std::ostream& err_;
  Played played_;
};

void print_tallies(const Played& played, std::ostream& out) {
  for (const auto& [group, tally] : played.groups) {
    const bool steps = group.find(' ') != std::string::npos;
    out << group << ": " << tally.matched << "/" << tally.total
        << (steps ? " outcomes, " : " scenarios, ") << tally.messages_matched << "/"
        << tally.messages << " messages";
    if (tally.failed > 0) out << ", " << tally.failed << " not played";
    if (tally.not_implemented > 0) out << ", " << tally.not_implemented << " not implemented";
    out << "\n";
  }
  out.flush();
}

}  // namespace

Played play_folder(const ConformanceOptions& options, std::ostream& out, std::ostream& err) {
  return Run(options, out, err).run();
}

int run_conformance(const ConformanceOptions& options, std::ostream& out, std::ostream& err) {
  const Played played = play_folder(options, out, err);
  if (!options.json) print_tallies(played, out);
  return played.fine ? 0 : 1;
}

}  // namespace regatta::lab
