#include "lib/manifest/schema/format.h"

#include "lib/base/base64.h"
#include "lib/base/duration.h"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace regatta::manifest {
namespace {

bool digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

int number(std::string_view text) {
  int out = 0;
  for (const char c : text) out = out * 10 + (c - '0');
  return out;
}

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  if (!digits(text.substr(0, 4)) || !digits(text.substr(5, 2)) || !digits(text.substr(8, 2))) {
    return false;
  }
  const int year = number(text.substr(0, 4));
  const int month = number(text.substr(5, 2));
  const int day = number(text.substr(8, 2));
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  constexpr std::array<int, 12> days = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1) return false;
  return day <= days[static_cast<std::size_t>(month - 1)] + (month == 2 && leap ? 1 : 0);
}

bool is_clock(std::string_view text) {  // 15:04
  return text.size() == 5 && text[2] == ':' && digits(text.substr(0, 2)) &&
         digits(text.substr(3)) && number(text.substr(0, 2)) < 24 && number(text.substr(3)) < 60;
}

/// RFC 3339: date, T, time, optional fraction, Z or offset.
bool is_date_time(std::string_view text) {
  if (text.size() < 20 || !is_date(text.substr(0, 10))) return false;
  if (text[10] != 'T' && text[10] != 't') return false;
  if (!is_clock(text.substr(11, 5)) || text[16] != ':') return false;
  if (!digits(text.substr(17, 2)) || number(text.substr(17, 2)) > 59) return false;
  text.remove_prefix(19);
  if (text.front() == '.') {
    const auto end = text.find_first_not_of("0123456789", 1);
    if (end == std::string_view::npos || end == 1) return false;
    text.remove_prefix(end);
  }
  if (text == "Z" || text == "z") return true;
  return text.size() == 6 && (text[0] == '+' || text[0] == '-') && is_clock(text.substr(1));
}

bool is_base64(std::string_view text) {
  return text.find_first_of("\r\n") == text.npos && base64_decode(text);
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !std::isxdigit(static_cast<unsigned char>(text[i]))) return false;
  }
  return true;
}

bool is_cidr(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  boost::system::error_code failed;
  const auto address = boost::asio::ip::make_address(std::string(text.substr(0, slash)), failed);
  const auto bits = text.substr(slash + 1);
  if (failed || !digits(bits) || bits.size() > 3) return false;
  return number(bits) <= (address.is_v4() ? 32 : 128);
}

}  // namespace

bool has_format(std::string_view text, std::string_view format) {
  boost::system::error_code failed;
  if (format == "date-time") return is_date_time(text);
  if (format == "date") return is_date(text);
  if (format == "byte") return is_base64(text);
  if (format == "uuid") return is_uuid(text);
  if (format == "cidr") return is_cidr(text);
  if (format == "duration") return parse_go_duration(text).has_value();
  if (format == "ipv4") {
    boost::asio::ip::make_address_v4(std::string(text), failed);
    return !failed;
  }
  if (format == "ipv6") {
    boost::asio::ip::make_address_v6(std::string(text), failed);
    return !failed;
  }
  return true;
}

}  // namespace regatta::manifest
