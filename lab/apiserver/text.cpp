#include "lab/apiserver/text.h"

#include "lib/base/json_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace regatta::apiserver {
namespace {

constexpr std::size_t members_bytes_usual = 2000;

/// The fields of ObjectMeta in the order of their declaration.
constexpr std::array<std::string_view, 15> meta_order = {"name",
                                                         "generateName",
                                                         "namespace",
                                                         "selfLink",
                                                         "uid",
                                                         "resourceVersion",
                                                         "generation",
                                                         "creationTimestamp",
                                                         "deletionTimestamp",
                                                         "deletionGracePeriodSeconds",
                                                         "labels",
                                                         "annotations",
                                                         "ownerReferences",
                                                         "finalizers",
                                                         "managedFields"};

void append_escaped(std::string& out, std::string_view raw) {
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else if (c == '&') {
      out += "\\u0026";
    } else if (c == '\xe2' && raw.substr(i, 3) == "\u2028") {
      out += "\\u2028";
      i += 2;
    } else if (c == '\xe2' && raw.substr(i, 3) == "\u2029") {
      out += "\\u2029";
      i += 2;
    } else {
      out += c;
    }
  }
}

/// Characters that need no escape, here and in every other JSON.
bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

void append_general(std::string& out, const Json& value) {
  append_escaped(out, value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void append_string(std::string& out, const std::string& text) {
  const auto written = [](char c) { return is_plain(c) || c == '"' || c == '\\'; };
  if (!std::all_of(text.begin(), text.end(), written)) return append_general(out, Json(text));
  append_quoted(out, text);
}

template <class Number>
void append_number(std::string& out, Number number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void append(std::string& out, const Json& value) {
  switch (value.type()) {
    case Json::value_t::object: {
      char before = '{';
      for (const auto& [key, member] : value.get_ref<const Json::object_t&>()) {
        out += before;
        append_string(out, key);
        out += ':';
        append(out, member);
        before = ',';
      }
      out += value.empty() ? "{}" : "}";
      return;
    }
    case Json::value_t::array: {
      char before = '[';
      for (const Json& item : value) {
        out += before;
        append(out, item);
        before = ',';
      }
      out += value.empty() ? "[]" : "]";
      return;
    }
    case Json::value_t::string:
      return append_string(out, value.get_ref<const std::string&>());
    case Json::value_t::number_integer:
      return append_number(out, value.get<std::int64_t>());
    case Json::value_t::number_unsigned:
      return append_number(out, value.get<std::uint64_t>());
    default:
      return append_general(out, value);
  }
}

void append_member(std::string& out, std::string_view key, const Json& value) {
  if (out.back() != '{') out += ',';
  append_string(out, std::string(key));
  out += ':';
  append(out, value);
}

void append_metadata(std::string& out, const Json& metadata) {
  if (!metadata.is_object()) return append(out, metadata);
  out += '{';
  for (const std::string_view key : meta_order) {
    const auto found = metadata.find(key);
    if (found != metadata.end()) append_member(out, key, *found);
  }
  for (const auto& [key, value] : metadata.items()) {
    if (std::find(meta_order.begin(), meta_order.end(), key) == meta_order.end()) {
      append_member(out, key, value);
    }
  }
  out += '}';
}

}  // namespace

std::string kubernetes_text(const Json& value) {
  std::string out;
  append(out, value);
  return out;
}

std::string members_text(const Json& object, std::size_t* metadata_bytes) {
  std::string out = "{";
  out.reserve(members_bytes_usual);
  const auto metadata = object.find("metadata");
  if (metadata != object.end()) {
    out += "\"metadata\":";
    append_metadata(out, *metadata);
  }
  if (metadata_bytes) *metadata_bytes = out.size();
  for (const auto& [key, value] : object.items()) {
    if (key == "kind" || key == "apiVersion" || key == "metadata") continue;
    append_member(out, key, value);
  }
  out += '}';
  return out;
}

std::string metadata_ordered_text(const Json& object) {
  if (!object.is_object()) return kubernetes_text(object);
  std::string out = "{";
  for (const auto& [key, value] : object.items()) {
    if (key != "metadata") {
      append_member(out, key, value);
      continue;
    }
    out += out == "{" ? "\"metadata\":" : ",\"metadata\":";
    append_metadata(out, value);
  }
  return out + "}";
}

std::string indented(std::string_view compact) {
  std::string out;
  int depth = 0;
  bool in_string = false;
  const auto line = [&out, &depth] {
    out += '\n';
    out.append(static_cast<std::size_t>(depth) * 2, ' ');
  };
  for (std::size_t i = 0; i < compact.size(); ++i) {
    const char c = compact[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < compact.size()) out += compact[++i];
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
      out += c;
    } else if (c == '{' || c == '[') {
      out += c;
      if (i + 1 < compact.size() && (compact[i + 1] == '}' || compact[i + 1] == ']')) {
        out += compact[++i];
      } else {
        ++depth;
        line();
      }
    } else if (c == '}' || c == ']') {
      --depth;
      line();
      out += c;
    } else if (c == ',') {
      out += c;
      line();
    } else if (c == ':') {
      out += ": ";
    } else {
      out += c;
    }
  }
  return out;
}

std::string object_text(std::string_view kind, std::string_view api_version,
                        std::string_view members, bool custom) {
  std::string out;
  out.reserve(members.size() + kind.size() + api_version.size() + 32);
  out += '{';
  if (custom) {
    out.append("\"apiVersion\":\"").append(api_version);
    out.append("\",\"kind\":\"").append(kind);
  } else {
    out.append("\"kind\":\"").append(kind);
    out.append("\",\"apiVersion\":\"").append(api_version);
  }
  out += '"';
  if (members != "{}") out += ',';
  out.append(members.substr(1));
  return out;
}

}  // namespace regatta::apiserver
