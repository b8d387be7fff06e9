#include "whatif/command/progress.h"

#include "whatif/timeline/duration.h"

#include <algorithm>
#include <ostream>

namespace regatta::whatif {
namespace {

constexpr Duration silent = std::chrono::seconds(1);
constexpr Duration between_pictures{100};
constexpr Duration between_lines = std::chrono::seconds(10);
constexpr int cells = 30;

double part_of(const Progress& progress) {
  if (progress.of <= Duration(0)) return 1;
  return std::clamp(double(progress.simulated.count()) / double(progress.of.count()), 0.0, 1.0);
}

}  // namespace

std::string progress_line(const Progress& progress) {
  const double part = part_of(progress);
  const auto filled = static_cast<std::size_t>(part * cells);
  std::string percent = std::to_string(static_cast<int>(part * 100));
  percent.insert(0, 3 - percent.size(), ' ');
  std::string line = "[" + std::string(filled, '#') + std::string(cells - filled, '-') + "] " +
                     percent + " %  " + format_duration(progress.simulated) + " of " +
                     format_duration(progress.of);
  if (progress.events_of > 0) {
    line += ", " + std::to_string(progress.events) + " of " + std::to_string(progress.events_of) +
            " events";
  }
  return line + ", " + std::to_string(progress.unfinished) + " jobs unfinished";
}

ProgressBar::ProgressBar(std::ostream& out, bool terminal, const Clock& clock)
    : out_(out), terminal_(terminal), clock_(clock), began_(clock.steady()), shown_(began_) {}

ProgressBar::~ProgressBar() {
  if (width_ > 0) out_ << '\r' << std::string(width_, ' ') << '\r' << std::flush;
}

void ProgressBar::show(const Progress& progress) {
  const SteadyPoint now = clock_.steady();
  if (now - began_ < silent) return;
  if (now - shown_ < (terminal_ ? between_pictures : between_lines)) return;
  shown_ = now;
  std::string line = progress_line(progress);
  if (!terminal_) {
    out_ << line << std::endl;
    return;
  }
  const std::size_t width = line.size();
  if (width < width_) line.append(width_ - width, ' ');
  width_ = width;
  out_ << '\r' << line << std::flush;
}

}  // namespace regatta::whatif
