#include "lib/manifest/fields/go_text.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace regatta::manifest {
namespace {

std::string number_text(const Json& value) {
  if (!value.is_number_float()) return value.dump();
  double number = value.get<double>();
  if (std::trunc(number) == number && std::fabs(number) < 1e15) {
    return std::to_string(static_cast<long long>(number));
  }
  return value.dump();
}

std::string joined(const Json& list, std::string_view separator, std::string (*text)(const Json&)) {
  std::string all;
  for (const Json& item : list) {
    if (!all.empty()) all += separator;
    all += text(item);
  }
  return all;
}

}  // namespace

std::string go_plain(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "<nil>";
    case Json::value_t::boolean:
      return value.get<bool>() ? "true" : "false";
    case Json::value_t::string:
      return value.get<std::string>();
    case Json::value_t::array:
      return "[" + joined(value, " ", go_plain) + "]";
    case Json::value_t::object: {
      std::string text = "map[";
      for (const auto& [key, item] : value.items()) {
        if (text.size() > 4) text += " ";
        text += key + ":" + go_plain(item);
      }
      return text + "]";
    }
    default:
      return number_text(value);
  }
}

std::string go_syntax(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "interface {}(nil)";
    case Json::value_t::string:
      return go_quoted(value.get_ref<const std::string&>());
    case Json::value_t::array:
      return "[]interface {}{" + joined(value, ", ", go_syntax) + "}";
    case Json::value_t::object: {
      std::string text;
      for (const auto& [key, item] : value.items()) {
        if (!text.empty()) text += ", ";
        text += go_quoted(key) + ":" + go_syntax(item);
      }
      return "map[string]interface {}{" + text + "}";
    }
    default:
      return go_plain(value);
  }
}

std::string go_type(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "<nil>";
    case Json::value_t::boolean:
      return "bool";
    case Json::value_t::string:
      return "string";
    case Json::value_t::array:
      return "[]interface {}";
    case Json::value_t::object:
      return "map[string]interface {}";
    case Json::value_t::number_float:
      return "float64";
    default:
      return "int64";
  }
}

std::string go_quoted(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\t':
        quoted += "\\t";
        break;
      case '\r':
        quoted += "\\r";
        break;
      default:
        if (byte < 0x20 || byte == 0x7f) {
          quoted += "\\x";
          quoted += digits[byte >> 4];
          quoted += digits[byte & 15];
        } else {
          quoted += c;
        }
    }
  }
  return quoted + "\"";
}

}  // namespace regatta::manifest
