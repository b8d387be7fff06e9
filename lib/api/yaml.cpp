#include "lib/api/yaml.h"

#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <set>

namespace regatta::api {
namespace {

constexpr int nodes_max = 2'000'000;

std::optional<bool> as_boolean(std::string_view text) {
  static const std::set<std::string_view> yes = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                 "True", "TRUE", "on",  "On",  "ON"};
  static const std::set<std::string_view> no = {"n",     "N",     "no",  "No",  "NO", "false",
                                                "False", "FALSE", "off", "Off", "OFF"};
  if (yes.count(text) > 0) return true;
  if (no.count(text) > 0) return false;
  return std::nullopt;
}

bool is_null(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

template <class Number>
std::optional<Number> whole(std::string_view text, int base) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc{} || at != end || text.empty()) return std::nullopt;
  return number;
}

std::optional<Json> as_integer(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  std::string digits(text.substr(!text.empty() && (negative || text.front() == '+') ? 1 : 0));
  std::erase(digits, '_');
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return std::nullopt;
  int base = 10;
  std::string_view body = digits;
  if (digits.size() > 1 && digits[0] == '0') {
    const char mark = digits[1];
    base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
    body.remove_prefix(base == 8 && mark != 'o' ? 1 : 2);
  }
  const std::string signed_text = (negative ? "-" : "") + std::string(body);
  if (const auto number = whole<std::int64_t>(signed_text, base)) return Json(*number);
  if (!negative) {
    if (const auto number = whole<std::uint64_t>(body, base)) return Json(*number);
  }
  return std::nullopt;
}

std::optional<Json> as_float(std::string_view text) {
  bool digit = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      digit = true;
    } else if (std::string_view("+-.eE_").find(c) == std::string_view::npos) {
      return std::nullopt;
    }
  }
  if (!digit || text.empty() || text[0] == 'e' || text[0] == 'E') return std::nullopt;
  std::string_view body = text;
  if (body.front() == '+') body.remove_prefix(1);
  double number = 0;
  const char* end = body.data() + body.size();
  const auto [at, error] = std::from_chars(body.data(), end, number);
  if (error != std::errc{} || at != end || !std::isfinite(number)) return std::nullopt;
  return Json(number);
}

Json plain_scalar(const std::string& text) {
  if (is_null(text)) return nullptr;
  if (const auto boolean = as_boolean(text)) return *boolean;
  if (auto number = as_integer(text)) return std::move(*number);
  if (auto number = as_float(text)) return std::move(*number);
  return text;
}

std::string key_text(const YAML::Node& key) {
  if (!key.IsScalar()) throw YAML::Exception(key.Mark(), "a key must be a scalar");
  if (key.Tag() == "!") return key.Scalar();
  const Json value = plain_scalar(key.Scalar());
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number()) return value.dump();
  return key.Scalar();
}

enum class RepeatedKeys : std::uint8_t { last_counts, refused };

/// Counts nodes as it goes, so that nested aliases cannot blow up.
class Reader {
 public:
  explicit Reader(RepeatedKeys repeated) : repeated_(repeated) {}

  Json read(const YAML::Node& node, int depth = 0) {
    if (depth > json_depth_max) throw YAML::Exception(node.Mark(), "nested too deeply");
    if (++count_ > nodes_max) {
      throw YAML::Exception(node.Mark(), "document is too large: more than " +
                                             std::to_string(nodes_max) + " values in it");
    }
    if (node.IsSequence()) {
      Json list = Json::array();
      for (const auto& item : node) list.push_back(read(item, depth + 1));
      return list;
    }
    if (node.IsMap()) return map(node, depth);
    if (!node.IsScalar()) return nullptr;
    const std::string& tag = node.Tag();
    if (tag == "?" || tag.empty()) return plain_scalar(node.Scalar());
    if (tag == "tag:yaml.org,2002:int" || tag == "tag:yaml.org,2002:bool" ||
        tag == "tag:yaml.org,2002:float" || tag == "tag:yaml.org,2002:null") {
      return plain_scalar(node.Scalar());
    }
    return node.Scalar();
  }

 private:
  Json map(const YAML::Node& node, int depth) {
    Json object = Json::object();
    std::vector<Json> merged;
    for (const auto& member : node) {
      const std::string key = key_text(member.first);
      Json value = read(member.second, depth + 1);
      if (key == "<<" && member.first.Tag() != "!") {
        merged.push_back(std::move(value));
      } else if (repeated_ == RepeatedKeys::refused && object.contains(key)) {
        throw YAML::Exception(member.first.Mark(), "key \"" + key + "\" is there already");
      } else {
        object[key] = std::move(value);
      }
    }
    for (const Json& source : merged) {
      const Json list = source.is_array() ? source : Json::array({source});
      for (const Json& one : list) {
        if (one.is_object()) {
          for (const auto& [key, value] : one.items()) object.emplace(key, value);
        }
      }
    }
    return object;
  }

  RepeatedKeys repeated_;
  int count_ = 0;
};

std::string reason(const YAML::Exception& e) {
  const std::string line = "line " + std::to_string(e.mark.line + 1) + ": ";
  if (e.msg == "illegal map value") {
    // As servers say it: of the first line without its number.
    return "yaml: " + (e.mark.line > 0 ? line : "") +
           "mapping values are not allowed in this context";
  }
  return "yaml: " + line + (e.msg == YAML::ErrorMsg::BAD_FILE ? "nested too deeply" : e.msg);
}

// --- writing -----------------------------------------------------------------------------------

constexpr std::size_t fold_column = 80;

bool looks_like_time(std::string_view text) {
  return text.size() >= 10 && text[4] == '-' && text[7] == '-' &&
         text.find_first_not_of("0123456789-") >= 10;
}

bool resolves_to_other(const std::string& text) {
  return !plain_scalar(text).is_string() || text == "<<" || text == "=" || looks_like_time(text);
}

bool needs_escapes(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\n') || c == 0x7f) return true;
    if (text.substr(i, 3) == "\u2028" || text.substr(i, 3) == "\u2029") return true;
  }
  return false;
}

bool plain_allowed(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ') return false;
  const char first = text.front();
  const bool alone = text.size() == 1 || text[1] == ' ';
  if (std::string_view("#,[]{}&*!|>'\"%@`").find(first) != std::string_view::npos) return false;
  if ((first == '-' || first == '?' || first == ':') && alone) return false;
  if (text.substr(0, 3) == "---" || text.substr(0, 3) == "...") return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':' && (i + 1 == text.size() || text[i + 1] == ' ')) return false;
    if (text[i] == '#' && i > 0 && text[i - 1] == ' ') return false;
  }
  return true;
}

std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.substr(i, 3) == "\u2028" || text.substr(i, 3) == "\u2029") {
      out += text.substr(i, 3) == "\u2028" ? "\\L" : "\\P";
      i += 2;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      static const char* hex = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      out += "\\x";
      out += hex[byte >> 4];
      out += hex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

class Writer {
 public:
  std::string take() { return std::move(out_); }

  /// `indent`: column of the members of `value`; the cursor stands after "key:" or "-" or at the
  /// start of a line.
  void value(const Json& value, int indent, bool in_list_item) {
    if (value.is_object() && !value.empty()) {
      bool first = true;
      for (const auto& [key, member] : value.items()) {
        if (!(first && in_list_item)) spaces(indent);
        first = false;
        scalar(key, indent, true);
        out_ += ':';
        member_value(member, indent);
      }
    } else if (value.is_array() && !value.empty()) {
      bool first = true;
      for (const Json& item : value) {
        if (!(first && in_list_item)) spaces(indent);
        first = false;
        out_ += '-';
        item_value(item, indent);
      }
    } else {
      leaf(value, indent);
      out_ += '\n';
    }
  }

 private:
  void spaces(int count) { out_.append(static_cast<std::size_t>(count), ' '); }

  void member_value(const Json& member, int indent) {
    const bool nested = member.is_structured() && !member.empty();
    if (nested) {
      out_ += '\n';
      value(member, member.is_array() ? indent : indent + 2, false);
    } else {
      out_ += ' ';
      leaf(member, indent + 2);
      out_ += '\n';
    }
  }

  void item_value(const Json& item, int indent) {
    out_ += ' ';
    if (item.is_structured() && !item.empty()) {
      value(item, indent + 2, true);
    } else {
      leaf(item, indent + 2);
      out_ += '\n';
    }
  }

  void leaf(const Json& value, int indent) {
    if (value.is_string()) {
      scalar(value.get_ref<const std::string&>(), indent, false);
    } else if (value.is_object()) {
      out_ += "{}";
    } else if (value.is_array()) {
      out_ += "[]";
    } else {
      out_ += value.dump();
    }
  }

  void scalar(const std::string& text, int indent, bool key) {
    if (needs_escapes(text) || (key && text.find('\n') != std::string::npos)) {
      out_ += double_quoted(text);
    } else if (text.empty() || resolves_to_other(text)) {
      out_ += double_quoted(text);
    } else if (text.find('\n') != std::string::npos) {
      literal(text, indent);
    } else if (plain_allowed(text)) {
      folded(text, indent, key);
    } else {
      std::string doubled = "'";
      for (const char c : text) doubled += c == '\'' ? "''" : std::string(1, c);
      folded(doubled + "'", indent, key);
    }
  }

  void literal(const std::string& text, int indent) {
    const bool ends = text.back() == '\n';
    const bool more = text.size() > 1 && ends && text[text.size() - 2] == '\n';
    out_ += text.front() == ' ' || text.front() == '\n' ? "|2" : "|";
    out_ += more ? "+" : ends ? "" : "-";
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      out_ += '\n';
      if (end > at) spaces(indent);
      out_.append(text, at, end - at);
      at = end + 1;
    }
  }

  /// Breaks a long one-line scalar at spaces, as the reference emitter does.
  void folded(const std::string& text, int indent, bool key) {
    const std::size_t line_start = out_.rfind('\n') + 1;
    std::size_t column = out_.size() - line_start;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool inner = i > 0 && i + 1 < text.size() && text[i + 1] != ' ' && text[i - 1] != ' ';
      if (text[i] == ' ' && !key && inner && column > fold_column) {
        out_ += '\n';
        spaces(indent);
        column = static_cast<std::size_t>(indent);
      } else {
        out_ += text[i];
        ++column;
      }
    }
  }

  std::string out_;
};

}  // namespace

Result<Json> parse_yaml(std::string_view text) {
  try {
    return Reader(RepeatedKeys::last_counts).read(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& e) {
    return Error(Errc::invalid, reason(e));
  }
}

Result<std::vector<Json>> parse_yaml_documents(std::string_view text) {
  try {
    std::vector<Json> documents;
    for (const YAML::Node& node : YAML::LoadAll(std::string(text))) {
      Json document = Reader(RepeatedKeys::refused).read(node);
      if (!document.is_null()) documents.push_back(std::move(document));
    }
    return documents;
  } catch (const YAML::Exception& e) {
    return Error(Errc::invalid, reason(e));
  }
}

std::string dump_yaml(const Json& value) {
  Writer writer;
  writer.value(value, 0, false);
  return writer.take();
}

}  // namespace regatta::api
