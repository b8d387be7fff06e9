#pragma once

/// What a case measures and how it is shown. Every case runs in a process of its own, so that its
/// peak memory is its own and no case inherits the heap of another.
///
/// To add a case: declare its function in cases.h, define it in a file of its own, and list it in
/// all_cases() in main.cpp.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::admission::bench {

struct Cell {
  std::string column;  ///< snake_case; a number is called <row>_<column>
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
  std::string name;     ///< as on the command line
  std::string heading;  ///< of its table
  std::function<void(Report*)> run;
};

struct Options {
  std::vector<std::string> only;  ///< names of cases; empty: all
  bool json = false;
};

/// Runs the cases and prints their tables; the exit code.
int run_cases(const std::vector<Case>& cases, const Options& options);

}  // namespace regatta::admission::bench
