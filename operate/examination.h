#pragma once

#include "lib/base/json.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace regatta::operate {

enum class Severity { warning, error };

/// One thing that is not as it should be, and what to do.
struct Finding {
  Severity severity = Severity::error;
  std::string where;  ///< "hub", or the name of a worker
  std::string what;
  std::string todo;
};

/// What was found, and what could not be looked at. Neither holds a secret.
struct Examination {
  std::vector<Finding> findings;
  std::vector<std::string> unchecked;
  int checks = 0;  ///< questions that had an answer

  void error(std::string where, std::string what, std::string todo) {
    findings.push_back({Severity::error, std::move(where), std::move(what), std::move(todo)});
  }
  void warn(std::string where, std::string what, std::string todo) {
    findings.push_back({Severity::warning, std::move(where), std::move(what), std::move(todo)});
  }
  void cannot_check(std::string what) { unchecked.push_back(std::move(what)); }
};

Json to_json(const Examination& examination);
void print(const Examination& examination, std::ostream& out);

}  // namespace regatta::operate
