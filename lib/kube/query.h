#pragma once

#include <string>
#include <string_view>

namespace regatta::kube {

/// `text` as one segment of a path or one value of a query: everything but RFC 3986's unreserved
/// characters is percent-encoded.
std::string percent_encode(std::string_view text);

/// The query of a request, in the order of the calls.
class Query {
 public:
  /// Nothing when `value` is empty.
  void add(std::string_view name, std::string_view value);
  void add_if(bool condition, std::string_view name, std::string_view value) {
    if (condition) add(name, value);
  }
  /// "?a=b&c=d", or empty.
  const std::string& str() const { return text_; }

 private:
  std::string text_;
};

}  // namespace regatta::kube
