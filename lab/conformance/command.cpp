#include "lab/conformance/command.h"

#include "lab/conformance/compare.h"
#include "lab/conformance/corpus.h"
#include "whatif/files.h"

#include <nlohmann/json.hpp>

#include <map>
#include <ostream>

namespace regatta::lab {
namespace {

struct Tally {
  int total = 0;
  int matched = 0;
  int messages = 0;
  int messages_matched = 0;
  int failed = 0;  ///< could not be played
};

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

  int run() {
    const auto files = whatif::files_of(options_.folder, {".json"});
    if (!files) {
      err_ << "regatta-lab: " << files.error().what() << "\n";
      return 1;
    }
    for (const std::string& file : *files) play_file(file);
    if (!options_.json) print_tallies();
    err_.flush();
    return failed_ ? 1 : 0;
  }

 private:
  void complain(const Error& error) {
    err_ << "regatta-lab: " << error.what() << "\n";
    failed_ = true;
  }

  void play_file(const std::string& path) {
    const auto scenario = read_scenario_file(path);
    if (!scenario) return complain(scenario.error());
    const auto outcome = play(*scenario);
    if (!outcome) {
      ++tallies_[group_of(*scenario)].failed;
      return complain(outcome.error().within(path));
    }
    if (options_.json) {
      out_ << dump_json(*outcome) << "\n";
    } else {
      judge(path, *scenario, *outcome);
    }
  }

  void judge(const std::string& path, const Json& scenario, const Json& outcome) {
    const Differences differences = compare(scenario, outcome);
    Tally& tally = tallies_[group_of(scenario)];
    ++tally.total;
    tally.messages += differences.message_count;
    tally.messages_matched +=
        differences.message_count - static_cast<int>(differences.messages.size());
    if (differences.decisions.empty()) ++tally.matched;
    if (!differences.decisions.empty()) failed_ = true;
    for (const auto* texts : {&differences.decisions, &differences.messages}) {
      for (const std::string& text : *texts) out_ << path << ": " << text << "\n";
    }
  }

  void print_tallies() {
    for (const auto& [group, tally] : tallies_) {
      out_ << group << ": " << tally.matched << "/" << tally.total << " scenarios, "
           << tally.messages_matched << "/" << tally.messages << " messages";
      if (tally.failed > 0) out_ << ", " << tally.failed << " not played";
      out_ << "\n";
    }
    out_.flush();
  }

  const ConformanceOptions& options_;
  std::ostream& out_;
  std::ostream& err_;
  std::map<std::string, Tally> tallies_;
  bool failed_ = false;
};

}  // namespace

int run_conformance(const ConformanceOptions& options, std::ostream& out, std::ostream& err) {
  return Run(options, out, err).run();
}

}  // namespace regatta::lab
