#include "lab/conformance/compare.h"

#include "lab/conformance/corpus.h"
#include "lib/base/json_access.h"
#include "whatif/scenario/compare.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <regex>

namespace regatta::lab {
namespace {

constexpr std::string_view not_checked = "some validation rules were not checked";

/// Whether a value is empty or zero throughout.
bool is_noise(const Json& value) {
  if (value.is_structured()) {
    return std::all_of(value.begin(), value.end(), [](const Json& one) { return is_noise(one); });
  }
  return value.is_null() || value == 0 || value == "" || value == false;
}

/// The value without members that are noise and that the input does not have.
Json without_noise(const Json& value, const Json& input) {
  if (value.is_array()) {
    Json out = Json::array();
    for (std::size_t i = 0; i < value.size(); ++i) {
      const bool known = input.is_array() && i < input.size();
      out.push_back(without_noise(value[i], known ? input[i] : Json()));
    }
    return out;
  }
  if (!value.is_object()) return value;
  Json out = Json::object();
  for (const auto& [key, one] : value.items()) {
    const bool known = input.is_object() && input.contains(key);
    if (known || !is_noise(one)) out[key] = without_noise(one, known ? input[key] : Json());
  }
  return out;
}

Json without_nulls(const Json& value) {
  Json out = value.is_array() ? Json::array() : Json::object();
  if (value.is_array()) {
    for (const Json& one : value) out.push_back(without_nulls(one));
    return out;
  }
  if (!value.is_object()) return value;
  for (const auto& [key, one] : value.items()) {
    if (!one.is_null()) out[key] = without_nulls(one);
  }
  return out;
}

/// The reference prints an address where a number is meant.
std::string without_pointer(const std::string& text) {
  static const std::regex multiple("is not a multiple of (<pointer>|[0-9a-zA-Z]+)");
  return std::regex_replace(text, multiple, "is not a multiple of N");
}

class Comparer {
 public:
  void same(const std::string& what, const Json& wanted, const Json& got) {
    if (wanted == got) return;
    out_.decisions.push_back(what + "\n  expected: " + dump_json(wanted) +
                             "\n  got:      " + dump_json(got));
  }

  void same_text(const std::string& what, const std::string& wanted, const std::string& got) {
    ++out_.message_count;
    if (without_pointer(wanted) == without_pointer(got)) return;
    out_.messages.push_back(what + "\n  expected: " + wanted + "\n  got:      " + got);
  }

  void errors(const Json& wanted, const Json& got) {
    const auto sorted = [](const Json& list) {
      std::vector<std::array<std::string, 4>> out;
      for (const Json& error : list) {
        if (text_at(error, "detail").starts_with(not_checked)) continue;
        out.push_back({text_at(error, "field"), text_at(error, "type"),
                       without_pointer(text_at(error, "detail")), text_at(error, "message")});
      }
      std::sort(out.begin(), out.end());
      return out;
    };
    const auto a = sorted(wanted), b = sorted(got);
    const bool same = a.size() == b.size() &&
                      std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
                        return x[0] == y[0] && x[1] == y[1] && x[2] == y[2];
                      });
    if (!same) return this->same("errors", wanted, got);
    for (std::size_t i = 0; i < a.size(); ++i) same_text("error", a[i][3], b[i][3]);
  }

  void status(const Json& wanted, const Json& got) {
    same("status.code", at_or_null(wanted, "code"), at_or_null(got, "code"));
    same("status.reason", at_or_null(wanted, "reason"), at_or_null(got, "reason"));
    const std::string& text = text_at(wanted, "message");
    const bool of_decoder = text.find("json: ") != std::string::npos;
    if (!of_decoder && (!text.empty() || got.contains("message"))) {
      same_text("status.message", text, text_at(got, "message"));
    }
  }

  void members_of(const Json& wanted, const Json& got, std::initializer_list<const char*> names) {
    for (const char* name : names) same(name, at_or_null(wanted, name), at_or_null(got, name));
  }

  Differences take() { return std::move(out_); }

 private:
  Differences out_;
};

Differences compare_one(const Json& expect, const Json& got) {
  Comparer comparer;
  comparer.members_of(expect, got, {"allowed"});
  comparer.errors(list_or_empty(expect, "errors"), list_or_empty(got, "errors"));
  if (expect.contains("response")) {
    comparer.status(at_or_null(expect["response"], "status"),
                    at_or_null(at_or_null(got, "response"), "status"));
  }
  comparer.members_of(expect, got, {"object", "prunedFields"});
  return comparer.take();
}

/// Of a validation, which may have several right outcomes.
Differences compare_validation(const Json& expect, const Json& got) {
  if (!expect.contains("errorsAnyOf")) return compare_one(expect, got);
  Differences best;
  bool first = true;
  for (std::size_t i = 0; i < expect["errorsAnyOf"].size(); ++i) {
    const Json one{{"allowed", at_or_null(expect, "allowed")},
                   {"errors", expect["errorsAnyOf"][i]}};
    Differences here = compare_one(one, got);
    const auto rank = [](const Differences& d) {
      return std::pair(d.decisions.size(), d.messages.size());
    };
    if (first || rank(here) < rank(best)) best = std::move(here);
    first = false;
  }
  const std::string& text = text_at(got, {"response", "status", "message"});
  const Json& right = list_or_empty(expect, "responseAnyOf");
  ++best.message_count;
  const bool known = std::any_of(right.begin(), right.end(), [&](const Json& response) {
    return text_at(response, {"status", "message"}) == text;
  });
  if (!known && !right.empty()) best.messages.push_back("status.message\n  got:      " + text);
  return best;
}

Differences compare_default(const Json& scenario, const Json& expect, const Json& got) {
  Comparer comparer;
  comparer.members_of(expect, got, {"allowed", "patched"});
  comparer.status(at_or_null(expect, "status"), at_or_null(got, "status"));
  const Json& input = at_or_null(scenario, "object");
  comparer.same("object", without_noise(at_or_null(expect, "object"), input),
                without_noise(at_or_null(got, "object"), input));
  return comparer.take();
}

Json patched(const Json& object, const Json& response) {
  const Json& patch = list_or_empty(response, "patchDecoded");
  return patch.empty() ? object : object.patch(patch);
}

Differences compare_review(const Json& scenario, const Json& expect, const Json& got) {
  Comparer comparer;
  comparer.members_of(expect, got, {"httpStatus"});
  const Json& wanted = at_or_null(expect, "body");
  const Json& body = at_or_null(got, "body");
  comparer.members_of(wanted, body, {"apiVersion", "kind"});
  const Json& wanted_response = at_or_null(wanted, "response");
  const Json& response = at_or_null(body, "response");
  comparer.members_of(wanted_response, response, {"uid", "allowed", "patchType", "warnings"});
  comparer.status(at_or_null(wanted_response, "status"), at_or_null(response, "status"));
  if (wanted_response.contains("patchDecoded")) {
    const Json& object = at_or_null(at_or_null(scenario["body"], "request"), "object");
    comparer.same("patched object", without_noise(patched(object, wanted_response), object),
                  without_noise(patched(object, response), object));
  }
  return comparer.take();
}

Differences compare_conversion(const Json& expect, const Json& got) {
  Comparer comparer;
  comparer.members_of(expect, got, {"httpStatus"});
  const Json& wanted = at_or_null(expect, "review");
  const Json& review = at_or_null(got, "review");
  comparer.members_of(wanted, review, {"apiVersion", "kind"});
  const Json& wanted_response = at_or_null(wanted, "response");
  const Json& response = at_or_null(review, "response");
  comparer.members_of(wanted_response, response, {"uid"});
  const Json& wanted_result = at_or_null(wanted_response, "result");
  const Json& result = at_or_null(response, "result");
  comparer.members_of(wanted_result, result, {"status"});
  const std::string& text = text_at(wanted_result, "message");
  if (!text.empty() && !text.starts_with("json: ")) {
    comparer.same_text("result.message", text, text_at(result, "message"));
  }
  comparer.same("convertedObjects", without_nulls(at_or_null(wanted_response, "convertedObjects")),
                without_nulls(at_or_null(response, "convertedObjects")));
  return comparer.take();
}

Differences compare_admission(const Json& scenario, const Json& outcome) {
  whatif::ScenarioComparison found = whatif::compare(scenario, outcome);
  return {std::move(found.mismatches), std::move(found.message_mismatches), found.messages};
}

}  // namespace

Differences compare(const Json& scenario, const Json& outcome) {
  const std::string& area = text_at(scenario, "area");
  if (area.empty()) return compare_admission(scenario, outcome);
  const Json& expect = at_or_null(scenario, "expect");
  const Json& got = at_or_null(outcome, "expect");
  if (area == "conversion") return compare_conversion(expect, got);
  const std::string& op = text_at(scenario, "op");
  if (op == "default") return compare_default(scenario, expect, got);
  if (op == "review") return compare_review(scenario, expect, got);
  return compare_validation(expect, got);
}

}  // namespace regatta::lab
