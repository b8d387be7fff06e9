#include "lab/demo/screen.h"

#include "lab/demo/board.h"

#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace regatta::lab {
namespace {

BoardSize size_of_terminal() {
  winsize size{};
  BoardSize out;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    out.columns = size.ws_col;
    out.rows = size.ws_row;
  }
  return out;
}

bool can_redraw() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && terminal && std::string_view(terminal) != "dumb";
}

}  // namespace

Screen::Screen(TimePoint start) : start_(start), live_(can_redraw()) {}

void Screen::show(const Race& race, TimePoint now) {
  if (live_) {
    draw(race, now);
  } else {
    tell(race, now);
  }
}

void Screen::draw(const Race& race, TimePoint now) {
  const bool colour = std::getenv("NO_COLOR") == nullptr;
  const auto lines = draw_board(race, now - start_, size_of_terminal(), colour);
  std::string out;
  if (drawn_ > 0) out += "\x1b[" + std::to_string(drawn_) + "A";
  for (const std::string& line : lines) out += "\r" + line + "\x1b[K\n";
  out += "\x1b[J";
  drawn_ = lines.size();
  std::cout << out << std::flush;
}

void Screen::tell(const Race& race, TimePoint now) {
  for (const auto& [key, runner] : race.runners()) {
    std::string what = describe(runner);
    std::string& before = told_[key];
    if (what == before) continue;
    before = std::move(what);
    const double elapsed = static_cast<double>((now - start_).count()) / 1000.0;
    std::cout << std::fixed << std::setprecision(1) << std::setw(6) << elapsed << "s  " << key.str()
              << " (" << runner.job.kind << ") " << before << '\n';
  }
  std::cout << std::flush;
}

}  // namespace regatta::lab
