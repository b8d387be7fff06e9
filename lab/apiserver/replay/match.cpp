#include "lab/apiserver/replay/match.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace regatta::apiserver::replay {
namespace {

struct Piece {
  bool placeholder = false;
  std::string text;
};

/// Whether a placeholder starts at `at`; its length, or 0.
std::size_t placeholder_length(std::string_view text, std::size_t at) {
  if (text[at] != '<' || at + 2 > text.size()) return 0;
  if (text.substr(at).starts_with("<continue:")) {
    const std::size_t end = text.find("}>", at);
    return end == std::string_view::npos ? 0 : end + 2 - at;
  }
  const std::size_t end = text.find('>', at);
  if (end == std::string_view::npos) return 0;
  const std::string_view name = text.substr(at + 1, end - at - 1);
  static const std::set<std::string_view> plain = {
      "time",           "microtime",         "age",          "server",
      "date",           "http-date",         "audit-id",     "host",
      "flowschema-uid", "prioritylevel-uid", "webhook-host", "ca-bundle"};
  static const std::vector<std::string_view> numbered = {
      "uid:", "rv:", "token:", "jwt:", "suffix:"};
  const bool known = plain.count(name) > 0 ||
                     std::any_of(numbered.begin(), numbered.end(), [name](std::string_view prefix) {
                       return name.starts_with(prefix);
                     });
  return known ? end + 1 - at : 0;
}

std::vector<Piece> pieces_of(std::string_view text) {
  std::vector<Piece> pieces;
  std::string literal;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = placeholder_length(text, at);
    if (length == 0) {
      literal += text[at++];
      continue;
    }
    if (!literal.empty()) pieces.push_back({false, std::exchange(literal, "")});
    pieces.push_back({true, std::string(text.substr(at, length))});
    at += length;
  }
  if (!literal.empty()) pieces.push_back({false, literal});
  return pieces;
}

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "<rv:12>" -> 12.
long number_of(const std::string& placeholder) {
  return std::stol(placeholder.substr(placeholder.find(':') + 1));
}

/// Causes in a stable order, with the parts that are compared.
std::multiset<std::string> causes_of(const Json& details) {
  std::multiset<std::string> causes;
  for (const Json& cause : details.value("causes", Json::array())) {
    causes.insert(cause.value("reason", "") + " " + cause.value("field", ""));
  }
  return causes;
}

/// Whether both have the same words in any order: errors of a custom resource have the order of a
/// Go map.
bool same_words(const std::string& a, const std::string& b) {
  std::string left = a, right = b;
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  return left == right;
}

std::string shortened(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 260) text = text.substr(0, 260) + "...";
  return text;
}

std::string differs(const std::string& path, const Json& recorded, const Json& actual) {
  return path + ": recorded " + shortened(recorded) + ", got " + shortened(actual);
}

/// Fields of /version that describe the build.
bool build_fact(const std::string& key) {
  static const std::set<std::string> facts = {"gitCommit", "goVersion", "compiler", "buildDate"};
  return facts.count(key) > 0;
}

std::string object_difference(const Json& recorded, const Json& actual, Bindings& bindings,
                              const std::string& path) {
  if (recorded.contains("openapi") && recorded.contains("paths")) {
    return actual.contains("openapi") && actual.contains("paths") ? "" : path + ": no document";
  }
  const bool status = recorded.value("kind", Json()) == "Status" && recorded.contains("status");
  std::string first;  // the rest is compared as well, for its placeholders
  const auto note = [&first](std::string found) {
    if (first.empty()) first = std::move(found);
  };
  std::set<std::string> known;
  for (const auto& [name, value] : recorded.items()) {
    const std::string key = name.find('<') == std::string::npos ? name : bindings.filled(name);
    const std::string at = path + "." + key;
    known.insert(key);
    if (!actual.contains(key)) {
      note(at + ": missing, recorded " + shortened(value));
      continue;
    }
    if (key == "description" || build_fact(key)) continue;
    if (key == "causes" && value.is_array()) {
      if (causes_of(recorded) != causes_of(actual)) note(differs(at, value, actual[key]));
      continue;
    }
    if (status && key == "message" && value.is_string() && actual[key].is_string() &&
        recorded.value("reason", "") == "Invalid" &&
        same_words(value.get<std::string>(), actual[key].get<std::string>())) {
      continue;
    }
    const std::string found = difference(value, actual[key], bindings, at);
    if (!found.empty()) return found;
  }
  for (const auto& [key, value] : actual.items()) {
    if (!known.contains(key)) return path + "." + key + ": not recorded, got " + shortened(value);
  }
  return "";
}

}  // namespace

std::optional<std::string> Bindings::value(const std::string& placeholder) const {
  const auto found = values_.find(placeholder);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

std::string Bindings::stand_in(const std::string& placeholder) {
  if (const auto known = value(placeholder)) return *known;
  if (placeholder.starts_with("<uid:")) {
    std::string uid = "00000000-0000-4000-8000-" + std::to_string(100000000000 + ++made_up_);
    bind(placeholder, uid);
    return uid;
  }
  if (placeholder.starts_with("<rv:")) {
    std::string best = "1";
    long best_number = -1;
    for (const auto& [name, text] : values_) {
      if (!name.starts_with("<rv:")) continue;
      const long number = number_of(name);
      if (number < number_of(placeholder) && number > best_number) {
        best_number = number;
        best = text;
      }
    }
    return best;
  }
  if (placeholder.starts_with("<token:")) return placeholder.substr(7, placeholder.size() - 8);
  if (placeholder == "<time>") return "2026-01-01T00:00:00Z";
  if (placeholder == "<microtime>") return "2026-01-01T00:00:00.000000Z";
  return placeholder;
}

std::string Bindings::filled(std::string_view recorded) {
  std::string text;
  for (const Piece& piece : pieces_of(recorded)) {
    text += piece.placeholder ? stand_in(piece.text) : piece.text;
  }
  for (const auto& [old, actual] : replacements_) {
    const std::size_t at = text.find(old);
    if (at != std::string::npos) text.replace(at, old.size(), actual);
  }
  return text;
}

Json Bindings::filled_json(const Json& recorded) {
  if (recorded.is_string()) return filled(recorded.get_ref<const std::string&>());
  Json result = recorded;
  if (recorded.is_object()) {
    result = Json::object();
    for (const auto& [key, value] : recorded.items()) result[filled(key)] = filled_json(value);
  } else if (recorded.is_array()) {
    for (Json& item : result) item = filled_json(Json(item));
  }
  return result;
}

bool Bindings::accept_version(const std::string& placeholder, std::string_view text) {
  if (!is_number(text)) return false;
  const std::uint64_t version = std::stoull(std::string(text));
  if (const auto known = value(placeholder)) return *known == text;
  const long number = number_of(placeholder);
  for (const auto& [name, bound] : values_) {
    if (!name.starts_with("<rv:")) continue;
    const std::uint64_t other = std::stoull(bound);
    if (number_of(name) < number ? other > version : other < version) return false;
  }
  bind(placeholder, std::string(text));
  return true;
}

bool Bindings::accept(const std::string& placeholder, std::string_view text) {
  if (placeholder.starts_with("<rv:")) return accept_version(placeholder, text);
  const bool kept = placeholder.starts_with("<uid:") || placeholder.starts_with("<suffix:") ||
                    placeholder.starts_with("<jwt:") || placeholder.starts_with("<continue:");
  if (!kept) return !text.empty();
  if (const auto known = value(placeholder)) return *known == text;
  if (text.empty()) return false;
  bind(placeholder, std::string(text));
  return true;
}

bool Bindings::matches(std::string_view recorded, std::string_view actual) {
  const std::size_t hash = recorded.find("?hash=");
  if (hash != std::string_view::npos &&
      actual.substr(0, hash + 6) == recorded.substr(0, hash + 6)) {
    replace(std::string(recorded.substr(hash + 6)), std::string(actual.substr(hash + 6)));
    return true;
  }
  const std::vector<Piece> pieces = pieces_of(recorded);
  std::size_t at = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].placeholder) {
      if (actual.substr(at, pieces[i].text.size()) != pieces[i].text) return false;
      at += pieces[i].text.size();
      continue;
    }
    std::size_t end = actual.size();
    if (const auto known = value(pieces[i].text)) {
      end = std::min(at + known->size(), actual.size());
    } else if (pieces[i].text.starts_with("<suffix:")) {
      end = std::min(at + 5, actual.size());
    } else if (i + 1 < pieces.size()) {
      end = actual.find(pieces[i + 1].text, at);
      if (end == std::string_view::npos) return false;
    }
    if (!accept(pieces[i].text, actual.substr(at, end - at))) return false;
    at = end;
  }
  return at == actual.size();
}

std::string difference(const Json& recorded, const Json& actual, Bindings& bindings,
                       const std::string& path) {
  if (recorded.is_string() && actual.is_string()) {
    const bool same = bindings.matches(recorded.get_ref<const std::string&>(),
                                       actual.get_ref<const std::string&>());
    return same ? "" : differs(path, recorded, actual);
  }
  if (recorded.is_object() && actual.is_object()) {
    return object_difference(recorded, actual, bindings, path);
  }
  if (recorded.is_array() && actual.is_array()) {
    if (recorded.size() != actual.size()) {
      return path + ": recorded " + std::to_string(recorded.size()) + " items, got " +
             std::to_string(actual.size()) + ": " + shortened(recorded) + " / " + shortened(actual);
    }
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      const std::string found =
          difference(recorded[i], actual[i], bindings, path + "[" + std::to_string(i) + "]");
      if (!found.empty()) return found;
    }
    return "";
  }
  return recorded == actual ? "" : differs(path, recorded, actual);
}

}  // namespace regatta::apiserver::replay
