#include "lib/base/error.h"

#include <stdexcept>

namespace regatta {

std::string_view name_of(Errc code) {
  switch (code) {
    case Errc::not_found:
      return "not_found";
    case Errc::already_exists:
      return "already_exists";
    case Errc::conflict:
      return "conflict";
    case Errc::gone:
      return "gone";
    case Errc::denied:
      return "denied";
    case Errc::invalid:
      return "invalid";
    case Errc::unavailable:
      return "unavailable";
    case Errc::too_large:
      return "too_large";
    case Errc::timeout:
      return "timeout";
  }
  return "unknown";
}

bool Error::retryable() const noexcept {
  return code_ == Errc::conflict || code_ == Errc::unavailable || code_ == Errc::timeout ||
         code_ == Errc::gone;
}

Error Error::within(std::string_view where) const {
  Error wrapped = *this;
  wrapped.what_ = std::string(where) + ": " + what_;
  return wrapped;
}

void throw_exception_from_error(const Error& e, const boost::source_location&) {
  throw std::logic_error("unchecked Result: " + e.what());
}

}  // namespace regatta
