#include "whatif/scenario/compare.h"

#include "lib/api/quantity.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace regatta::whatif {
namespace {

Json number(const Json& quantity) {
  const auto amount = api::Quantity::parse(quantity.get<std::string>());
  return {amount->value(), amount->milli_value()};
}

/// Writes quantities in one spelling and adds optional fields, so that equal decisions are equal
/// documents.
Json normal_admission(Json admission) {
  for (Json& set : admission.at("podSetAssignments")) {
    for (const char* key : {"flavors", "resourceUsage"}) {
      if (!set.contains(key)) set[key] = Json::object();
    }
    for (Json& amount : set["resourceUsage"]) amount = number(amount);
  }
  return admission;
}

Json normal_usage(Json usage) {
  for (Json& queue : usage) {
    for (Json& amount : queue) amount = number(amount);
  }
  return usage;
}

Json reasons_of(const Json& pending) {
  Json out = Json::object();
  for (const auto& [key, value] : pending.items()) out[key] = value.at("reason");
  return out;
}

bool same_share(double expected, double actual) {
  if (expected == actual) return true;
  return std::abs(expected - actual) <= 1e-9 * std::abs(expected);
}

class Comparer {
 public:
  ScenarioComparison take() { return std::move(out_); }

  /// Whether all decisions are the same.
  bool step(std::size_t number, const Json& expect, const Json& observed) {
    where_ = "step " + std::to_string(number) + ": ";
    const std::size_t before = out_.mismatches.size();
    for (const char* key : {"cycle", "preempted", "queued", "inadmissible"}) {
      same(key, expect.at(key), observed.at(key));
    }
    same("pending", reasons_of(expect.at("pending")), reasons_of(observed.at("pending")));
    same("usage", normal_usage(expect.at("usage")), normal_usage(observed.at("usage")));
    admitted(expect.at("admitted"), observed.at("admitted"));
    if (expect.contains("shares")) shares(expect.at("shares"), observed.at("shares"));
    messages(expect.at("pending"), observed.at("pending"));
    return out_.mismatches.size() == before;
  }

  void mismatch(const std::string& text) { out_.mismatches.push_back(where_ + text); }

 private:
  void same(const std::string& what, const Json& expected, const Json& actual) {
    if (expected == actual) return;
    mismatch(what + " expected " + dump_json(expected) + ", got " + dump_json(actual));
  }

  void admitted(Json expected, Json actual) {
    for (Json& one : expected) one = normal_admission(std::move(one));
    for (Json& one : actual) one = normal_admission(std::move(one));
    same("admitted", expected, actual);
  }

  void shares(const Json& expected, const Json& actual) {
    for (const auto& [name, value] : expected.items()) {
      if (!actual.contains(name)) {
        mismatch("no share of " + name);
        continue;
      }
      const double wanted = std::stod(value.get<std::string>());
      const double got = std::stod(actual.at(name).get<std::string>());
      if (!same_share(wanted, got)) same("share of " + name, value, actual.at(name));
    }
  }

  void messages(const Json& expected, const Json& actual) {
    for (const auto& [key, value] : expected.items()) {
      if (!actual.contains(key)) continue;
      std::set<std::string> texts{value.at("message").get<std::string>()};
      for (const Json& other : value.value("messageAlternatives", Json::array())) {
        texts.insert(other.get<std::string>());
      }
      const auto got = actual.at(key).at("message").get<std::string>();
      ++out_.messages;
      if (texts.contains(got)) {
        ++out_.messages_matched;
      } else {
        out_.message_mismatches.push_back(where_ + key + "\n  expected: " + *texts.begin() +
                                          "\n  got:      " + got);
      }
    }
  }

  std::string where_;
  ScenarioComparison out_;
};

}  // namespace

ScenarioComparison compare(const Json& scenario, const Json& observed) {
  Comparer comparer;
  const Json& expected = scenario.at("steps");
  const Json& actual = observed.at("steps");
  if (expected.size() != actual.size()) comparer.mismatch("different number of steps");
  for (std::size_t i = 0; i < std::min(expected.size(), actual.size()); ++i) {
    if (!comparer.step(i, expected[i].at("expect"), actual[i])) break;
  }
  return comparer.take();
}

}  // namespace regatta::whatif
