#include "clusters/plugin_runner.h"

#include "lib/base/duration.h"
#include "lib/base/limited_text.h"

#include <algorithm>
#include <cstring>

namespace regatta::clusters {
namespace {

/// As much of standard error as a condition shows.
constexpr std::size_t errors_shown_max = 200;

/// The beginning of standard error on one line, or nothing.
std::string complaint(std::string errors) {
  for (char& c : errors) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code >= 0x7f) c = ' ';
  }
  errors.erase(errors.find_last_not_of(' ') + 1);
  errors.erase(0, std::min(errors.find_first_not_of(' '), errors.size()));
  return errors.empty() ? errors : ": " + limited_text(std::move(errors), errors_shown_max);
}

Result<std::string> printed_by(ChildOutcome outcome, const ChildLimits& limits) {
  const auto failed = [&](const std::string& how) {
    return Error(Errc::unavailable, how + complaint(std::move(outcome.errors)));
  };
  switch (outcome.end) {
    case ChildOutcome::End::timed_out:
      return failed("it did not end within " + format_go_duration(limits.time));
    case ChildOutcome::End::too_much_output:
      return failed("it printed more than " + std::to_string(limits.output_max) + " bytes");
    case ChildOutcome::End::killed:
      return failed("it was ended by signal " + std::to_string(outcome.code));
    case ChildOutcome::End::exited:
      break;
  }
  if (outcome.code != 0) return failed("it ended with exit code " + std::to_string(outcome.code));
  return std::move(outcome.output);
}

}  // namespace

ProcessPluginRunner::ProcessPluginRunner(const Executor& executor, Clock& clock, ChildLimits limits)
    : clock_(clock), limits_(limits), ended_(executor) {}

Task<Result<std::string>> ProcessPluginRunner::run(api::ExecPlugin plugin, std::string exec_info) {
  while (running_ >= at_once_max) co_await ended_.wait();
  ++running_;
  struct Turn {
    ProcessPluginRunner& runner;
    ~Turn() {
      --runner.running_;
      runner.ended_.notify_one();
    }
  } turn{*this};
  ChildCommand command{plugin.command, plugin.args, plugin.env};
  std::erase_if(command.env, [](const auto& one) { return one.first == "KUBERNETES_EXEC_INFO"; });
  command.env.emplace_back("KUBERNETES_EXEC_INFO", std::move(exec_info));
  Result<ChildOutcome> outcome = co_await run_child(clock_, std::move(command), limits_);
  if (!outcome) co_return outcome.error();
  co_return printed_by(std::move(*outcome), limits_);
}

}  // namespace regatta::clusters
