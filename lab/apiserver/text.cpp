#include "lab/apiserver/text.h"

#include "lib/base/json_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

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

void append(std::string& out, const Json& value) {
  append_json(out, value, Escapes::html);
}

void append_member(std::string& out, std::string_view key, const Json& value) {
  if (out.back() != '{') out += ',';
  append(out, Json(key));
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
