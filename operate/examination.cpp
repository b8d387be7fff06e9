#include "operate/examination.h"

#include <nlohmann/json.hpp>

#include <ostream>

namespace regatta::operate {

Json to_json(const Examination& examination) {
  Json findings = Json::array();
  for (const Finding& one : examination.findings) {
    findings.push_back({{"severity", one.severity == Severity::error ? "error" : "warning"},
                        {"where", one.where},
                        {"what", one.what},
                        {"todo", one.todo}});
  }
  return {{"findings", std::move(findings)},
          {"unchecked", examination.unchecked},
          {"checks", examination.checks}};
}

void print(const Examination& examination, std::ostream& out) {
  for (const Finding& one : examination.findings) {
    out << (one.severity == Severity::error ? "ERROR    " : "WARNING  ") << one.where << ": "
        << one.what << "\n         " << one.todo << "\n";
  }
  for (const std::string& one : examination.unchecked) out << "SKIPPED  " << one << "\n";
  out << examination.checks << " checks, " << examination.findings.size() << " findings, "
      << examination.unchecked.size() << " skipped\n";
}

}  // namespace regatta::operate
