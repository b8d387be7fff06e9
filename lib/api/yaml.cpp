#include "lib/api/yaml.h"

#include <nlohmann/json.hpp>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <sstream>

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

enum class RepeatedKeys : std::uint8_t { last_counts, refused };

/// Builds JSON from the events of the parser, one document at a time. It counts values, also those
/// that an alias stands for, so that nested aliases cannot blow up.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(RepeatedKeys repeated) : repeated_(repeated) {}

  Json take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // After a document, the parser reads text that cannot begin another as endless empty documents.
    if (mark.pos == last_start_) throw YAML::Exception(mark, "did not find a document's start");
    last_start_ = mark.pos;
    anchors_.clear();
    count_ = named_ = 0;
    root_ = nullptr;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (wants_key()) throw YAML::Exception(mark, "a key must be a scalar");
    add(mark, anchor, nullptr);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw YAML::Exception(mark, "nested too deeply: holds itself");
    const Named& named = found->second;
    if (wants_key()) {
      if (named.value.is_structured() || named.value.is_null()) {
        throw YAML::Exception(mark, "a key must be a scalar");
      }
      return set_key(mark, key_of(named.value), false);
    }
    count(mark, named.count, named.height);
    place(named.value);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (wants_key()) {
      if (anchor != YAML::NullAnchor) remember(mark, anchor, {scalar(tag, text), 1, 0});
      const Json value = tag == "!" ? Json(text) : plain_scalar(text);
      const bool typed = value.is_boolean() || value.is_number();
      return set_key(mark, typed ? key_of(value) : text, tag != "!");
    }
    add(mark, anchor, scalar(tag, text));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, Json::array());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, Json::object());
  }
  void OnMapEnd() override {
    for (const Json& source : open_.back().merged) {
      const Json list = source.is_array() ? source : Json::array({source});
      for (const Json& one : list) {
        if (!one.is_object()) continue;
        for (const auto& [key, value] : one.items()) open_.back().value.emplace(key, value);
      }
    }
    close();
  }

 private:
  /// The value that an anchor names, the number of values in it, and how deep they nest.
  struct Named {
    Json value;
    int count = 0;
    std::size_t height = 0;
  };
  struct Open {
    Json value;
    YAML::Mark mark;
    YAML::anchor_t anchor = YAML::NullAnchor;
    int count_before = 0;
    std::size_t height = 0;
    std::optional<std::string> key;
    bool merges = false;  ///< the key is "<<"
    std::vector<Json> merged;
  };

  static Json scalar(const std::string& tag, const std::string& text) {
    const bool plain = tag == "?" || tag.empty() || tag == "tag:yaml.org,2002:int" ||
                       tag == "tag:yaml.org,2002:bool" || tag == "tag:yaml.org,2002:float" ||
                       tag == "tag:yaml.org,2002:null";
    return plain ? plain_scalar(text) : Json(text);
  }

  static std::string key_of(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  }

  bool wants_key() const {
    return !open_.empty() && open_.back().value.is_object() && !open_.back().key;
  }

  void set_key(const YAML::Mark& mark, std::string key, bool plain) {
    Open& map = open_.back();
    map.merges = key == "<<" && plain;
    if (!map.merges && repeated_ == RepeatedKeys::refused && map.value.contains(key)) {
      throw YAML::Exception(mark, "key \"" + key + "\" is there already");
    }
    map.key = std::move(key);
  }

  static void take_from(int* sum, const YAML::Mark& mark, int values) {
    if (values > nodes_max - *sum) {
      throw YAML::Exception(
          mark, "document is too large: more than " + std::to_string(nodes_max) + " values in it");
    }
    *sum += values;
  }

  /// Nested anchors copy copies, so the number of values that anchors name is limited as well.
  void remember(const YAML::Mark& mark, YAML::anchor_t anchor, Named named) {
    take_from(&named_, mark, named.count);
    anchors_[anchor] = std::move(named);
  }

  void count(const YAML::Mark& mark, int values, std::size_t height) {
    if (open_.size() + height > json_depth_max) throw YAML::Exception(mark, "nested too deeply");
    take_from(&count_, mark, values);
    for (std::size_t i = 0; height > 0 && i < open_.size(); ++i) {
      const std::size_t below = open_.size() - i + height;
      open_[i].height = std::max(open_[i].height, below);
    }
  }

  void add(const YAML::Mark& mark, YAML::anchor_t anchor, Json value) {
    count(mark, 1, 0);
    if (anchor != YAML::NullAnchor) remember(mark, anchor, {value, 1, 0});
    if (!open_.empty()) open_.back().height = std::max<std::size_t>(open_.back().height, 1);
    place(std::move(value));
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Json empty) {
    if (wants_key()) throw YAML::Exception(mark, "a key must be a scalar");
    const int before = count_;
    count(mark, 1, 0);
    open_.push_back(Open{std::move(empty), mark, anchor, before, 0, {}, false, {}});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    if (done.anchor != YAML::NullAnchor) {
      remember(done.mark, done.anchor, {done.value, count_ - done.count_before, done.height});
    }
    if (!open_.empty()) open_.back().height = std::max(open_.back().height, done.height + 1);
    place(std::move(done.value));
  }

  void place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& into = open_.back();
    if (into.value.is_array()) {
      into.value.push_back(std::move(value));
      return;
    }
    if (into.merges) {
      into.merged.push_back(std::move(value));
    } else {
      into.value[*into.key] = std::move(value);
    }
    into.key.reset();
  }

  RepeatedKeys repeated_;
  Json root_;
  int last_start_ = -1;
  int count_ = 0;
  int named_ = 0;  ///< values that anchors name
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Named> anchors_;
};

std::string reason(const YAML::Exception& e) {
  const std::string line = "line " + std::to_string(e.mark.line + 1) + ": ";
  if (e.msg == "illegal map value") {
    // API servers leave out the line number when it is the first line.
    return "yaml: " + (e.mark.line > 0 ? line : "") +
           "mapping values are not allowed in this context";
  }
  return "yaml: " + line + (e.msg == YAML::ErrorMsg::BAD_FILE ? "nested too deeply" : e.msg);
}

Result<Json> first_document(std::string_view text, RepeatedKeys repeated) {
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder(repeated);
    parser.HandleNextDocument(builder);
    return builder.take();
  } catch (const YAML::Exception& e) {
    return Error(Errc::invalid, reason(e));
  }
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
  return first_document(text, RepeatedKeys::last_counts);
}

Result<Json> parse_yaml_strict(std::string_view text) {
  return first_document(text, RepeatedKeys::refused);
}

Result<std::vector<Json>> parse_yaml_documents(std::string_view text) {
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder(RepeatedKeys::refused);
    std::vector<Json> documents;
    while (parser.HandleNextDocument(builder)) {
      Json document = builder.take();
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
