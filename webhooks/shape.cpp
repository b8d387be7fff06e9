#include "webhooks/shape.h"

#include "lib/api/quantity.h"
#include "lib/base/check.h"
#include "lib/base/clock.h"
#include "lib/base/duration.h"
#include "lib/base/json_access.h"
#include "lib/base/json_text.h"
#include "webhooks/shape_listings.h"

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <limits>

namespace regatta::webhooks {
namespace {

using Kind = ShapeType::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 11> scalars{{
    {"string", Kind::string},
    {"bool", Kind::boolean},
    {"int32", Kind::int32},
    {"int64", Kind::int64},
    {"float64", Kind::real},
    {"float32", Kind::real32},
    {"Duration", Kind::duration},
    {"Quantity", Kind::quantity},
    {"Time", Kind::time},
    {"IntOrString", Kind::int_or_string},
    {"Raw", Kind::raw},
}};

/// What stands for a value that is absent or null.
Json zero(const ShapeType& type) {
  if (type.pointer) return nullptr;
  switch (type.kind) {
    case Kind::string:
      return "";
    case Kind::boolean:
      return false;
    case Kind::int32:
    case Kind::int64:
    case Kind::int_or_string:
    case Kind::real:
    case Kind::real32:
      return 0;
    case Kind::duration:
      return "0s";
    case Kind::quantity:
      return "0";
    case Kind::structure:
      return Json::object();
    default:
      return nullptr;
  }
}

/// Every structure of the listings.
class Catalogue {
 public:
  Catalogue() {
    for (const std::string_view listing : {core_shapes, kueue_shapes, config_shapes})
      add_names(listing);
    for (const std::string_view listing : {core_shapes, kueue_shapes, config_shapes})
      add_fields(listing);
  }

  ShapeType type(std::string_view text) const {
    ShapeType out;
    if (text.starts_with('*')) {
      out = type(text.substr(1));
      out.pointer = true;
      return out;
    }
    if (text.starts_with("[]") || text.starts_with("{}")) {
      out.kind = text.front() == '[' ? Kind::list : Kind::map;
      out.element = std::make_shared<const ShapeType>(type(text.substr(2)));
      return out;
    }
    for (const auto& [name, kind] : scalars) {
      out.kind = kind;
      if (name == text) return out;
    }
    const auto found = shapes_.find(text);
    REGATTA_CHECK(found != shapes_.end(), "a type that no listing has");
    out.kind = Kind::structure;
    out.shape = &found->second;
    return out;
  }

 private:
  template <class F>
  static void each_line(std::string_view text, F visit) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (end > 0) visit(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  void add_names(std::string_view listing) {
    each_line(listing, [&](std::string_view line) {
      if (line.front() != ' ') shapes_[std::string(line)].name = line;
    });
  }

  void add_fields(std::string_view listing) {
    Shape* shape = nullptr;
    each_line(listing, [&](std::string_view line) {
      if (line.front() != ' ') {
        shape = &shapes_.find(line)->second;
        return;
      }
      while (!line.empty()) {
        const std::size_t end = std::min(line.find(' '), line.size());
        if (end > 0) shape->fields.push_back(field(line.substr(0, end)));
        line.remove_prefix(std::min(end + 1, line.size()));
      }
    });
    for (auto& [name, one] : shapes_) {
      for (std::size_t i = 0; i < one.fields.size(); ++i) one.by_name[one.fields[i].name] = i;
    }
  }

  ShapeField field(std::string_view text) const {
    const std::size_t colon = text.find(':');
    std::string_view name = text.substr(0, colon);
    ShapeField out;
    out.type = type(text.substr(colon + 1));
    for (; name.back() == '?' || name.back() == '!'; name.remove_suffix(1)) {
      (name.back() == '?' ? out.omit_empty : out.omit_zero) = true;
    }
    out.name = name;
    return out;
  }

  std::map<std::string, Shape, std::less<>> shapes_;
};

const Catalogue& catalogue() {
  static const Catalogue all;
  return all;
}

// --- reading ------------------------------------------------------------------------------------

std::string_view wanted(Kind kind) {
  switch (kind) {
    case Kind::string:
      return "a string";
    case Kind::boolean:
      return "a boolean";
    case Kind::int32:
      return "a 32 bit number";
    case Kind::int64:
      return "a number";
    case Kind::real:
    case Kind::real32:
      return "a number";
    case Kind::duration:
      return "a duration such as \"15m\" or \"1h30m\"";
    case Kind::time:
      return "a time";
    case Kind::int_or_string:
      return "a number or a string";
    case Kind::list:
      return "a list";
    default:
      return "an object";
  }
}

class Reader {
 public:
  /// Nothing when the value is null or wrong.
  std::optional<Json> read(const Json& value, const ShapeType& type, const std::string& path) {
    if (value.is_null() && type.kind == Kind::duration && !type.pointer) {
      return wrong(type.kind, path);
    }
    if (value.is_null() || error_) return std::nullopt;
    switch (type.kind) {
      case Kind::raw:
        return value;
      case Kind::list:
        return read_list(value, type, path);
      case Kind::map:
        return read_map(value, type, path);
      case Kind::structure:
        return read_structure(value, *type.shape, path);
      case Kind::quantity:
        return read_quantity(value);
      case Kind::time:
        return read_time(value, path);
      case Kind::duration:
        return read_duration(value, path);
      case Kind::real:
      case Kind::real32:
        return read_real(value, type.kind, path);
      default:
        if (fits(value, type.kind)) return value;
        return wrong(type.kind, path);
    }
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  static bool fits(const Json& value, Kind kind) {
    switch (kind) {
      case Kind::string:
        return value.is_string();
      case Kind::boolean:
        return value.is_boolean();
      case Kind::int64:
        return fits_number(value, std::numeric_limits<std::int64_t>::max());
      case Kind::int_or_string:
        if (value.is_string()) return true;
        [[fallthrough]];
      default:
        return fits_number(value, std::numeric_limits<std::int32_t>::max());
    }
  }

  static bool fits_number(const Json& value, std::int64_t max) {
    if (!value.is_number_integer()) return false;
    if (value.is_number_unsigned()) {
      return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(max);
    }
    const auto number = value.get<std::int64_t>();
    return number <= max && number >= -max - 1;
  }

  std::optional<Json> wrong(Kind kind, const std::string& path) {
    const std::string where = path.empty() ? "the object" : path;
    error_ = Error(Errc::invalid, where + ": expected " + std::string(wanted(kind)));
    return std::nullopt;
  }

  std::optional<Json> read_quantity(const Json& value) {
    const bool text = value.is_string();
    auto quantity = api::Quantity::parse(text ? value.get<std::string>() : dump_json(value));
    if (quantity) return quantity->str();
    error_ = quantity.error();
    return std::nullopt;
  }

  std::optional<Json> read_time(const Json& value, const std::string& path) {
    if (!value.is_string()) return wrong(Kind::time, path);
    const auto time = parse_rfc3339(value.get<std::string>());
    if (!time) return wrong(Kind::time, path);
    return format_rfc3339(*time);
  }

  std::optional<Json> read_duration(const Json& value, const std::string& path) {
    const auto length =
        value.is_string() ? parse_go_duration(value.get_ref<const std::string&>()) : std::nullopt;
    if (!length) return wrong(Kind::duration, path);
    return format_go_duration(*length);
  }

  std::optional<Json> read_real(const Json& value, Kind kind, const std::string& path) {
    if (!value.is_number()) return wrong(kind, path);
    if (kind == Kind::real || !value.is_number_float()) return value;
    return nearest_float(value.get<double>());
  }

  /// The shortest number that reads as the same number of 32 bit.
  static double nearest_float(double value) {
    std::array<char, 32> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(value));
    double out = value;
    std::from_chars(text.data(), end.ptr, out);
    return out;
  }

  std::optional<Json> read_list(const Json& value, const ShapeType& type, const std::string& path) {
    if (!value.is_array()) return wrong(type.kind, path);
    Json out = Json::array();
    for (const Json& item : value) {
      auto read_item = read(item, *type.element, path + "[" + std::to_string(out.size()) + "]");
      if (error_) return std::nullopt;
      out.push_back(read_item ? std::move(*read_item) : zero(*type.element));
    }
    return out;
  }

  std::optional<Json> read_map(const Json& value, const ShapeType& type, const std::string& path) {
    if (!value.is_object()) return wrong(type.kind, path);
    Json out = Json::object();
    for (const auto& [key, item] : value.items()) {
      auto read_item = read(item, *type.element, path + "[" + key + "]");
      if (error_) return std::nullopt;
      out.emplace(key, read_item ? std::move(*read_item) : zero(*type.element));
    }
    return out;
  }

  std::optional<Json> read_structure(const Json& value, const Shape& shape,
                                     const std::string& path) {
    if (!value.is_object()) return wrong(Kind::structure, path);
    Json out = Json::object();
    for (const auto& [key, item] : value.items()) {
      const auto found = shape.by_name.find(key);
      if (found == shape.by_name.end()) continue;
      auto read_item =
          read(item, shape.fields[found->second].type, path.empty() ? key : path + "." + key);
      if (error_) return std::nullopt;
      if (read_item) out.emplace(key, std::move(*read_item));
    }
    return out;
  }

  std::optional<Error> error_;
};

void collect_unknown(const Json& value, const ShapeType& type, const std::string& path,
                     std::vector<UnknownMember>* out) {
  if (type.kind == Kind::list && value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      collect_unknown(value[i], *type.element, path + "[" + std::to_string(i) + "]", out);
    }
  }
  if (!value.is_object() || (type.kind != Kind::map && type.kind != Kind::structure)) return;
  for (const auto& [key, item] : value.items()) {
    const std::string here = path.empty() ? key : path + "." + key;
    if (type.kind == Kind::map) {
      collect_unknown(item, *type.element, here, out);
      continue;
    }
    const auto found = type.shape->by_name.find(key);
    if (found == type.shape->by_name.end()) {
      UnknownMember& one = out->emplace_back(UnknownMember{here, key, {}});
      for (const ShapeField& field : type.shape->fields) one.known.push_back(field.name);
    } else {
      collect_unknown(item, type.shape->fields[found->second].type, here, out);
    }
  }
}

// --- writing ------------------------------------------------------------------------------------

bool is_zero(const Json* value, const ShapeType& type) {
  if (!value || value->is_null()) return true;
  if (type.pointer) return false;
  switch (type.kind) {
    case Kind::string:
    case Kind::list:
    case Kind::map:
      return value->empty() || *value == "";
    case Kind::boolean:
      return *value == false;
    case Kind::int32:
    case Kind::int64:
    case Kind::int_or_string:
    case Kind::real:
    case Kind::real32:
      return *value == 0;
    case Kind::duration:
      return *value == "0s";
    case Kind::quantity:
      return *value == "0";
    case Kind::structure:
      for (const ShapeField& field : type.shape->fields) {
        if (!is_zero(member(*value, field.name), field.type)) return false;
      }
      return true;
    default:
      return false;
  }
}

/// What is left out "when empty": never a structure, and a quantity or a time is one.
bool is_empty(const Json* value, const ShapeType& type) {
  const bool structure = type.kind == Kind::structure || type.kind == Kind::quantity ||
                         type.kind == Kind::time || type.kind == Kind::duration ||
                         type.kind == Kind::int_or_string;
  return structure && !type.pointer ? false : is_zero(value, type);
}

void append(std::string& out, const Json* value, const ShapeType& type);

void append_structure(std::string& out, const Json* value, const Shape& shape) {
  out += '{';
  bool first = true;
  for (const ShapeField& field : shape.fields) {
    const Json* here = value ? member(*value, field.name) : nullptr;
    if (field.omit_empty && is_empty(here, field.type)) continue;
    if (field.omit_zero && is_zero(here, field.type)) continue;
    if (!first) out += ',';
    first = false;
    append_quoted(out, field.name);
    out += ':';
    append(out, here, field.type);
  }
  out += '}';
}

void append_nothing(std::string& out, const ShapeType& type) {
  const bool structure = !type.pointer && type.kind == Kind::structure;
  if (structure) return append_structure(out, nullptr, *type.shape);
  append_json(out, zero(type), Escapes::html);
}

void append(std::string& out, const Json* value, const ShapeType& type) {
  if (!value || value->is_null()) return append_nothing(out, type);
  if (type.kind == Kind::structure) return append_structure(out, value, *type.shape);
  if (type.kind != Kind::list && type.kind != Kind::map) {
    return append_json(out, *value, Escapes::html);
  }
  const bool list = type.kind == Kind::list;
  out += list ? '[' : '{';
  bool first = true;
  for (auto it = value->begin(); it != value->end(); ++it) {
    if (!first) out += ',';
    first = false;
    if (!list) {
      append_json(out, it.key(), Escapes::html);
      out += ':';
    }
    append(out, &*it, *type.element);
  }
  out += list ? ']' : '}';
}

// --- comparing ----------------------------------------------------------------------------------

bool same_items(const Json* a, const Json* b, const ShapeType& type) {
  const std::size_t size = a ? a->size() : 0;
  if (size != (b ? b->size() : 0)) return false;
  for (std::size_t i = 0; i < size; ++i) {
    if (!same_shaped(&(*a)[i], &(*b)[i], *type.element)) return false;
  }
  return true;
}

bool same_entries(const Json* a, const Json* b, const ShapeType& type) {
  if ((a ? a->size() : 0) != (b ? b->size() : 0)) return false;
  if (!a || !b) return true;
  for (const auto& [key, value] : a->items()) {
    const auto other = b->find(key);
    if (other == b->end() || !same_shaped(&value, &*other, *type.element)) return false;
  }
  return true;
}

bool same_quantity(const Json* a, const Json* b) {
  const auto read = [](const Json* value) {
    if (!value) return api::Quantity();
    return api::Quantity::parse(value->get<std::string>()).value();
  };
  return read(a) == read(b);
}

}  // namespace

ShapeType shape_type(std::string_view expression) {
  return catalogue().type(expression);
}

Result<Json> read_shaped(const Json& value, const ShapeType& type) {
  Reader reader;
  std::optional<Json> out = reader.read(value, type, "");
  if (reader.error()) return *reader.error();
  return out ? std::move(*out) : Json();
}

std::vector<UnknownMember> unknown_members(const Json& value, const ShapeType& type) {
  std::vector<UnknownMember> out;
  collect_unknown(value, type, "", &out);
  return out;
}

std::string shaped_text(const Json* value, const ShapeType& type) {
  std::string out;
  append(out, value, type);
  return out;
}

bool same_shaped(const Json* a, const Json* b, const ShapeType& type) {
  if (a && a->is_null()) a = nullptr;
  if (b && b->is_null()) b = nullptr;
  if (!a && !b) return true;
  if (type.pointer && (!a || !b)) return false;
  switch (type.kind) {
    case Kind::list:
      return same_items(a, b, type);
    case Kind::map:
      return same_entries(a, b, type);
    case Kind::quantity:
      return same_quantity(a, b);
    case Kind::structure:
      for (const ShapeField& field : type.shape->fields) {
        const Json* in_a = a ? member(*a, field.name) : nullptr;
        const Json* in_b = b ? member(*b, field.name) : nullptr;
        if (!same_shaped(in_a, in_b, field.type)) return false;
      }
      return true;
    default:
      if (!a || !b) return is_zero(a ? a : b, type);
      return *a == *b;
  }
}

}  // namespace regatta::webhooks
