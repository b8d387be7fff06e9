#include "whatif/timeline/arrivals.h"

#include "lib/manifest/behaviour.h"
#include "whatif/timeline/distribution.h"
#include "whatif/timeline/duration.h"
#include "whatif/timeline/fields.h"
#include "whatif/timeline/substitute.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

namespace regatta::whatif {
namespace {

struct Choice {
  std::string name;
  std::vector<Json> values;
  std::vector<double> up_to;  ///< cumulated weights
};

struct Arrivals {
  Json object;
  Duration from{0};
  Duration until{0};
  std::optional<Duration> every;
  std::optional<std::size_t> count;
  std::optional<double> per_hour;
  std::vector<double> weights;
  std::uint64_t seed = 1;
  std::vector<Choice> choices;
  Json run_seconds;
};

const std::set<std::string_view> known{"template", "from",    "until", "every", "count",
                                       "perHour",  "weights", "seed",  "pick",  "runSeconds"};

Status read_duration(const Json& json, const char* name, Duration* out) {
  const Json* value = member(json, name);
  if (!value) return ok();
  const auto text = scalar_text(*value, name);
  if (!text) return text.error();
  const auto duration = parse_duration(*text);
  if (!duration) return field_error(name, duration.error().what());
  *out = *duration;
  return ok();
}

Status read_weights(const Json& json, std::vector<double>* out) {
  if (!json.is_array() || json.empty()) return field_error("weights", "expected numbers");
  double sum = 0;
  for (const Json& one : json) {
    if (!one.is_number() || !(one.get<double>() >= 0)) {
      return field_error("weights", "expected numbers of 0 and above");
    }
    out->push_back(sum += one.get<double>());
  }
  if (!(sum > 0)) return field_error("weights", "one must be above 0");
  return ok();
}

Result<Choice> read_choice(const std::string& name, const Json& json) {
  const std::string path = "pick." + name;
  Choice out{name, {}, {}};
  double sum = 0;
  if (json.is_object() && json.size() == 1 && json.contains("range")) {
    const auto range = whole_number(json["range"], path + ".range", 1'000'000);
    if (!range) return range.error();
    for (std::uint64_t i = 0; i < std::max<std::uint64_t>(1, *range); ++i) {
      out.values.emplace_back(i);
      out.up_to.push_back(sum += 1);
    }
    return out;
  }
  if (!json.is_array() || json.empty()) {
    return field_error(path, "expected {range: N} or a list of values");
  }
  for (const Json& one : json) {
    const bool weighted =
        one.is_object() && one.size() == 2 && one.contains("value") && one.contains("weight");
    double weight = 1;
    if (weighted) {
      if (!one["weight"].is_number() || !(one["weight"].get<double>() >= 0)) {
        return field_error(path, "a weight is a number of 0 and above");
      }
      weight = one["weight"].get<double>();
    }
    out.values.push_back(weighted ? one["value"] : one);
    out.up_to.push_back(sum += weight);
  }
  if (!(sum > 0)) return field_error(path, "one weight must be above 0");
  return out;
}

Status read_amount(const Json& json, Arrivals* out) {
  const Json* count = member(json, "count");
  const Json* rate = member(json, "perHour");
  const Json* every = member(json, "every");
  if ((count != nullptr) + (rate != nullptr) + (every != nullptr) != 1) {
    return Error(Errc::invalid, "write one of count, every and perHour");
  }
  if (count) {
    const auto number = whole_number(*count, "count", arrivals_max);
    if (!number) return number.error();
    out->count = *number;
  }
  if (rate) {
    const double hours = double((out->until - out->from).count()) / 3.6e6;
    if (!rate->is_number() || !(rate->get<double>() >= 0) ||
        rate->get<double>() * hours > double(arrivals_max)) {
      return field_error("perHour", "expected a number of 0 and above, not millions");
    }
    out->per_hour = rate->get<double>();
  }
  if (!every) return ok();
  Duration step{0};
  if (const Status read = read_duration(json, "every", &step); !read) return read;
  if (step < Duration(1) || (out->until - out->from) / step > std::int64_t(arrivals_max)) {
    return field_error("every", "too short");
  }
  out->every = step;
  return ok();
}

Result<Arrivals> read(const Json& json) {
  if (!json.is_object()) return Error(Errc::invalid, "expected an object");
  if (const Status checked = check_known(json, known); !checked) return checked.error();
  Arrivals out;
  const Json* object = member(json, "template");
  if (!object || !object->is_object()) return field_error("template", "expected a manifest");
  out.object = *object;
  if (const Status done = read_duration(json, "from", &out.from); !done) return done.error();
  out.until = out.from;
  if (const Status done = read_duration(json, "until", &out.until); !done) return done.error();
  if (out.until <= out.from) return field_error("until", "must be after from");
  if (const Status done = read_amount(json, &out); !done) return done.error();
  if (const Json* weights = member(json, "weights")) {
    if (out.every) return field_error("weights", "not together with every");
    if (const Status done = read_weights(*weights, &out.weights); !done) return done.error();
  }
  if (const Json* seed = member(json, "seed")) {
    const auto number = whole_number(*seed, "seed", INT64_MAX);
    if (!number) return number.error();
    out.seed = *number;
  }
  if (const Json* pick = member(json, "pick")) {
    if (!pick->is_object()) return field_error("pick", "expected an object");
    for (const auto& [name, value] : pick->items()) {
      auto choice = read_choice(name, value);
      if (!choice) return choice.error();
      out.choices.push_back(std::move(*choice));
    }
  }
  if (const Json* run = member(json, "runSeconds")) out.run_seconds = *run;
  return out;
}

std::size_t choose(const std::vector<double>& up_to, Rng* rng) {
  const double at = rng->unit() * up_to.back();
  const auto found = std::upper_bound(up_to.begin(), up_to.end(), at);
  return std::min(static_cast<std::size_t>(found - up_to.begin()), up_to.size() - 1);
}

/// A random moment of the window; busy parts are more likely.
Duration moment(const Arrivals& a, Rng* rng) {
  const double length = double((a.until - a.from).count());
  double part = rng->unit();
  if (!a.weights.empty()) {
    part = (double(choose(a.weights, rng)) + part) / double(a.weights.size());
  }
  return a.from + Duration(static_cast<std::int64_t>(part * length));
}

std::vector<Duration> moments(const Arrivals& a, Rng* rng) {
  std::vector<Duration> out;
  if (a.every) {
    for (Duration at = a.from; at < a.until; at += *a.every) out.push_back(at);
    return out;
  }
  std::size_t count = a.count.value_or(0);
  if (a.per_hour) {
    // The number of a Poisson process within the window; given the number, the moments are uniform.
    const double expected = *a.per_hour * double((a.until - a.from).count()) / 3.6e6;
    double sum = -std::log1p(-rng->unit());
    for (; sum < expected && count < arrivals_max; ++count) sum -= std::log1p(-rng->unit());
  }
  for (std::size_t i = 0; i < count; ++i) out.push_back(moment(a, rng));
  std::sort(out.begin(), out.end());
  return out;
}

/// Makes the objects. Objects that differ only in name and duration are read once.
class Maker {
 public:
  Maker(const Arrivals& arrivals, ManifestReader* reader, Rng* rng)
      : arrivals_(arrivals), reader_(*reader), rng_(*rng) {
    Json rest = arrivals.object;
    if (rest.contains("metadata") && rest["metadata"].is_object()) rest["metadata"].erase("name");
    cacheable_ = !mentions(rest, "index");
  }

  Result<Object> make(std::size_t index, TimePoint at) {
    Json values = {{"index", index}};
    std::vector<std::size_t> key;
    for (const Choice& choice : arrivals_.choices) {
      key.push_back(choose(choice.up_to, &rng_));
      values[choice.name] = choice.values[key.back()];
    }
    const auto run = run_seconds(values);
    if (!run) return run.error();
    if (!cacheable_) key.push_back(index);
    auto made = made_.find(key);
    if (made == made_.end()) {
      auto object = read(values);
      if (!object) return object.error();
      if (made_.size() >= 10'000) made_.clear();
      made = made_.emplace(std::move(key), std::move(*object)).first;
    }
    auto name = name_of_next(values);
    if (!name) return name.error();
    Object out = made->second;
    std::visit(
        [&](auto& one) {
          one.metadata.name = std::move(*name);
          one.metadata.uid = rng_.uuid();
          one.metadata.creation_timestamp = std::chrono::floor<std::chrono::seconds>(at);
          if (*run) one.metadata.annotations[run_key_] = **run;
        },
        out);
    return out;
  }

 private:
  Result<Object> read(const Json& values) {
    Json object = arrivals_.object;
    if (const Status done = substitute(&object, values); !done) {
      return field_error("template", done.error().what());
    }
    auto read = reader_.read_object(std::move(object));
    if (!read) return field_error("template", read.error().what());
    return read;
  }

  Result<std::string> name_of_next(const Json& values) {
    const Json& object = arrivals_.object;
    Json name = object.contains("metadata") && object["metadata"].is_object()
                    ? object["metadata"].value("name", Json("job"))
                    : Json("job");
    if (!name.is_string()) return field_error("template.metadata.name", "expected a string");
    const bool numbered = mentions(name, "index");
    if (const Status done = substitute(&name, values); !done) return done.error();
    const auto text = scalar_text(name, "template.metadata.name");
    if (!text) return text.error();
    return numbered ? *text : *text + "-" + dump_json(values.at("index"));
  }

  Result<std::optional<std::string>> run_seconds(const Json& values) {
    if (arrivals_.run_seconds.is_null()) return std::optional<std::string>();
    Json json = arrivals_.run_seconds;
    if (const Status done = substitute(&json, values); !done) {
      return field_error("runSeconds", done.error().what());
    }
    const auto distribution = Distribution::read(json);
    if (!distribution) return field_error("runSeconds", distribution.error().what());
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", distribution->draw(&rng_));
    return std::optional<std::string>(text);
  }

  const Arrivals& arrivals_;
  ManifestReader& reader_;
  Rng& rng_;
  bool cacheable_ = false;
  const std::string run_key_{manifest::annotations::run_seconds};
  std::map<std::vector<std::size_t>, Object> made_;
};

}  // namespace

Status read_arrivals(const Json& json, TimePoint start, const std::string& cluster,
                     ManifestReader* reader, std::vector<TimedEvent>* out) {
  const auto arrivals = read(json);
  if (!arrivals) return arrivals.error();
  Rng rng(arrivals->seed);
  Maker maker(*arrivals, reader, &rng);
  std::size_t index = 0;
  for (const Duration offset : moments(*arrivals, &rng)) {
    auto object = maker.make(index++, start + offset);
    if (!object) return object.error();
    out->push_back({start + offset, cluster, std::move(*object)});
  }
  return ok();
}

}  // namespace regatta::whatif
