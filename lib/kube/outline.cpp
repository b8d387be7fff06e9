#include "lib/kube/outline.h"

#include "lib/base/json_scan.h"
#include "lib/base/json_syntax.h"

#include <utility>

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

  /// Nothing but space is left.
  bool at_end() {
    skip_space();
    return at_ == text_.size();
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

  /// The value without the space before it; empty when there is none.
  std::string_view value() {
    skip_space();
    const std::size_t begin = at_;
    return skip_value() ? since(begin) : std::string_view();
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
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
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

/// False on text that is neither an array nor null; the Status is that of `visit`.
bool read_items(Walker& walker, const std::function<Status(std::string_view)>& visit,
                Status* status) {
  if (!walker.eat('[')) return walker.value() == "null";
  if (walker.eat(']')) return true;
  do {
    const std::string_view item = walker.value();
    if (item.empty()) return false;
    *status = visit(item);
    if (!*status) return true;
  } while (walker.eat(','));
  return walker.eat(']');
}

/// The same, of a list.
bool read_list(Walker& walker, const std::function<Status(std::string_view)>& visit,
               ListOutline* out, Status* status) {
  if (!walker.eat('{')) return false;
  bool with_items = false;
  do {
    const auto key = walker.plain_string();
    if (!key || !walker.eat(':')) return false;
    if (*key == "items") {
      if (std::exchange(with_items, true) || !read_items(walker, visit, status)) return false;
      if (!*status) return true;
      continue;
    }
    const std::string_view value = walker.value();
    if (value.empty()) return false;
    if (*key == "metadata") out->metadata = value;
  } while (walker.eat(','));
  return walker.eat('}') && walker.at_end() && !out->metadata.empty();
}

}  // namespace

Result<ListOutline> for_each_item(std::string_view list,
                                  const std::function<Status(std::string_view item)>& visit) {
  Walker walker(list);
  ListOutline out;
  Status status = ok();
  if (read_list(walker, visit, &out, &status)) {
    if (!status) return status.error();
    return out;
  }
  const std::string wrong = json_syntax_error(list);
  return Error(Errc::invalid, wrong.empty() ? "it is no list" : wrong);
}

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
