#include "lab/apiserver/patch/json_patch.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <vector>

namespace regatta::apiserver {
namespace {

using Tokens = std::vector<std::string>;

/// Text before the first slash is ignored.
std::optional<Tokens> parse_pointer(const std::string& pointer) {
  Tokens tokens;
  if (pointer.empty()) return tokens;
  const std::size_t start = pointer.find('/');
  if (start == std::string::npos) return std::nullopt;
  for (char c : pointer.substr(start)) {
    if (c == '/') {
      tokens.emplace_back();
    } else {
      tokens.back() += c;
    }
  }
  for (std::string& token : tokens) {
    std::string plain;
    for (std::size_t i = 0; i < token.size(); ++i) {
      bool escape = token[i] == '~' && i + 1 < token.size();
      if (escape && (token[i + 1] == '0' || token[i + 1] == '1')) {
        plain += token[++i] == '0' ? '~' : '/';
      } else {
        plain += token[i];
      }
    }
    token = std::move(plain);
  }
  return tokens;
}

/// An index of a list of `size` items. `end` allows the position after the last item, also as "-".
/// Negative indexes count from the end.
std::optional<std::size_t> parse_index(const std::string& token, std::size_t size, bool end) {
  if (token == "-") return end ? std::optional(size) : std::nullopt;
  bool negative = token.starts_with("-");
  std::string digits = token.substr(negative ? 1 : 0);
  if (digits.empty() || digits.size() > 9) return std::nullopt;
  std::size_t index = 0;
  for (char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    index = index * 10 + static_cast<std::size_t>(c - '0');
  }
  std::size_t limit = end ? size + 1 : size;
  if (negative) {
    if (index == 0 || index > limit) return std::nullopt;
    return limit - index;
  }
  return index < limit ? std::optional(index) : std::nullopt;
}

/// Null when there is none.
Json* child(Json* parent, const std::string& token) {
  if (parent->is_object()) {
    auto found = parent->find(token);
    return found != parent->end() ? &*found : nullptr;
  }
  if (parent->is_array()) {
    std::optional<std::size_t> index = parse_index(token, parent->size(), false);
    return index ? &(*parent)[*index] : nullptr;
  }
  return nullptr;
}

Json* resolve(Json* document, const Tokens& tokens, std::size_t count) {
  Json* at = document;
  for (std::size_t i = 0; i < count && at; ++i) at = child(at, tokens[i]);
  return at;
}

bool add(Json* document, const Tokens& path, Json value) {
  if (path.empty()) return false;
  Json* parent = resolve(document, path, path.size() - 1);
  if (!parent) return false;
  if (parent->is_object()) {
    (*parent)[path.back()] = std::move(value);
    return true;
  }
  if (!parent->is_array()) return false;
  std::optional<std::size_t> index = parse_index(path.back(), parent->size(), true);
  if (!index) return false;
  parent->insert(parent->begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
  return true;
}

bool remove(Json* document, const Tokens& path) {
  if (path.empty()) return false;
  Json* parent = resolve(document, path, path.size() - 1);
  if (!parent || !child(parent, path.back())) return false;
  if (parent->is_object()) {
    parent->erase(path.back());
  } else {
    parent->erase(*parse_index(path.back(), parent->size(), false));
  }
  return true;
}

bool replace(Json* document, const Tokens& path, Json value) {
  if (path.empty()) {
    if (!value.is_structured()) return false;
    *document = std::move(value);
    return true;
  }
  Json* parent = resolve(document, path, path.size() - 1);
  if (!parent) return false;
  if (parent->is_object()) {
    (*parent)[path.back()] = std::move(value);
    return true;
  }
  Json* old = child(parent, path.back());
  if (!old) return false;
  *old = std::move(value);
  return true;
}

bool test(Json* document, const Tokens& path, const Json& value) {
  Json* parent = path.empty() ? document : resolve(document, path, path.size() - 1);
  if (!parent) return false;
  Json* found = path.empty() ? document : child(parent, path.back());
  if (!found) return value.is_null() && parent->is_object();
  return *found == value;
}

struct Operation {
  std::string name;
  Tokens path;
  Tokens from;
  Json value;
};

std::optional<std::string> text_member(const Json& object, const char* name) {
  auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<Operation> read_operation(const Json& encoded) {
  if (!encoded.is_object()) return std::nullopt;
  std::optional<std::string> name = text_member(encoded, "op");
  std::optional<std::string> path = text_member(encoded, "path");
  if (!name || !path) return std::nullopt;
  Operation operation{*name, {}, {}, nullptr};
  std::optional<Tokens> tokens = parse_pointer(*path);
  if (!tokens) return std::nullopt;
  operation.path = std::move(*tokens);
  if (*name == "move" || *name == "copy") {
    std::optional<std::string> from = text_member(encoded, "from");
    std::optional<Tokens> from_tokens = from ? parse_pointer(*from) : std::nullopt;
    if (!from_tokens) return std::nullopt;
    operation.from = std::move(*from_tokens);
  } else if (*name == "add" || *name == "replace" || *name == "test") {
    if (auto value = encoded.find("value"); value != encoded.end()) operation.value = *value;
  }
  return operation;
}

class Patcher {
 public:
  explicit Patcher(Json* document) : document_(document) {}

  bool run(Operation operation) {
    if (operation.name == "add") {
      return add(document_, operation.path, std::move(operation.value));
    }
    if (operation.name == "remove") return remove(document_, operation.path);
    if (operation.name == "replace") {
      return replace(document_, operation.path, std::move(operation.value));
    }
    if (operation.name == "test") return test(document_, operation.path, operation.value);
    if (operation.name != "move" && operation.name != "copy") return false;
    if (operation.from.empty()) return false;
    Json* parent = resolve(document_, operation.from, operation.from.size() - 1);
    if (!parent) return false;
    Json* from = child(parent, operation.from.back());
    // The copy of a missing member of an object is null.
    if (!from && !parent->is_object()) return false;
    Json value = from ? *from : Json();
    if (operation.name == "copy") {
      copied_bytes_ += dump_json(value).size();
      if (copied_bytes_ > json_patch_copied_bytes_max) return false;
    } else if (!remove(document_, operation.from)) {
      return false;
    }
    return add(document_, operation.path, std::move(value));
  }

 private:
  Json* document_;
  std::size_t copied_bytes_ = 0;
};

}  // namespace

namespace {

PatchFailure cannot_unmarshal(const Json& value, const std::string& into) {
  const char* kind = value.is_object()   ? "object"
                     : value.is_array()  ? "array"
                     : value.is_string() ? "string"
                     : value.is_number() ? "number"
                                         : "bool";
  return bad_patch("error decoding patch: json: cannot unmarshal " + std::string(kind) +
                   " into Go " + into);
}

/// Operations of the wrong types are malformed (400), not inapplicable (422).
std::optional<PatchFailure> check_types(const Json& operations) {
  if (!operations.is_array()) {
    return cannot_unmarshal(operations, "value of type []handlers.jsonPatchOp");
  }
  for (const Json& operation : operations) {
    if (operation.is_null()) continue;
    if (!operation.is_object()) {
      return cannot_unmarshal(operation, "value of type handlers.jsonPatchOp");
    }
    for (const char* name : {"op", "path", "from"}) {
      const auto found = operation.find(name);
      if (found == operation.end() || found->is_null() || found->is_string()) continue;
      return cannot_unmarshal(*found,
                              "struct field jsonPatchOp." + std::string(name) + " of type string");
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> json_patch_unknown_fields(const Json& operations) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (!operations[i].is_object()) continue;
    for (const auto& [name, value] : operations[i].items()) {
      if (name == "op" || name == "path" || name == "from" || name == "value") continue;
      found.push_back("json patch unknown field \"[" + std::to_string(i) + "]." + name + "\"");
    }
  }
  return found;
}

PatchAnswer<Json> json_patch(Json document, const Json& operations) {
  if (operations.is_null()) return document;
  if (auto malformed = check_types(operations)) return std::move(*malformed);
  if (operations.size() > json_patch_operations_max) {
    return PatchFailure{
        413,
        "RequestEntityTooLarge",
        "Request entity too large: The allowed maximum operations in a JSON patch is " +
            std::to_string(json_patch_operations_max) + ", got " +
            std::to_string(operations.size()),
        false,
        {}};
  }
  Patcher patcher(&document);
  for (const Json& encoded : operations) {
    std::optional<Operation> operation = read_operation(encoded);
    if (!operation || !patcher.run(std::move(*operation))) return rejected_patch();
  }
  return document;
}

}  // namespace regatta::apiserver
