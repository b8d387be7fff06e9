#include "lib/kube/query.h"

#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

namespace regatta::kube {

std::string percent_encode(std::string_view text) {
  return boost::urls::encode({text.data(), text.size()}, boost::urls::unreserved_chars);
}

void Query::add(std::string_view name, std::string_view value) {
  if (value.empty()) return;
  text_ += text_.empty() ? '?' : '&';
  text_ += name;
  text_ += '=';
  text_ += percent_encode(value);
}

}  // namespace regatta::kube
