// What API objects hold, and what is made of them: codecs, selectors, patches, CEL.

#include "lab/apiserver/patch/json_patch.h"
#include "lab/apiserver/patch/strategic_merge.h"
#include "lib/api/batch.h"
#include "lib/api/codec.h"
#include "lib/api/core.h"
#include "lib/api/kueue.h"
#include "lib/api/labels.h"
#include "lib/api/quantity.h"
#include "lib/base/check.h"
#include "lib/base/json.h"
#include "lib/base/merge_patch.h"
#include "lib/kube/known_spec.h"
#include "lib/manifest/cel/program.h"
#include "tests/fuzz/targets.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace regatta::fuzz {
namespace {

/// A number of at most eighteen digits with an exponent may be written with more digits, of which
/// Kubernetes makes the largest one that it knows.
bool is_capped(const Json& written, const Json& again) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  if (!written.is_string() || !again.is_string()) return false;
  const auto before = api::Quantity::parse(written.get_ref<const std::string&>());
  const auto after = api::Quantity::parse(again.get_ref<const std::string&>());
  return before && after && *before == *after && std::abs(before->value()) == largest;
}

bool is_same(const Json& written, const Json& again) {
  if (written == again) return true;
  const Json changes = Json::diff(written, again);
  return std::all_of(changes.begin(), changes.end(), [&](const Json& change) {
    if (change.at("op") != "replace") return false;
    const Json::json_pointer path(change.at("path").get<std::string>());
    return is_capped(written.at(path), change.at("value"));
  });
}

/// What can be read can be written, and reads as the same again.
template <class T>
void round_trip(const Json& value) {
  const Result<T> object = api::from_json<T>(value);
  if (!object) {
    REGATTA_CHECK(object.error().what().size() <= 1024, "an error without limit");
    return;
  }
  const Json written = api::to_json(*object);
  const Result<T> again = api::from_json<T>(written);
  REGATTA_CHECK(again.has_value(), "what was written cannot be read");
  REGATTA_CHECK(is_same(written, api::to_json(*again)), "it reads as another object");
}

/// A spec that is known already is not read again, with the same result.
void reads_with_known_spec(std::string_view text) {
  const auto known = api::decode<api::Workload>(text);
  if (!known) return;
  const auto again = kube::decode_like(*known, std::string(text));
  REGATTA_CHECK(again && *again == *known, "it reads as another object");
}

}  // namespace

void objects(std::string_view text) {
  reads_with_known_spec(text);
  const Result<Json> value = parse_json(text);
  if (!value) return;
  round_trip<api::Workload>(*value);
  round_trip<api::Job>(*value);
  round_trip<api::ClusterQueue>(*value);
  round_trip<api::MultiKueueCluster>(*value);
}

void selector(std::string_view text) {
  const Result<api::Selector> selector = api::Selector::parse(text);
  if (!selector) return;
  (void)selector->matches({{"a", "b"}});
  const Result<api::Selector> again = api::Selector::parse(selector->str());
  REGATTA_CHECK(again.has_value(), "what was written cannot be read");
  REGATTA_CHECK(again->str() == selector->str(), "it reads as another selector");
}

/// A list of two documents: what one patch between them does.
void patch(std::string_view text) {
  const Result<Json> pair = parse_json(text);
  if (!pair || !pair->is_array() || pair->size() != 2) return;
  const Json &from = (*pair)[0], &to = (*pair)[1];
  (void)apiserver::json_patch(from, to);
  (void)apiserver::strategic_merge(from, to, nullptr);
  if (!from.is_object() || !to.is_object()) return;
  const Json change = merge_patch_between(from, to);
  Json patched = from;
  patched.merge_patch(change);
  REGATTA_CHECK(merge_patch_between(patched, to).empty(), "the patch leaves a difference");
}

void cel(std::string_view text) {
  using namespace manifest::cel;
  const Result<Program> program = Program::compile(text, {});
  if (!program) return;
  Budget budget{.left = 10'000};
  (void)program->evaluate({}, budget);
}

}  // namespace regatta::fuzz
