#include "lab/demo/board.h"

#include <algorithm>
#include <array>
#include <utility>

namespace regatta::lab {
namespace {

constexpr int bar_width = 24;
constexpr int name_width = 10;

struct Look {
  const char* word;
  const char* colour;
  int order;  ///< position on the board
};
// In the order of Phase.
constexpr std::array<Look, 6> looks = {{{"pending", "\x1b[2m", 4},
                                        {"racing", "\x1b[33m", 2},
                                        {"won", "\x1b[36m", 1},
                                        {"running", "\x1b[34m", 0},
                                        {"finished", "\x1b[32m", 5},
                                        {"failed", "\x1b[31m", 3}}};

const Look& look_of(Phase phase) {
  return looks[static_cast<std::size_t>(phase)];
}

std::string padded(std::string text, int width) {
  if (static_cast<int>(text.size()) < width) text.resize(static_cast<std::size_t>(width), ' ');
  return text;
}

std::string fitted(std::string text, int columns, const char* colour) {
  if (static_cast<int>(text.size()) > columns) text.resize(static_cast<std::size_t>(columns));
  return colour ? colour + text + "\x1b[0m" : text;
}

std::string tenths_of_seconds(Duration d) {
  const auto tenths = d.count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "s";
}

std::string bar(std::int64_t used, std::int64_t capacity) {
  const std::int64_t filled =
      capacity <= 0 ? 0 : std::clamp<std::int64_t>(used * bar_width / capacity, 0, bar_width);
  return "[" + std::string(static_cast<std::size_t>(filled), '#') +
         std::string(static_cast<std::size_t>(bar_width - filled), '.') + "]";
}

std::string lane_line(const std::string& name, const Lane& lane) {
  std::string out = padded(name, name_width);
  out += " cpu " + bar(lane.used.cpu_milli, lane.capacity.cpu_milli) + " " +
         padded(std::to_string(lane.used.cpu_milli / 1000) + "/" +
                    std::to_string(lane.capacity.cpu_milli / 1000),
                8);
  if (lane.capacity.accelerators > 0) {
    out += "gpu " + std::to_string(lane.used.accelerators) + "/" +
           std::to_string(lane.capacity.accelerators);
  }
  return out;
}

std::string counts_line(const Race& race, Duration elapsed) {
  std::array<int, looks.size()> counts{};
  for (const auto& [key, runner] : race.runners()) {
    ++counts[static_cast<std::size_t>(runner.phase())];
  }
  std::string out = padded(tenths_of_seconds(elapsed), name_width);
  for (std::size_t i = 0; i < looks.size(); ++i) {
    if (counts[i] > 0) out += " " + std::to_string(counts[i]) + " " + looks[i].word;
  }
  return out;
}

}  // namespace

std::vector<std::string> draw_board(const Race& race, Duration elapsed, BoardSize size,
                                    bool colour) {
  const int columns = std::max(20, size.columns - 1);
  std::vector<std::string> lines = {
      fitted(counts_line(race, elapsed), columns, colour ? "\x1b[1m" : nullptr)};
  const std::map<std::string, Lane> lanes = race.lanes();
  for (const std::string& worker : race.workers()) {
    const auto lane = lanes.find(worker);
    if (lane != lanes.end())
      lines.push_back(fitted(lane_line(worker, lane->second), columns, nullptr));
  }
  std::vector<const Runner*> order;
  for (const auto& [key, runner] : race.runners()) order.push_back(&runner);
  std::sort(order.begin(), order.end(), [](const Runner* a, const Runner* b) {
    return std::pair(look_of(a->phase()).order, a->job.key) <
           std::pair(look_of(b->phase()).order, b->job.key);
  });
  // One row stays free for the cursor, one for the count of hidden rows.
  const std::size_t rows = static_cast<std::size_t>(std::max(4, size.rows - 2)) > lines.size()
                               ? static_cast<std::size_t>(std::max(4, size.rows - 2)) - lines.size()
                               : 0;
  for (std::size_t i = 0; i < order.size() && i < rows; ++i) {
    const Runner& runner = *order[i];
    std::string line = padded(runner.job.key.name, name_width) + " " +
                       padded(runner.job.key.ns, 14) + " " + padded(runner.job.kind, 11) + " " +
                       describe(runner);
    lines.push_back(
        fitted(std::move(line), columns, colour ? look_of(runner.phase()).colour : nullptr));
  }
  if (order.size() > rows) {
    lines.push_back(
        fitted("… and " + std::to_string(order.size() - rows) + " more", columns, nullptr));
  }
  return lines;
}

}  // namespace regatta::lab
