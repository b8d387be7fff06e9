#include "lib/kube/outline.h"

#include "lib/base/json_scan.h"

namespace regatta::kube {
namespace {

/// Walks over JSON text member by member. Every function returns false, or nothing, on text that it
/// does not expect.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  std::string_view since(std::size_t begin) const { return text_.substr(begin, at_ - begin); }

  bool eat(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  /// A string without escapes; its content.
  std::optional<std::string_view> plain_string() {
    if (!eat('"')) return std::nullopt;
    const std::size_t begin = at_;
    const std::size_t end = find_quote_or_backslash(text_, begin);
    if (end == std::string_view::npos || text_[end] != '"') return std::nullopt;
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  bool skip_value() {
    skip_space();
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!skip_string()) return false;
        if (depth == 0) return true;
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']' || (c == ',' && depth == 0)) {
        if (depth == 0) return true;  // the end of a number or a word
        if (--depth == 0) return ++at_, true;
      }
      ++at_;
    }
    return false;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  bool skip_string() {
    for (++at_;; at_ += 2) {
      at_ = find_quote_or_backslash(text_, at_);
      if (at_ == std::string_view::npos) return at_ = text_.size(), false;
      if (text_[at_] == '"') return ++at_, true;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool read_metadata(Walker& walker, Outline* out) {
  if (!walker.eat('{')) return false;
  for (bool first = true;; first = false) {
    const std::size_t begin = walker.at();
    if (!first && !walker.eat(',')) return walker.eat('}');
    const auto key = walker.plain_string();
    if (!key || !walker.eat(':')) return false;
    std::string_view* const wanted = *key == "name"              ? &out->name
                                     : *key == "namespace"       ? &out->ns
                                     : *key == "resourceVersion" ? &out->resource_version
                                                                 : nullptr;
    if (wanted) {
      const auto value = walker.plain_string();
      if (!value) return false;
      *wanted = *value;
      continue;
    }
    if (!walker.skip_value()) return false;
    // Cutting the first member would leave its comma behind; servers do not write it first.
    if (*key == "managedFields" && !first) out->managed_fields = walker.since(begin);
  }
}

bool read_object(Walker& walker, Outline* out) {
  if (!walker.eat('{')) return false;
  do {
    const auto key = walker.plain_string();
    if (!key || !walker.eat(':')) return false;
    if (*key == "metadata") return read_metadata(walker, out) && !out->resource_version.empty();
    if (!walker.skip_value()) return false;
  } while (walker.eat(','));
  return false;
}

}  // namespace

std::optional<Outline> outline_of(std::string_view object) {
  Walker walker(object);
  Outline out;
  if (!read_object(walker, &out)) return std::nullopt;
  return out;
}

std::optional<EventOutline> outline_of_event(std::string_view line) {
  Walker walker(line);
  EventOutline out;
  if (!walker.eat('{') || walker.plain_string() != "type" || !walker.eat(':')) return std::nullopt;
  const auto type = walker.plain_string();
  if (!type || !walker.eat(',') || walker.plain_string() != "object" || !walker.eat(':')) {
    return std::nullopt;
  }
  out.type = *type;
  if (!read_object(walker, &out.object)) return std::nullopt;
  return out;
}

std::string without_managed_fields(std::string text) {
  const auto outline = outline_of(text);
  if (outline && !outline->managed_fields.empty()) {
    const auto begin = static_cast<std::size_t>(outline->managed_fields.data() - text.data());
    text.erase(begin, outline->managed_fields.size());
  }
  return text;
}

}  // namespace regatta::kube
