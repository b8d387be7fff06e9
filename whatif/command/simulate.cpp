#include "whatif/command/simulate.h"

#include "lib/api/yaml.h"
#include "whatif/command/progress.h"
#include "whatif/render/compare.h"
#include "whatif/render/plot.h"
#include "whatif/render/tables.h"
#include "whatif/timeline/duration.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <ostream>
#include <set>

namespace regatta::whatif {
namespace {

constexpr int misuse_code = 2;
constexpr int interrupted_code = 130;

/// Contents of files are quoted in messages. They must not control the terminal.
std::string printable(std::string text) {
  const auto controls = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(text.begin(), text.end(), controls, ' ');
  return text;
}

class Simulating {
 public:
  Simulating(const SimulateCommand& command, const Clock& clock, std::ostream& out,
             std::ostream& err)
      : command_(command), clock_(clock), out_(out), err_(err) {}

  int run() {
    auto input = load(command_.simulation);
    std::optional<SimulationInput> compared;
    if (command_.compared) compared = load(*command_.compared);
    if (!input || (command_.compared && !compared)) return exit_code_;
    if (!open_plot()) return 1;
    if (!command_.explain.empty()) return explain(std::move(*input));
    const Report report = simulate_one(std::move(*input));
    if (!compared) {
      print_report(report);
      return finish({&report});
    }
    const Report other = simulate_one(std::move(*compared));
    print_comparison(report, other);
    return finish({&report, &other});
  }

 private:
  std::optional<SimulationInput> load(const SimulationOptions& options) {
    LoadedSimulation loaded = load_simulation(options);
    for (const std::string& error : loaded.misuse) tell("regatta: " + error);
    for (const std::string& error : loaded.errors) tell("regatta: " + error);
    if (!loaded.errors.empty()) exit_code_ = 1;
    if (exit_code_ == 0 && !loaded.misuse.empty()) exit_code_ = misuse_code;
    for (const std::string& text : loaded.warnings) tell("warning: " + text);
    for (const std::string& text : loaded.notes) tell("note: " + text);
    return std::move(loaded.input);
  }

  /// Prints each text once, because two simulations may read the same files.
  void tell(const std::string& text) {
    if (told_.insert(text).second) err_ << printable(text) << "\n";
  }

  /// Before the simulation: a long one must not fail at its end because of the path.
  bool open_plot() {
    if (command_.plot.empty()) return true;
    plot_.open(command_.plot, std::ios::binary | std::ios::trunc);
    if (!plot_) err_ << "regatta: --plot " << command_.plot << ": cannot be written\n";
    return plot_.is_open();
  }

  bool goes_on() { return !command_.interrupted || !command_.interrupted(); }

  Report simulate_one(SimulationInput input) {
    Report report;
    {
      ProgressBar bar(err_, command_.terminal, clock_);
      report = simulate(std::move(input), [&](const Progress& progress) {
        bar.show(progress);
        return goes_on();
      });
    }
    const std::string name = report.name.empty() ? "" : report.name + ": ";
    for (const std::string& warning : report.warnings) {
      err_ << "warning: " << name << warning << "\n";
    }
    return report;
  }

  int explain(SimulationInput input) {
    ProgressBar bar(err_, command_.terminal, clock_);
    bool ended_early = false;
    const auto told =
        explain_simulated(std::move(input), command_.explain, [&](const Progress& progress) {
          bar.show(progress);
          ended_early = !goes_on();
          return !ended_early;
        });
    if (!told) {
      err_ << "regatta: " << told.error().what() << "\n";
      return 1;
    }
    if (command_.output == ReportOutput::table) {
      print(*told, out_);
    } else {
      print_json(to_json(*told));
    }
    if (ended_early) return interrupted_code;
    const bool unknown =
        std::any_of(told->begin(), told->end(), [](const ToldWish& one) { return one.unknown(); });
    return unknown ? 1 : 0;
  }

  void print_json(const Json& json) {
    if (command_.output == ReportOutput::yaml) {
      out_ << api::dump_yaml(json) << std::flush;
    } else {
      out_ << dump_json(json) << std::endl;
    }
  }

  void print_report(const Report& report) {
    if (command_.output == ReportOutput::table) {
      print(report, out_);
    } else {
      print_json(to_json(report, command_.format));
    }
  }

  void print_comparison(const Report& before, const Report& after) {
    const Comparison comparison = compare(before, after);
    if (command_.output == ReportOutput::table) return print(comparison, out_);
    print_json({{"before", to_json(before, command_.format)},
                {"after", to_json(after, command_.format)},
                {"comparison", to_json(comparison)}});
  }

  int finish(const std::vector<const Report*>& reports) {
    if (!command_.plot.empty()) {
      plot_ << plot_svg(reports);
      plot_.close();
      if (!plot_) {
        err_ << "regatta: --plot " << command_.plot << ": cannot be written\n";
        return 1;
      }
    }
    for (const Report* report : reports) {
      if (!report->interrupted) continue;
      err_ << "interrupted after " << format_duration(report->length) << "\n";
      return interrupted_code;
    }
    return 0;
  }

  const SimulateCommand& command_;
  const Clock& clock_;
  std::ostream& out_;
  std::ostream& err_;
  std::ofstream plot_;
  int exit_code_ = 0;  ///< when input cannot be read
  std::set<std::string> told_;
};

}  // namespace

int run_simulation(const SimulateCommand& command, const Clock& clock, std::ostream& out,
                   std::ostream& err) {
  return Simulating(command, clock, out, err).run();
}

}  // namespace regatta::whatif
