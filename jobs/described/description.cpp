#include "jobs/described/description.h"

#include "lib/api/validation.h"
#include "lib/base/json_access.h"
#include "lib/base/lower_case.h"

#include <algorithm>
#include <set>

namespace regatta::jobs {
namespace {

using api::in_quotes;

constexpr std::size_t path_max = 256;
constexpr std::size_t index_digits_max = 3;

bool is_digits(std::string_view token) {
  return !token.empty() &&
         std::all_of(token.begin(), token.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string> tokens_of(Json::json_pointer path) {
  std::vector<std::string> tokens;
  for (; !path.empty(); path.pop_back()) tokens.push_back(path.back());
  std::reverse(tokens.begin(), tokens.end());
  return tokens;
}

/// Whether `path` is `other` or leads into it.
bool within(const Json::json_pointer& path, const Json::json_pointer& other) {
  const auto inner = tokens_of(path), outer = tokens_of(other);
  return inner.size() >= outer.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

/// Where a path may lead.
struct Bounds {
  std::string_view root;      ///< "/spec"
  bool root_itself = false;   ///< it may lead to the root
  bool through_lists = true;  ///< what is written anew may not: a list cannot be patched in part
};

class Reader {
 public:
  Reader(const Json& given, std::string at, api::ErrorList* errors)
      : given_(given), at_(std::move(at)), errors_(errors) {}

  std::optional<KindDescription> read();

 private:
  std::string field(const std::string& name) const { return at_ + "." + name; }
  void wrong(const std::string& at, std::string_view value, std::string_view why) {
    right_ = false;
    errors_->invalid(at, in_quotes(value), why);
  }
  void missing(const std::string& at) {
    right_ = false;
    errors_->required(at);
  }

  void read_names(KindDescription* out);
  std::optional<Json::json_pointer> path_of(const std::string& at, const std::string& text,
                                            const Bounds& bounds);
  std::optional<Expression> expression_of(const std::string& at, const std::string& text,
                                          Expression::Answer answer);
  std::optional<DescribedCount> count_of(const std::string& at, const Json& given);
  std::optional<DescribedPodSet> pod_set_of(const std::string& at, const Json& given);
  std::vector<DescribedPodSet> pod_sets();
  void check_apart(const KindDescription& read);
  void read_final_status(KindDescription* out);

  const Json& given_;
  const std::string at_;
  api::ErrorList* errors_;
  bool right_ = true;
};

bool is_version(std::string_view text) {
  return text.size() > 1 && text.front() == 'v' && api::check_dns1123_label(text).empty();
}

bool is_kind_name(std::string_view text) {
  constexpr std::size_t kind_max = 63;
  const auto letter_or_digit = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= kind_max && text.front() >= 'A' && text.front() <= 'Z' &&
         std::all_of(text.begin(), text.end(), letter_or_digit);
}

void Reader::read_names(KindDescription* out) {
  const std::string& version = text_at(given_, "apiVersion");
  const std::size_t slash = version.find('/');
  if (version.empty()) {
    missing(field("apiVersion"));
  } else if (slash == std::string::npos || version.find('.') > slash ||
             !api::check_dns1123_subdomain(version.substr(0, slash)).empty() ||
             !is_version(std::string_view(version).substr(slash + 1))) {
    wrong(field("apiVersion"), version,
          "must be a group with a dot and a version: 'example.com/v1'");
  } else {
    out->group = version.substr(0, slash);
    out->version = version.substr(slash + 1);
  }
  out->kind = text_at(given_, "kind");
  if (out->kind.empty()) {
    missing(field("kind"));
  } else if (!is_kind_name(out->kind)) {
    wrong(field("kind"), out->kind, "must be the name of a kind: 'Pipeline'");
  }
  out->plural = text_at(given_, "resource");
  if (out->plural.empty()) {
    missing(field("resource"));
  } else if (!api::check_dns1123_label(out->plural).empty()) {
    wrong(field("resource"), out->plural, "must be the name of a resource: 'pipelines'");
  }
}

std::optional<Json::json_pointer> Reader::path_of(const std::string& at, const std::string& text,
                                                  const Bounds& bounds) {
  const std::string root(bounds.root);
  const auto refuse = [&](const std::string& why) {
    wrong(at, text, why);
    return std::nullopt;
  };
  const bool below = text.starts_with(root + "/") || (bounds.root_itself && text == root);
  if (!below || text.size() > path_max) {
    return refuse("must be a JSON pointer " +
                  std::string(bounds.root_itself ? "to or below " : "below ") + root +
                  ", of at most " + std::to_string(path_max) + " bytes");
  }
  Json::json_pointer path;
  try {
    path = Json::json_pointer(text);
  } catch (const Json::exception&) {
    return refuse("must be a JSON pointer, in which '~' is written as '~0' and '/' as '~1'");
  }
  for (const std::string& token : tokens_of(path)) {
    if (token.empty()) return refuse("must not have empty parts");
    if (!is_digits(token)) continue;
    if (!bounds.through_lists) return refuse("must not lead through a list");
    const bool plain = token.size() <= index_digits_max && (token == "0" || token[0] != '0');
    if (!plain) return refuse("must have plain indices of lists, below 1000");
  }
  return path;
}

std::optional<Expression> Reader::expression_of(const std::string& at, const std::string& text,
                                                Expression::Answer answer) {
  auto compiled = Expression::compile(text, answer);
  if (compiled) return std::move(*compiled);
  wrong(at, text, compiled.error().what());
  return std::nullopt;
}

std::optional<DescribedCount> Reader::count_of(const std::string& at, const Json& given) {
  if (given.is_null()) return DescribedCount(1);
  if (given.is_string()) {
    const auto& text = given.get_ref<const std::string&>();
    if (text.starts_with('/')) return path_of(at, text, {.root = "/spec"});
    return expression_of(at, text, Expression::Answer::integer);
  }
  const std::int64_t number = given.is_number_integer() ? given.get<std::int64_t>() : -1;
  if (number >= 0 && number <= INT32_MAX) return DescribedCount(static_cast<std::int32_t>(number));
  wrong(at, dump_json(given), "must be a number of pods, a JSON pointer below /spec or CEL");
  return std::nullopt;
}

std::optional<DescribedPodSet> Reader::pod_set_of(const std::string& at, const Json& given) {
  DescribedPodSet out;
  out.name = text_at(given, "name");
  const std::string& path = text_at(given, "template");
  bool right = true;
  if (out.name.empty()) {
    missing(at + ".name");
    right = false;
  } else if (const auto complaints = api::check_dns1123_label(out.name); !complaints.empty()) {
    wrong(at + ".name", out.name, complaints.front());
    right = false;
  }
  if (path.empty()) {
    missing(at + ".template");
    right = false;
  } else if (auto place = path_of(at + ".template", path, {.root = "/spec"})) {
    out.path = std::move(*place);
    out.field = field_of(out.path);
  } else {
    right = false;
  }
  out.optional = true_at(given, "optional");
  auto count = count_of(at + ".count", at_or_null(given, "count"));
  if (count) out.count = std::move(*count);
  if (const std::string& text = text_at(given, "reclaimable"); !text.empty()) {
    out.reclaimable = expression_of(at + ".reclaimable", text, Expression::Answer::integer);
  }
  return right && count ? std::optional(std::move(out)) : std::nullopt;
}

std::vector<DescribedPodSet> Reader::pod_sets() {
  std::vector<DescribedPodSet> out;
  const Json& list = list_or_empty(given_, "podSets");
  const std::string at = field("podSets");
  if (list.empty()) missing(at);
  if (list.size() > described_pod_sets_max) {
    right_ = false;
    errors_->too_many(at, list.size(), described_pod_sets_max);
    return out;
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto read = pod_set_of(api::at(at, i), list[i]);
    if (!read) continue;
    if (!names.insert(read->name).second) {
      right_ = false;
      errors_->duplicate(api::at(at, i) + ".name", in_quotes(read->name));
    }
    out.push_back(std::move(*read));
  }
  return out;
}

/// What a start writes to one place must not change another one.
void Reader::check_apart(const KindDescription& read) {
  std::vector<std::pair<std::string, const Json::json_pointer*>> places;
  for (std::size_t i = 0; i < read.pod_sets.size(); ++i) {
    places.emplace_back(api::at(field("podSets"), i) + ".template", &read.pod_sets[i].path);
  }
  places.emplace_back(field("suspend"), &read.shape.suspend);
  if (!read.shape.managed_by.empty()) {
    places.emplace_back(field("managedBy"), &read.shape.managed_by);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto& [at, path] = places[i];
      const bool apart = !within(*path, *places[j].second) && !within(*places[j].second, *path);
      if (!apart) wrong(at, path->to_string(), "must be apart from " + places[j].first);
    }
  }
}

void Reader::read_final_status(KindDescription* out) {
  for (const auto& [name, into] :
       {std::pair("succeeded", &out->succeeded), std::pair("failed", &out->failed)}) {
    const Json& patch = at_or_null(at_or_null(given_, "finalStatus"), name);
    if (patch.is_object()) {
      *into = patch;
    } else if (!patch.is_null()) {
      wrong(field("finalStatus") + "." + name, dump_json(patch), "must be an object");
    }
  }
}

std::optional<KindDescription> Reader::read() {
  using Answer = Expression::Answer;
  const Json& status = at_or_null(given_, "status");
  const auto meaning = [&](const char* name, Answer answer) -> std::optional<Expression> {
    const std::string& text = text_at(status, name);
    if (text.empty()) return std::nullopt;
    return expression_of(field("status") + "." + name, text, answer);
  };
  const auto needed = [&](const char* name) {
    if (text_at(status, name).empty()) missing(field("status") + "." + name);
    return meaning(name, Answer::boolean);
  };
  const auto finished = needed("finished"), success = needed("success");
  // A description that is wrong is not used.
  const Expression never = Expression::compile("false", Answer::boolean).value();
  KindDescription out{.group = {},
                      .version = {},
                      .kind = {},
                      .plural = {},
                      .pod_sets = pod_sets(),
                      .shape = {},
                      .finished = finished ? *finished : never,
                      .success = success ? *success : never,
                      .active = meaning("active", Answer::boolean),
                      .message = meaning("message", Answer::text),
                      .pods_ready = meaning("podsReady", Answer::boolean)};
  read_names(&out);
  const auto place = [&](const char* name, const Bounds& bounds, Json::json_pointer* into) {
    const std::string& text = text_at(given_, name);
    if (text.empty()) return;
    if (auto path = path_of(field(name), text, bounds)) *into = std::move(*path);
  };
  const Bounds of_spec{.root = "/spec", .through_lists = false};
  out.shape.managed_by = Json::json_pointer();
  place("suspend", of_spec, &out.shape.suspend);
  place("managedBy", of_spec, &out.shape.managed_by);
  out.shape.managed_by_field = field_of(out.shape.managed_by);
  place("remoteStatus", {.root = "/status", .root_itself = true, .through_lists = false},
        &out.remote_status);
  read_final_status(&out);
  if (right_) check_apart(out);
  return right_ ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

std::string KindDescription::framework() const {
  return group + "/" + lower_case(kind);
}

std::string field_of(const Json::json_pointer& path) {
  std::string out;
  for (const std::string& token : tokens_of(path)) {
    if (is_digits(token)) {
      out += "[" + token + "]";
    } else {
      out += (out.empty() ? "" : ".") + token;
    }
  }
  return out;
}

std::optional<KindDescription> read_description(const Json& given, const std::string& at,
                                                api::ErrorList* errors) {
  return Reader(given, at, errors).read();
}

}  // namespace regatta::jobs
