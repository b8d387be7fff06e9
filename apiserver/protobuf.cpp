#include "apiserver/protobuf.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace regatta::apiserver {
namespace {

constexpr std::string_view magic("k8s\0", 4);

struct Field {
  std::uint32_t number = 0;
  std::uint64_t integer = 0;
  std::string_view bytes;
};

/// Reads the fields of one message; stops at anything malformed.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  bool next(Field& field) {
    std::uint64_t key = 0;
    if (rest_.empty() || !varint(key)) return false;
    field = Field{static_cast<std::uint32_t>(key >> 3), 0, {}};
    switch (key & 7) {
      case 0:
        return varint(field.integer);
      case 1:
        return skip(8);
      case 2: {
        std::uint64_t size = 0;
        if (!varint(size) || size > rest_.size()) return false;
        field.bytes = rest_.substr(0, size);
        return skip(size);
      }
      case 5:
        return skip(4);
      default:
        return false;
    }
  }

 private:
  bool varint(std::uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return false;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool skip(std::uint64_t count) {
    if (count > rest_.size()) return false;
    rest_.remove_prefix(count);
    return true;
  }

  std::string_view rest_;
};

std::string base64(std::string_view bytes) {
  static constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out += i + j <= bytes.size() ? digits[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return out;
}

/// One entry of a map of strings (or of bytes, as base64).
void add_entry(Json& map, std::string_view entry, bool bytes) {
  std::string key;
  std::string_view value;
  Message message(entry);
  for (Field field; message.next(field);) {
    if (field.number == 1) key = field.bytes;
    if (field.number == 2) value = field.bytes;
  }
  map[key] = bytes ? base64(value) : std::string(value);
}

Json metadata_of(std::string_view bytes) {
  static const std::map<std::uint32_t, const char*> texts = {
      {1, "name"}, {2, "generateName"}, {3, "namespace"}, {5, "uid"}, {6, "resourceVersion"}};
  Json metadata = Json::object();
  Message message(bytes);
  for (Field field; message.next(field);) {
    const auto text = texts.find(field.number);
    if (text != texts.end() && !field.bytes.empty()) {
      metadata[text->second] = std::string(field.bytes);
    } else if (field.number == 11) {
      add_entry(metadata["labels"], field.bytes, false);
    } else if (field.number == 12) {
      add_entry(metadata["annotations"], field.bytes, false);
    } else if (field.number == 14) {
      metadata["finalizers"].push_back(std::string(field.bytes));
    }
  }
  return metadata;
}

struct Member;
using Members = std::map<std::uint32_t, Member>;

struct Member {
  enum class Kind {
    texts,
    bytes,
    boolean,
    integer,
    text,
    list,
    metadata,
    message,
    messages,
    ignored
  } kind;
  const char* name;
  Members members;  ///< of a message
};

/// Of kinds with more fields than kubectl's flags can set; those fields only.
const std::map<std::string, Members>& partial_kinds() {
  using Kind = Member::Kind;
  static const Member metadata{Kind::metadata, "metadata", {}};
  static const Member rules{Kind::messages,
                            "rules",
                            {{1, {Kind::list, "verbs", {}}},
                             {2, {Kind::list, "apiGroups", {}}},
                             {3, {Kind::list, "resources", {}}},
                             {4, {Kind::list, "resourceNames", {}}},
                             {5, {Kind::list, "nonResourceURLs", {}}}}};
  static const Member subjects{Kind::messages,
                               "subjects",
                               {{1, {Kind::text, "kind", {}}},
                                {2, {Kind::text, "apiGroup", {}}},
                                {3, {Kind::text, "name", {}}},
                                {4, {Kind::text, "namespace", {}}}}};
  static const Member role{Kind::message,
                           "roleRef",
                           {{1, {Kind::text, "apiGroup", {}}},
                            {2, {Kind::text, "kind", {}}},
                            {3, {Kind::text, "name", {}}}}};
  static const Member containers{Kind::messages,
                                 "containers",
                                 {{1, {Kind::text, "name", {}}},
                                  {2, {Kind::text, "image", {}}},
                                  {3, {Kind::list, "command", {}}},
                                  {4, {Kind::list, "args", {}}},
                                  {14, {Kind::text, "imagePullPolicy", {}}}}};
  static const Member pod{
      Kind::message,
      "template",
      {{1, metadata},
       {2, {Kind::message, "spec", {{2, containers}, {3, {Kind::text, "restartPolicy", {}}}}}}}};
  static const Member job{Kind::message,
                          "spec",
                          {{1, {Kind::integer, "parallelism", {}}},
                           {2, {Kind::integer, "completions", {}}},
                           {6, pod},
                           {7, {Kind::integer, "backoffLimit", {}}}}};
  static const Member status{Kind::ignored, "", {}};
  static const std::map<std::string, Members> kinds = {
      {"Role", {{1, metadata}, {2, rules}}},
      {"ClusterRole", {{1, metadata}, {2, rules}}},
      {"RoleBinding", {{1, metadata}, {2, subjects}, {3, role}}},
      {"ClusterRoleBinding", {{1, metadata}, {2, subjects}, {3, role}}},
      {"Job", {{1, metadata}, {2, job}, {3, status}}}};
  return kinds;
}

const Members& object_members(const std::string& kind, bool* known) {
  using Kind = Member::Kind;
  static const Member metadata{Kind::metadata, "metadata", {}};
  static const Member status{Kind::ignored, "", {}};
  static const Member resource{Kind::message,
                               "resourceAttributes",
                               {{1, {Kind::text, "namespace", {}}},
                                {2, {Kind::text, "verb", {}}},
                                {3, {Kind::text, "group", {}}},
                                {4, {Kind::text, "version", {}}},
                                {5, {Kind::text, "resource", {}}},
                                {6, {Kind::text, "subresource", {}}},
                                {7, {Kind::text, "name", {}}}}};
  static const Member path{Kind::message,
                           "nonResourceAttributes",
                           {{1, {Kind::text, "path", {}}}, {2, {Kind::text, "verb", {}}}}};
  static const Members bound = {{1, {Kind::text, "kind", {}}},
                                {2, {Kind::text, "apiVersion", {}}},
                                {3, {Kind::text, "name", {}}},
                                {4, {Kind::text, "uid", {}}}};
  static const std::map<std::string, Members> kinds = {
      {"Namespace", {{1, metadata}, {2, status}, {3, status}}},
      {"ServiceAccount", {{1, metadata}}},
      {"SelfSubjectReview", {{1, metadata}, {2, status}}},
      {"SelfSubjectRulesReview",
       {{1, metadata},
        {2, {Kind::message, "spec", {{1, {Kind::text, "namespace", {}}}}}},
        {3, status}}},
      {"SelfSubjectAccessReview",
       {{1, metadata}, {2, {Kind::message, "spec", {{1, resource}, {2, path}}}}, {3, status}}},
      {"TokenRequest",
       {{1, metadata},
        {3, status},
        {2,
         {Kind::message,
          "spec",
          {{1, {Kind::list, "audiences", {}}},
           {3, {Kind::message, "boundObjectRef", bound}},
           {4, {Kind::integer, "expirationSeconds", {}}}}}}}},
      {"ConfigMap",
       {{1, metadata},
        {2, {Kind::texts, "data", {}}},
        {3, {Kind::bytes, "binaryData", {}}},
        {4, {Kind::boolean, "immutable", {}}}}},
      {"Secret",
       {{1, metadata},
        {2, {Kind::bytes, "data", {}}},
        {3, {Kind::text, "type", {}}},
        {4, {Kind::texts, "stringData", {}}},
        {5, {Kind::boolean, "immutable", {}}}}}};
  static const Members none;
  for (const auto* table : {&kinds, &partial_kinds()}) {
    const auto found = table->find(kind);
    if (found == table->end()) continue;
    *known = true;
    return found->second;
  }
  *known = false;
  return none;
}

/// False when something was said that the tables above do not know; it must not be lost.
bool read_members(Json& object, std::string_view raw, const Members& members) {
  Message message(raw);
  for (Field field; message.next(field);) {
    const auto member = members.find(field.number);
    if (member == members.end()) {
      if (field.integer != 0 || !field.bytes.empty()) return false;
      continue;
    }
    const Member::Kind kind = member->second.kind;
    if (kind == Member::Kind::text && field.bytes.empty()) continue;
    if (kind == Member::Kind::ignored) continue;
    Json& value = object[member->second.name];
    switch (kind) {
      case Member::Kind::texts:
      case Member::Kind::bytes:
        add_entry(value, field.bytes, kind == Member::Kind::bytes);
        break;
      case Member::Kind::boolean:
        value = field.integer != 0;
        break;
      case Member::Kind::integer:
        value = static_cast<std::int64_t>(field.integer);
        break;
      case Member::Kind::list:
        value.push_back(std::string(field.bytes));
        break;
      case Member::Kind::text:
        value = std::string(field.bytes);
        break;
      case Member::Kind::metadata:
        value = metadata_of(field.bytes);
        break;
      case Member::Kind::message:
        value = Json::object();
        if (!read_members(value, field.bytes, member->second.members)) return false;
        break;
      case Member::Kind::messages:
        value.push_back(Json::object());
        if (!read_members(value.back(), field.bytes, member->second.members)) return false;
        break;
      case Member::Kind::ignored:
        break;
    }
  }
  return true;
}

}  // namespace

std::optional<Json> from_protobuf(std::string_view body) {
  if (!body.starts_with(magic)) return std::nullopt;
  std::string_view raw;
  std::string api_version, kind;
  Message envelope(body.substr(magic.size()));
  for (Field field; envelope.next(field);) {
    if (field.number == 2) raw = field.bytes;
    if (field.number != 1) continue;
    Message type(field.bytes);
    for (Field part; type.next(part);) {
      if (part.number == 1) api_version = part.bytes;
      if (part.number == 2) kind = part.bytes;
    }
  }
  bool known = false;
  const Members& members = object_members(kind, &known);
  if (!known) return std::nullopt;
  Json object = {{"apiVersion", api_version}, {"kind", kind}, {"metadata", Json::object()}};
  if (!read_members(object, raw, members)) return std::nullopt;
  return object;
}

}  // namespace regatta::apiserver
