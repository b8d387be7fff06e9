#include "lab/conformance/job_compare.h"

#include "lib/api/quantity.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::lab {
namespace {

constexpr std::string_view sets[] = {"finalizers",      "ownerReferences", "tolerations",
                                     "schedulingGates", "conditions",      "reclaimablePods",
                                     "events",          "changed",         "created",
                                     "deleted",         "workloads"};
constexpr std::string_view quantities[] = {"requests", "limits", "resourceUsage", "overhead"};

template <class Names>
bool among(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool is_empty(const Json& value) {
  return value.is_null() || (value.is_structured() && value.empty());
}

Json quantity(const Json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const auto read = api::Quantity::parse(text);
  return read ? Json(read->str()) : value;
}

/// The value in a form in which what counts as equal is equal.
Json canonical(const Json& value, std::string_view name) {
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& one : value) {
      if (Json kept = canonical(one, ""); !is_empty(kept)) out.push_back(std::move(kept));
    }
    if (among(sets, name)) std::sort(out.begin(), out.end());
    return out;
  }
  if (!value.is_object()) return value;
  Json out = Json::object();
  for (const auto& [key, one] : value.items()) {
    Json kept = among(quantities, name) ? quantity(one) : canonical(one, key);
    if (!is_empty(kept)) out[key] = std::move(kept);
  }
  return out;
}

bool is_zero(const Json& value) {
  return value == 0 || value == "" || value == false;
}

/// What is created on a worker: its status does not count, nor zeros that the hub's object lacks.
void drop_zeros(Json& got, const Json& wanted) {
  if (got.is_array()) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      drop_zeros(got[i], wanted.is_array() && i < wanted.size() ? wanted[i] : Json());
    }
  }
  if (!got.is_object()) return;
  std::vector<std::string> extra;
  for (auto& [key, one] : got.items()) {
    const bool known = wanted.is_object() && wanted.contains(key);
    if (!known && is_zero(one)) {
      extra.push_back(key);
    } else {
      drop_zeros(one, known ? wanted[key] : Json());
    }
  }
  for (const std::string& key : extra) got.erase(key);
}

void trim_created(Json& outcome, const Json& wanted) {
  if (!outcome.contains("worker") || !outcome["worker"].contains("created")) return;
  Json& created = outcome["worker"]["created"];
  for (Json& one : created) one.erase("status");
  drop_zeros(created, wanted.value(Json::json_pointer("/worker/created"), Json()));
}

/// Errors count by their presence.
void shorten_errors(Json& outcome) {
  for (const char* name : {"error", "errors"}) {
    if (outcome.contains(name)) outcome[name] = "present";
  }
}

/// The errors of a validation without their rendered lines.
Json contract(Json outcome) {
  if (!outcome.contains("allowed")) {
    shorten_errors(outcome);
    return outcome;
  }
  outcome.erase("message");
  if (!outcome.contains("errors")) return outcome;
  for (Json& error : outcome["errors"]) {
    if (error.contains("field")) {
      error.erase("message");
    } else {
      error["message"] = "present";
    }
  }
  return outcome;
}

void count_messages(const Json& wanted, const Json& got, Differences* out) {
  const std::string& text = text_at(wanted, "message");
  if (text.empty()) return;
  ++out->message_count;
  if (text == text_at(got, "message")) return;
  out->messages.push_back("message\n  expected: " + text +
                          "\n  got:      " + text_at(got, "message"));
}

}  // namespace

Differences compare_job_step(const Json& step, const Json& got) {
  const Json& expect = object_or_empty(step, {"expect"});
  Json wanted = contract(canonical(expect, ""));
  Json played = contract(canonical(got, ""));
  trim_created(played, wanted);
  trim_created(wanted, wanted);
  Differences out;
  count_messages(expect, got, &out);
  if (wanted == played) return out;
  std::string text = text_at(step, "op");
  for (const Json& change : Json::diff(wanted, played)) {
    const std::string& path = text_at(change, "path");
    const Json::json_pointer at(path);
    text += "\n  " + path + "\n    expected: " + dump_json(wanted.value(at, Json())) +
            "\n    got:      " + dump_json(played.value(at, Json()));
  }
  out.decisions.push_back(std::move(text));
  return out;
}

}  // namespace regatta::lab
