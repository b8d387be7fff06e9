#include "whatif/command/simulate.h"

#include "lib/api/yaml.h"
#include "whatif/command/progress.h"
#include "whatif/table.h"
#include "whatif/timeline/duration.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <ostream>

namespace regatta::whatif {
namespace {

constexpr int interrupted_code = 130;

std::string seconds_text(double seconds) {
  return format_duration(Duration(static_cast<Duration::rep>(seconds * 1000)));
}

std::string percent_text(double part) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", part * 100);
  return text;
}

void print_table(const Report& report, std::ostream& out) {
  const Totals& totals = report.totals;
  out << "simulated " << format_duration(report.length) << ": " << totals.submitted
      << " workloads, " << totals.finished << " finished, " << totals.failed << " failed, "
      << totals.pending << " waiting, " << totals.preemptions << " preemptions\n"
      << "waiting " << seconds_text(totals.waiting.mean) << " on average, half of them less than "
      << seconds_text(totals.waiting.p50) << ", 95 % less than " << seconds_text(totals.waiting.p95)
      << "\n"
      << "utilisation of " << totals.scarcest << " " << percent_text(totals.utilisation) << "\n\n";
  Table table({"cluster", "queue", ">submitted", ">admitted", ">finished", ">waiting", ">preempted",
               ">mean wait", ">95 % wait"});
  for (const QueueReport& queue : report.queues) {
    table.add({queue.cluster, queue.name, std::to_string(queue.submitted),
               std::to_string(queue.admitted), std::to_string(queue.finished),
               std::to_string(queue.pending), std::to_string(queue.preempted),
               seconds_text(queue.waiting.mean), seconds_text(queue.waiting.p95)});
  }
  table.print(out);
}

void print_report(const Report& report, const SimulateCommand& command, std::ostream& out) {
  switch (command.output) {
    case ReportOutput::table:
      return print_table(report, out);
    case ReportOutput::json:
      out << dump_json(to_json(report, command.format)) << std::endl;
      return;
    case ReportOutput::yaml:
      out << api::dump_yaml(to_json(report, command.format)) << std::flush;
      return;
  }
}

}  // namespace

int run_simulation(const SimulateCommand& command, const Clock& clock, std::ostream& out,
                   std::ostream& err) {
  LoadedSimulation loaded = load_simulation(command.simulation);
  for (const std::string& error : loaded.errors) err << "regatta: " << error << "\n";
  for (const std::string& note : loaded.notes) err << "note: " << note << "\n";
  if (!loaded.input) return 1;
  Report report;
  {
    ProgressBar bar(err, command.terminal, clock);
    report = simulate(std::move(*loaded.input), [&](const Progress& progress) {
      bar.show(progress);
      return !command.interrupted || !command.interrupted();
    });
  }
  for (const std::string& warning : report.warnings) err << "warning: " << warning << "\n";
  print_report(report, command, out);
  if (!report.interrupted) return 0;
  err << "interrupted after " << format_duration(report.length) << "\n";
  return interrupted_code;
}

}  // namespace regatta::whatif
