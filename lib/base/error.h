#pragma once

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regatta {

/// What a caller can branch on. A code exists only if some caller branches on it.
enum class Errc {
  not_found,
  already_exists,
  conflict,     ///< another client wrote first: read again, decide again
  gone,         ///< the resourceVersion asked for is no longer kept: list again
  denied,       ///< credentials or permissions: retrying the same call will not help
  invalid,      ///< the request or the input is wrong: retrying will not help
  unavailable,  ///< no connection or no answer, or the server asked us to come back later
  timeout,      ///< no answer in time; a write may or may not have happened
  too_large,    ///< more than a limit of ours allows: not to be asked for again soon
};

/// The code in snake_case, for logs and tests.
std::string_view name_of(Errc code);

/// What an API server said about a failure besides its message; absent when no server answered.
struct ErrorDetails {
  struct Cause {
    std::string reason;  ///< "FieldValueInvalid", "FieldManagerConflict", …
    std::string field;
    std::string message;
  };
  unsigned http_status = 0;
  std::string reason;  ///< of metav1.Status: "AlreadyExists"; empty without one
  std::vector<Cause> causes;
  std::optional<std::chrono::seconds> retry_after;
};

/// A failure that was expected to be possible. Bugs assert; cancellation is an exception that no
/// code catches except to re-throw it.
class [[nodiscard]] Error {
 public:
  Error() = default;  // boost::system::result needs it
  Error(Errc code, std::string what) : code_(code), what_(std::move(what)) {}

  Error(Errc code, std::string what, ErrorDetails details)
      : code_(code),
        what_(std::move(what)),
        details_(std::make_shared<const ErrorDetails>(std::move(details))) {}

  Errc code() const noexcept { return code_; }
  const std::string& what() const noexcept { return what_; }

  /// Null when no server answered.
  const ErrorDetails* details() const noexcept { return details_.get(); }
  /// Whether the same operation, decided anew, may succeed later.
  bool retryable() const noexcept;

  /// Adds where it happened: "creating copy on east: connection refused".
  Error within(std::string_view where) const;

  friend bool operator==(const Error& a, const Error& b) {
    return a.code_ == b.code_ && a.what_ == b.what_;
  }

 private:
  Errc code_ = Errc::invalid;
  std::string what_;
  std::shared_ptr<const ErrorDetails> details_;
};

/// Called by value() on a Result that holds an error: a bug of the caller, hence an exception that
/// ends the process.
[[noreturn]] void throw_exception_from_error(const Error& e, const boost::source_location&);

template <class T>
using Result = boost::system::result<T, Error>;
using Status = boost::system::result<void, Error>;

/// A Status without an error.
inline Status ok() {
  return Status{};
}

}  // namespace regatta
