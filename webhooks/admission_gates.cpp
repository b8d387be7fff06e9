#include "webhooks/admission_gates.h"

#include "lib/api/names.h"
#include "lib/api/validation.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace regatta::webhooks {
namespace {

const std::string& gates_text(const Json& object) {
  return text_at(object_or_empty(object, {"metadata", "annotations"}),
                 api::annotations::admission_gated_by);
}

std::string field() {
  return api::at("metadata.annotations", std::string(api::annotations::admission_gated_by));
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(blanks) - begin + 1));
}

std::vector<std::string> split_gates(std::string_view text) {
  std::vector<std::string> out;
  if (trimmed(text).empty()) return out;
  while (true) {
    const std::size_t comma = text.find(',');
    out.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

bool is_path(std::string_view text) {
  constexpr std::string_view marks = "/-._~%!$&'()*+,;=:";
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           marks.find(c) != std::string_view::npos;
  });
}

void check_gate(const std::string& gate, api::ErrorList* errors) {
  const std::size_t slash = gate.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == gate.size()) {
    errors->invalid(field(), api::in_quotes(gate),
                    "must be a domain-prefixed path (such as \"acme.io/foo\")");
    return;
  }
  const std::string host = gate.substr(0, slash);
  const std::string path = gate.substr(slash + 1);
  errors->invalid_each(field(), host, api::check_dns1123_subdomain(host, "bytes"));
  if (!is_path(path)) {
    errors->invalid(
        field(), api::in_quotes(path),
        R"(Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+'))");
  }
}

}  // namespace

void check_admission_gates(const Json& object, api::ErrorList* errors) {
  const std::string& text = gates_text(object);
  // Each error shows the whole text, so none is worded twice.
  const auto refuse = [&](const std::string& why) {
    if (errors->is_full()) return errors->leave_out();
    errors->invalid(field(), api::in_quotes(text), why);
  };
  std::map<std::string, int> times;
  for (const std::string& gate : split_gates(text)) {
    const int time = ++times[gate];
    if (gate.empty()) {
      if (time == 1) refuse("cannot contain empty gate names");
    } else if (time == 2) {
      refuse("duplicate gate name: " + gate);
    } else if (time == 1) {
      check_gate(gate, errors);
      if (gate.size() > admission_gate_bytes_max) {
        errors->too_long(field(), admission_gate_bytes_max);
      }
    }
  }
}

void check_admission_gates_update(const Json& before, const Json& after, api::ErrorList* errors) {
  const std::string& old_text = gates_text(before);
  const std::string& text = gates_text(after);
  if (old_text.empty() && !text.empty()) {
    errors->forbidden(field(), "cannot add admission gate after creation");
  } else {
    const std::vector<std::string> gates = split_gates(old_text);
    const std::set<std::string> old(gates.begin(), gates.end());
    for (const std::string& gate : split_gates(text)) {
      if (old.contains(gate)) continue;
      errors->forbidden(field(), "can only remove gates, not add new ones");
      break;
    }
  }
  check_admission_gates(after, errors);
}

}  // namespace regatta::webhooks
