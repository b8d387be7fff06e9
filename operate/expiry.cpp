#include "operate/expiry.h"

#include "lib/base/base64.h"
#include "lib/base/json_access.h"
#include "lib/net/pki.h"

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace regatta::operate {
namespace {

// The API writes whole seconds, and asking takes time.
constexpr Duration skew_allowed = std::chrono::seconds(5);

}  // namespace

std::optional<TimePoint> token_end(std::string_view token) {
  const std::size_t from = token.find('.');
  const std::size_t to = from == std::string_view::npos ? from : token.find('.', from + 1);
  if (to == std::string_view::npos) return std::nullopt;
  const auto claims = base64url_decode(token.substr(from + 1, to - from - 1));
  const auto read = claims ? parse_json(*claims) : Result<Json>(claims.error());
  const auto end = read ? integer_at(*read, "exp") : std::nullopt;
  if (!end) return std::nullopt;
  return TimePoint(std::chrono::seconds(*end));
}

void check_end(Examination* out, const std::string& where, const std::string& what, TimePoint end,
               TimePoint now, Duration early, const std::string& todo) {
  ++out->checks;
  if (end <= now) return out->error(where, what + " ended " + format_rfc3339(end), todo);
  if (end - now < early) out->warn(where, what + " ends " + format_rfc3339(end), todo);
}

void check_certificate(Examination* out, const std::string& where, const std::string& what,
                       std::string_view pem, TimePoint now, Duration early,
                       const std::string& todo) {
  const auto end = net::valid_until(pem);
  if (end) return check_end(out, where, what, *end, now, early, todo);
  out->error(where, what + " cannot be read: " + end.error().what(), todo);
}

void check_skew(Examination* out, const std::string& where, Duration ahead) {
  ++out->checks;
  if (std::abs(ahead.count()) <= skew_allowed.count()) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(ahead).count();
  out->warn(where,
            "its clock is " + std::to_string(std::abs(seconds)) + " s " +
                (seconds < 0 ? "behind" : "ahead of") + " the hub's",
            "synchronise the clocks of both control planes: waits and timeouts span them");
}

}  // namespace regatta::operate
