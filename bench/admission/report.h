#pragma once

/// The measurements of a case and their table. Every case runs in a process of its own, so that its
/// peak memory is its own and it does not inherit a heap.
///
/// To add a case: declare its function in cases.h, define it in a file of its own, and list it in
/// all_cases() in main.cpp.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::admission::bench {

struct Cell {
  std::string column;  ///< snake_case; the JSON name of a number is <row>_<column>
  double value = 0;
  int decimals = 0;
};

/// One line of a table. Lines under one heading have the same columns.
struct Row {
  std::string name;  ///< snake_case, unique
  std::vector<Cell> cells;
};

class Report {
 public:
  void add(Row row) { rows_.push_back(std::move(row)); }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
};

struct Case {
  std::string name;     ///< its name on the command line
  std::string heading;  ///< the heading of its table
  std::function<void(Report*)> run;
};

struct Options {
  std::vector<std::string> only;  ///< names of cases; empty: all
  bool json = false;
};

/// Runs the cases and prints their tables. Returns the exit code.
int run_cases(const std::vector<Case>& cases, const Options& options);

}  // namespace regatta::admission::bench
