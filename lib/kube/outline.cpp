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
  explicit Walker(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }
  std::string_view since(std::size_t begin) const { return text_.substr(begin, at_ - begin); }
  std::string_view rest() const { return text_.substr(at_); }

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
  std::size_t at_;
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
    if (*key == "metadata") {
      if (!read_metadata(walker, out) || out->resource_version.empty()) return false;
      out->after_metadata = walker.rest();
      return true;
    }
    if (*key == "apiVersion") {
      const auto version = walker.plain_string();
      if (!version) return false;
      out->api_version = *version;
    } else if (!walker.skip_value()) {
      return false;
    }
  } while (walker.eat(','));
  return false;
}

}  // namespace

/// What stands next: an item, the end of the list, or something that no list has.
ListItems::Found ListItems::find_next(std::string_view* item) {
  Walker walker(list_, at_);
  const Found found = walk(walker, item);
  at_ = walker.at();
  return found;
}

template <class Reader>
ListItems::Found ListItems::walk(Reader& walker, std::string_view* item) {
  if (place_ == Place::begin && !walker.eat('{')) return Found::nonsense;
  for (;;) {
    if (place_ == Place::first_item || place_ == Place::later_item) {
      const bool first = place_ == Place::first_item;
      if (first ? !walker.eat(']') : walker.eat(',')) {
        place_ = Place::later_item;
        *item = walker.value();
        return item->empty() ? Found::nonsense : Found::item;
      }
      if (!first && !walker.eat(']')) return Found::nonsense;
      place_ = Place::after_member;
    }
    if (place_ == Place::after_member && !walker.eat(',')) {
      const bool whole = walker.eat('}') && walker.at_end() && !metadata_.empty();
      return whole ? Found::end : Found::nonsense;
    }
    if (!read_member(walker)) return Found::nonsense;
  }
}

/// Of the items only the beginning.
template <class Reader>
bool ListItems::read_member(Reader& walker) {
  const auto key = walker.plain_string();
  if (!key || !walker.eat(':')) return false;
  place_ = Place::after_member;
  if (*key == "items") {
    if (std::exchange(with_items_, true)) return false;
    if (!walker.eat('[')) return walker.value() == "null";
    place_ = Place::first_item;
    return true;
  }
  const std::string_view value = walker.value();
  if (*key == "metadata") metadata_ = value;
  return !value.empty();
}

Result<std::optional<std::string_view>> ListItems::next() {
  std::string_view item;
  switch (find_next(&item)) {
    case Found::item:
      return std::optional(item);
    case Found::end:
      return std::optional<std::string_view>();
    case Found::nonsense:
      break;
  }
  const std::string wrong = json_syntax_error(list_);
  return Error(Errc::invalid, wrong.empty() ? "it is no list" : wrong);
}

Result<ListOutline> for_each_item(std::string_view list,
                                  const std::function<Status(std::string_view item)>& visit) {
  ListItems items(list);
  for (;;) {
    const auto item = items.next();
    if (!item) return item.error();
    if (!*item) return ListOutline{items.metadata()};
    const Status taken = visit(**item);
    if (!taken) return taken.error();
  }
}

std::optional<Outline> outline_of(std::string_view object) {
  Walker walker(object);
  Outline out;
  if (!read_object(walker, &out)) return std::nullopt;
  return out;
}

std::optional<MemberText> spec_after(const Outline& object) {
  Walker walker(object.after_metadata);
  if (!walker.eat(',') || walker.plain_string() != "spec" || !walker.eat(':')) return std::nullopt;
  MemberText spec;
  spec.value = walker.value();
  spec.whole = walker.since(0);
  if (spec.value.empty()) return std::nullopt;
  return spec;
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

void cut(std::string_view part, std::string* text) {
  if (part.empty()) return;
  text->erase(static_cast<std::size_t>(part.data() - text->data()), part.size());
}

std::string without_managed_fields(std::string text) {
  const auto outline = outline_of(text);
  if (outline) cut(outline->managed_fields, &text);
  return text;
}

}  // namespace regatta::kube
