#pragma once

#include "lib/base/json.h"
#include "lib/manifest/strategy.h"

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::manifest {

struct ResourceType;

/// metav1.StatusDetails.
struct FailureDetails {
  std::string name;
  std::string group;
  std::string kind;
  std::string uid;
  FieldErrors causes;  ///< `reason` is the cause's own, `field` may be empty
  int retry_after_seconds = 0;
};

/// Why a request is refused: what becomes the Status object of the answer.
struct Failure {
  int code = 500;
  std::string reason;  ///< empty for some 500s
  std::string message;
  std::optional<FailureDetails> details;
  std::string continue_token;  ///< metadata.continue of an expired list
  bool plain_text = false;     ///< the message alone, as text/plain
  bool nosniff = false;        ///< X-Content-Type-Options: nosniff
};

[[noreturn]] void throw_exception_from_error(const Failure& e, const boost::source_location&);

/// A value, or the refusal to answer with.
template <class T>
using Answer = boost::system::result<T, Failure>;

/// The Status object of a failure.
Json to_status(const Failure& failure);
/// A Success Status with optional details.
Json success_status(const std::optional<FailureDetails>& details, int code = 0);

/// `name` quoted as Go's %q does.
std::string in_quotes(std::string_view text);

Failure not_found(const ResourceType& type, std::string_view name);
Failure not_found(std::string_view group, std::string_view plural, std::string_view name);
Failure already_exists(const ResourceType& type, std::string_view name);
Failure conflict(const ResourceType& type, std::string_view name, std::string_view why);
Failure modified_conflict(const ResourceType& type, std::string_view name);
Failure forbidden(const ResourceType& type, std::string_view name, std::string_view why);
Failure bad_request(std::string message);
Failure internal_error(std::string message);
/// "<Kind>.<group> "<name>" is invalid: <causes>".
Failure invalid(std::string_view group, std::string_view kind, std::string_view name,
                FieldErrors causes);
/// The Invalid failure of the options of a request: "CreateOptions.meta.k8s.io "" is invalid: …".
Failure invalid_options(std::string_view kind, FieldErrors causes);
/// The generic answers of the HTTP layer, with empty details.
Failure resource_not_found();
Failure method_not_allowed();
Failure page_not_found();
Failure method_not_supported(const ResourceType& type, std::string_view action);
Failure expired(std::string message);
Failure future_version(std::uint64_t asked, std::uint64_t current);

}  // namespace regatta::manifest
