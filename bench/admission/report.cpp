#include "bench/admission/report.h"

#include "lib/base/json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

namespace regatta::admission::bench {
namespace {

Json to_json(const Report& report) {
  Json rows = Json::array();
  for (const Row& row : report.rows()) {
    Json cells = Json::array();
    for (const Cell& cell : row.cells) cells.push_back({cell.column, cell.value, cell.decimals});
    rows.push_back({{"name", row.name}, {"cells", std::move(cells)}});
  }
  return rows;
}

std::vector<Row> from_json(const Json& json) {
  std::vector<Row> rows;
  for (const Json& one : json) {
    Row& row = rows.emplace_back();
    row.name = one.at("name").get<std::string>();
    for (const Json& cell : one.at("cells")) {
      row.cells.push_back({cell[0].get<std::string>(), cell[1].get<double>(), cell[2].get<int>()});
    }
  }
  return rows;
}

void write_all(int file, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(file, text.data() + at, text.size() - at);
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
}

std::string read_all(int file) {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(file, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

/// Runs the case in a child process. Unset when it failed.
std::optional<std::vector<Row>> measure(const Case& one) {
  int ends[2];
  if (::pipe(ends) != 0) return std::nullopt;
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    Report report;
    one.run(&report);
    write_all(ends[1], to_json(report).dump());
    std::_Exit(0);
  }
  ::close(ends[1]);
  const std::string text = child > 0 ? read_all(ends[0]) : std::string();
  ::close(ends[0]);
  int status = 0;
  if (child <= 0 || ::waitpid(child, &status, 0) != child || status != 0) return std::nullopt;
  return from_json(Json::parse(text));
}

std::string grouped(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", decimals, value);
  std::string out = text;
  const std::size_t dot = out.find('.');
  const std::size_t first = out.starts_with('-') ? 1 : 0;
  for (std::size_t at = dot == std::string::npos ? out.size() : dot; at > first + 3;) {
    at -= 3;
    out.insert(at, ",");
  }
  return out;
}

void print_heading(const Row& row) {
  std::printf("%-28s", "");
  for (const Cell& cell : row.cells) {
    std::string text = cell.column;
    std::replace(text.begin(), text.end(), '_', ' ');
    std::printf(" %*s", std::max(12, static_cast<int>(text.size())), text.c_str());
  }
  std::printf("\n");
}

void print(const Row& row) {
  std::string name = row.name;
  std::replace(name.begin(), name.end(), '_', ' ');
  std::printf("%-28s", name.c_str());
  for (const Cell& cell : row.cells) {
    const int width = std::max(12, static_cast<int>(cell.column.size()));
    std::printf(" %*s", width, grouped(cell.value, cell.decimals).c_str());
  }
  std::printf("\n");
}

}  // namespace

int run_cases(const std::vector<Case>& cases, const Options& options) {
  Json numbers = Json::object();
  std::string heading;
  bool failed = false;
  for (const Case& one : cases) {
    const auto& only = options.only;
    if (!only.empty() && std::find(only.begin(), only.end(), one.name) == only.end()) continue;
    const auto rows = measure(one);
    if (!rows || rows->empty()) {
      std::fprintf(stderr, "regatta_admission_bench: case %s failed\n", one.name.c_str());
      failed = true;
      continue;
    }
    if (heading != one.heading) {
      std::printf("%s%s\n", heading.empty() ? "" : "\n", one.heading.c_str());
      print_heading(rows->front());
      heading = one.heading;
    }
    for (const Row& row : *rows) {
      print(row);
      for (const Cell& cell : row.cells) numbers[row.name + "_" + cell.column] = cell.value;
    }
    std::fflush(stdout);
  }
  if (options.json) std::printf("%s\n", numbers.dump().c_str());
  return failed ? 1 : 0;
}

}  // namespace regatta::admission::bench
