#pragma once

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace regatta {

/// What a caller can branch on. A code exists only if some caller does.
enum class Errc {
  not_found,
  already_exists,
  conflict,     ///< somebody else wrote first: read again, decide again
  gone,         ///< the resourceVersion asked for is no longer kept: list again
  denied,       ///< credentials or permissions: retrying the same call will not help
  invalid,      ///< the request or the input is wrong: retrying will not help
  unavailable,  ///< nobody answered, or asked us to come back later
  timeout,      ///< no answer in time; a write may or may not have happened
};

/// The code in snake_case, for logs and tests.
std::string_view name_of(Errc code);

/// A failure of an operation we expected might fail. Bugs assert; cancellation is an exception that
/// nobody catches except to re-throw.
class [[nodiscard]] Error {
 public:
  Error() = default;  // boost::system::result needs it
  Error(Errc code, std::string what) : code_(code), what_(std::move(what)) {}

  Errc code() const noexcept { return code_; }
  const std::string& what() const noexcept { return what_; }

  /// Whether the same operation, decided anew, may succeed later.
  bool retryable() const noexcept;

  /// Adds where it happened: "creating copy on east: connection refused".
  Error within(std::string_view where) const;

  friend bool operator==(const Error&, const Error&) = default;

 private:
  Errc code_ = Errc::invalid;
  std::string what_;
};

/// Called by value() on a Result that holds an error: a bug of the caller, hence an exception that
/// ends the process.
[[noreturn]] void throw_exception_from_error(const Error& e, const boost::source_location&);

template <class T>
using Result = boost::system::result<T, Error>;
using Status = boost::system::result<void, Error>;

/// A Status that says all went well.
inline Status ok() { return Status{}; }

}  // namespace regatta
