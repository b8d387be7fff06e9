#include "lib/kube/status.h"

#include "lib/base/json_access.h"
#include "lib/base/limited_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace regatta::kube {
namespace {

Errc code_of(unsigned status, std::string_view reason) {
  switch (status) {
    case 401:
    case 403:
      return Errc::denied;
    case 404:
      return Errc::not_found;
    case 409:
      return reason == "AlreadyExists" ? Errc::already_exists : Errc::conflict;
    case 410:
      return Errc::gone;
    case 408:
    case 504:
      return Errc::timeout;
    case 429:
      return Errc::unavailable;
    default:
      return status >= 500 ? Errc::unavailable : Errc::invalid;
  }
}

constexpr std::size_t message_bytes_max = 1024;  ///< of what ends in logs, conditions and events
constexpr std::size_t word_bytes_max = 256;
constexpr std::size_t causes_max = 32;
/// A longer body is not parsed: its tree would take many times its memory, for 1 KiB of a message.
constexpr std::size_t status_bytes_max = 64 * 1024;
/// What a server asks for beyond that is taken for this much, so that sums with it do not overflow.
constexpr std::chrono::seconds retry_after_max = std::chrono::hours(24);

std::string limited_at(const Json& object, const char* name, std::size_t bytes_max) {
  return limited_text(text_at(object, name), bytes_max);
}

std::chrono::seconds within_bounds(std::int64_t seconds) {
  return std::clamp(std::chrono::seconds(seconds), std::chrono::seconds(0), retry_after_max);
}

void read_details(const Json& details, ErrorDetails* into) {
  const Json* seconds = member(details, "retryAfterSeconds");
  if (seconds && seconds->is_number_integer()) {
    // More than an int64 holds is not negative.
    const bool huge = seconds->is_number_unsigned() && seconds->get<std::int64_t>() < 0;
    into->retry_after = huge ? retry_after_max : within_bounds(seconds->get<std::int64_t>());
  }
  const auto causes = details.find("causes");
  if (causes == details.end() || !causes->is_array()) return;
  for (const Json& cause : *causes) {
    if (!cause.is_object()) continue;
    if (into->causes.size() == causes_max) return;
    into->causes.push_back({limited_at(cause, "reason", word_bytes_max),
                            limited_at(cause, "field", word_bytes_max),
                            limited_at(cause, "message", message_bytes_max)});
  }
}

/// A body that is no Status ("404 page not found"), in one short line.
std::string excerpt(std::string_view body) {
  constexpr std::size_t bytes_max = 200;
  std::string line(body.substr(0, std::min(body.find('\n'), bytes_max)));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return line;
}

Error from_status(const Json* status, unsigned http_status, std::string fallback,
                  std::optional<std::chrono::seconds> retry_after) {
  ErrorDetails details;
  details.http_status = http_status;
  details.retry_after = retry_after;
  std::string message = std::move(fallback);
  if (status) {
    details.reason = limited_at(*status, "reason", word_bytes_max);
    std::string told = limited_at(*status, "message", message_bytes_max);
    if (!told.empty()) message = std::move(told);
    if (const Json* more = object_at(*status, "details")) read_details(*more, &details);
    if (retry_after) details.retry_after = retry_after;
  }
  if (message.empty()) message = "the server answered " + std::to_string(http_status);
  const Errc code = code_of(http_status, details.reason);
  return Error(code, std::move(message), std::move(details));
}

bool is_status(const Json& value) {
  return value.is_object() && text_at(value, "kind") == "Status";
}

/// Only the form in seconds: API servers send no dates.
std::optional<std::chrono::seconds> retry_after_of(const net::Headers& headers) {
  const std::string_view text = headers.get("Retry-After");
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0) return std::nullopt;
  return within_bounds(seconds);
}

}  // namespace

Error error_of(const net::HttpResponse& response) {
  const auto retry_after = retry_after_of(response.headers);
  if (response.body.size() <= status_bytes_max) {
    const Result<Json> body = parse_json(response.body);
    if (body && is_status(*body)) return from_status(&*body, response.status, {}, retry_after);
  }
  return from_status(nullptr, response.status, excerpt(response.body), retry_after);
}

Error error_of_status_object(const Json& status) {
  if (!status.is_object()) return Error(Errc::invalid, "an ERROR event without a Status");
  const auto code = status.find("code");
  const unsigned http_status =
      code != status.end() && code->is_number_integer() ? code->get<unsigned>() : 500;
  return from_status(&status, http_status, {}, std::nullopt);
}

std::string_view reason_of(const Error& e) {
  return e.details() ? std::string_view(e.details()->reason) : std::string_view();
}

bool is_forbidden(const Error& e) {
  return e.code() == Errc::denied && e.details() && e.details()->http_status == 403;
}

bool is_refusal(const Error& e) {
  return e.code() == Errc::invalid || is_forbidden(e);
}

bool may_have_happened(const Error& e) {
  // An answer that is too large is one to a request that was served.
  if (e.code() == Errc::timeout || e.code() == Errc::too_large) return true;
  if (e.code() != Errc::unavailable) return false;
  // The server refuses with a 429 or a Retry-After before it acts; a plain 5xx may come later.
  return !e.details() || (e.details()->http_status != 429 && !e.details()->retry_after);
}

}  // namespace regatta::kube
