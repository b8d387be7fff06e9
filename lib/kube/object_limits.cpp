#include "lib/kube/object_limits.h"

#include "lib/base/json.h"

#include <algorithm>

namespace regatta::kube {
namespace {

// Decoded objects take up to three times what they count for. An object in a list becomes 200 bytes
// or so, a text in a list 32, and a member of a map, which has names of its own, 112.
constexpr std::size_t object_least = 64, text_least = 11, member_least = 40;
/// No type has so many members that are there: beyond it an object is a map.
constexpr std::size_t members_of_types = 32;

/// Reads a JSON text once and says how much longer its short entries count than they are. Ends on
/// every text.
class ShortEntries {
 public:
  explicit ShortEntries(std::string_view json) : text_(json) {}

  /// Of the value at the present place.
  std::size_t missing() {
    skip_marks();
    if (depth_ == json_depth_max) at_ = text_.size();
    if (at_ == text_.size()) return 0;
    ++depth_;
    const std::size_t sum = in_value(text_[at_]);
    --depth_;
    return sum;
  }

 private:
  std::size_t in_value(char first) {
    if (first == '{') return in_object();
    if (first == '[') return in_list();
    first == '"' ? skip_string() : skip_word();
    return 0;
  }

  std::size_t in_object() {
    std::size_t sum = 0, of_members = 0, count = 0;
    for (++at_; more('}'); ++count) {
      const std::size_t start = at_;
      skip_string();
      const std::size_t inside = missing();
      sum += inside;
      of_members += up_to(member_least, start, inside);
    }
    return count > members_of_types ? sum + of_members : sum;
  }

  std::size_t in_list() {
    std::size_t sum = 0;
    for (++at_; more(']');) {
      const std::size_t start = at_;
      const char first = text_[at_];
      const std::size_t least = first == '{' ? object_least : first == '"' ? text_least : 0;
      const std::size_t inside = missing();
      sum += inside + up_to(least, start, inside);
    }
    return sum;
  }

  /// What the entry from `start` to here, and the comma behind it, lack.
  std::size_t up_to(std::size_t least, std::size_t start, std::size_t inside) const {
    return least - std::min(least, at_ - start + 1 + inside);
  }

  void skip_string() {
    const std::size_t start = ++at_;
    for (;;) {
      const std::size_t quote = text_.find('"', at_);
      at_ = quote == std::string_view::npos ? text_.size() : quote + 1;
      if (quote == std::string_view::npos || backslashes(start, quote) % 2 == 0) return;
    }
  }

  /// In front of `end`, not beyond `start`.
  std::size_t backslashes(std::size_t start, std::size_t end) const {
    std::size_t count = 0;
    while (end - count > start && text_[end - count - 1] == '\\') ++count;
    return count;
  }

  void skip_word() {
    for (++at_; at_ < text_.size() && !ends_word(text_[at_]);) ++at_;
  }

  void skip_marks() {
    while (at_ < text_.size() && is_mark(text_[at_])) ++at_;
  }

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
  static bool is_mark(char c) { return c == ',' || c == ':' || is_space(c); }
  static bool ends_word(char c) { return c == ',' || c == ']' || c == '}' || is_space(c); }

  /// Whether the list or object has another entry; goes past `close`.
  bool more(char close) {
    skip_marks();
    if (at_ == text_.size()) return false;
    if (text_[at_] != close) return true;
    ++at_;
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::size_t counted_bytes(std::string_view json) {
  return json.size() + ShortEntries(json).missing();
}

}  // namespace regatta::kube
