#include "lab/apiserver/patch/field_set.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::apiserver {
namespace {

using Nodes = std::vector<FieldSet::Node>;

Nodes::const_iterator lower_bound_of(const Nodes& nodes, std::string_view element) {
  return std::lower_bound(
      nodes.begin(), nodes.end(), element,
      [](const FieldSet::Node& node, std::string_view wanted) { return node.element < wanted; });
}

bool is_element(std::string_view text) {
  if (text.size() < 2 || text[1] != ':') return false;
  return text[0] == 'f' || text[0] == 'k' || text[0] == 'v' || text[0] == 'i';
}

constexpr std::string_view self_mark = ".";

/// Whether the encoded node is a member: `{}`, or with a "." of its own.
bool is_member(const Json& node) {
  return node.empty() || node.contains(self_mark);
}

/// `{".": {}}` and `{}` mean the same; only the latter is written.
void drop_lonely_mark(Json* node) {
  if (node->size() == 1 && node->contains(self_mark)) *node = Json::object();
}

/// Returns false when the node is empty now and must be removed from its parent.
bool subtract_node(Json* node, const FieldSet::Node& change) {
  bool member = is_member(*node);
  auto mark = node->find(self_mark);
  if (mark != node->end()) node->erase(mark);
  if (change.member) member = false;
  subtract_encoded(node, change.children);
  if (!member) return !node->empty();
  if (!node->empty()) (*node)[std::string(self_mark)] = Json::object();
  return true;
}

}  // namespace

const FieldSet::Node* FieldSet::find(std::string_view element) const {
  auto found = lower_bound_of(nodes, element);
  return found != nodes.end() && found->element == element ? &*found : nullptr;
}

FieldSet::Node& FieldSet::at(std::string_view element) {
  if (nodes.empty() || nodes.back().element < element) {
    nodes.push_back(Node{std::string(element), false, {}});
    return nodes.back();
  }
  auto found = nodes.begin() + (lower_bound_of(nodes, element) - nodes.cbegin());
  if (found->element == element) return *found;
  return *nodes.insert(found, Node{std::string(element), false, {}});
}

bool FieldSet::has(const std::vector<std::string>& path) const {
  const FieldSet* set = this;
  const Node* node = nullptr;
  for (const std::string& element : path) {
    node = set->find(element);
    if (!node) return false;
    set = &node->children;
  }
  return node && node->member;
}

void FieldSet::insert(const std::vector<std::string>& path) {
  FieldSet* set = this;
  Node* node = nullptr;
  for (const std::string& element : path) {
    node = &set->at(element);
    set = &node->children;
  }
  if (node) node->member = true;
}

FieldSet united(const FieldSet& a, const FieldSet& b) {
  FieldSet result;
  result.nodes.reserve(a.nodes.size() + b.nodes.size());
  auto i = a.nodes.begin();
  auto j = b.nodes.begin();
  while (i != a.nodes.end() || j != b.nodes.end()) {
    if (j == b.nodes.end() || (i != a.nodes.end() && i->element < j->element)) {
      result.nodes.push_back(*i++);
    } else if (i == a.nodes.end() || j->element < i->element) {
      result.nodes.push_back(*j++);
    } else {
      result.nodes.push_back(
          FieldSet::Node{i->element, i->member || j->member, united(i->children, j->children)});
      ++i;
      ++j;
    }
  }
  return result;
}

FieldSet intersection(const FieldSet& a, const FieldSet& b) {
  FieldSet result;
  for (const FieldSet::Node& node : a.nodes) {
    const FieldSet::Node* other = b.find(node.element);
    if (!other) continue;
    FieldSet::Node both{node.element, node.member && other->member,
                        intersection(node.children, other->children)};
    if (both.member || !both.children.empty()) result.nodes.push_back(std::move(both));
  }
  return result;
}

FieldSet difference(const FieldSet& a, const FieldSet& b) {
  FieldSet result;
  for (const FieldSet::Node& node : a.nodes) {
    const FieldSet::Node* other = b.find(node.element);
    if (!other) {
      result.nodes.push_back(node);
      continue;
    }
    FieldSet::Node left{node.element, node.member && !other->member,
                        difference(node.children, other->children)};
    if (left.member || !left.children.empty()) result.nodes.push_back(std::move(left));
  }
  return result;
}

FieldSet recursive_difference(const FieldSet& a, const FieldSet& b) {
  FieldSet result;
  for (const FieldSet::Node& node : a.nodes) {
    const FieldSet::Node* other = b.find(node.element);
    if (!other) {
      result.nodes.push_back(node);
      continue;
    }
    if (other->member) continue;
    FieldSet::Node left{node.element, node.member,
                        recursive_difference(node.children, other->children)};
    if (left.member || !left.children.empty()) result.nodes.push_back(std::move(left));
  }
  return result;
}

Json encode_field_set(const FieldSet& set) {
  Json fields = Json::object();
  for (const FieldSet::Node& node : set.nodes) {
    Json encoded = encode_field_set(node.children);
    if (node.member && !encoded.empty()) encoded[std::string(self_mark)] = Json::object();
    fields.emplace(node.element, std::move(encoded));
  }
  return fields;
}

Result<FieldSet> decode_field_set(const Json& fields) {
  if (!fields.is_object()) return Error(Errc::invalid, "fieldsV1 must be an object");
  FieldSet set;
  for (const auto& [element, below] : fields.items()) {
    if (element == self_mark) continue;
    if (!is_element(element)) {
      return Error(Errc::invalid, "fieldsV1 has \"" + element + "\", which is no path element");
    }
    if (element[0] == 'k' || element[0] == 'v') {
      Result<Json> value = parse_json(std::string_view(element).substr(2));
      if (!value || (element[0] == 'k' && !value->is_object())) {
        return Error(Errc::invalid, "fieldsV1 has \"" + element + "\", which is malformed");
      }
    }
    Result<FieldSet> children = decode_field_set(below);
    if (!children) return children.error();
    set.nodes.push_back(FieldSet::Node{element, is_member(below), std::move(*children)});
  }
  return set;
}

void subtract_encoded(Json* fields, const FieldSet& change) {
  if (!fields->is_object()) return;
  for (const FieldSet::Node& node : change.nodes) {
    auto found = fields->find(node.element);
    if (found != fields->end() && !subtract_node(&*found, node)) fields->erase(found);
  }
}

void unite_encoded(Json* fields, const FieldSet& change) {
  if (!fields->is_object()) *fields = Json::object();
  for (const FieldSet::Node& node : change.nodes) {
    auto found = fields->find(node.element);
    if (found == fields->end()) {
      Json encoded = encode_field_set(node.children);
      if (node.member && !encoded.empty()) encoded[std::string(self_mark)] = Json::object();
      fields->emplace(node.element, std::move(encoded));
      continue;
    }
    Json& existing = *found;
    bool member = node.member || is_member(existing);
    unite_encoded(&existing, node.children);
    if (member && !existing.empty()) existing[std::string(self_mark)] = Json::object();
    drop_lonely_mark(&existing);
  }
}

std::string path_element_string(std::string_view element) {
  std::string_view rest = element.size() > 2 ? element.substr(2) : std::string_view{};
  if (element.starts_with("f:")) return "." + std::string(rest);
  if (element.starts_with("v:")) return "[=" + std::string(rest) + "]";
  if (element.starts_with("i:")) return "[" + std::string(rest) + "]";
  Result<Json> keys = parse_json(rest);
  if (!keys || !keys->is_object()) return "[" + std::string(rest) + "]";
  std::string text = "[";
  for (const auto& [name, value] : keys->items()) {
    if (text.size() > 1) text += ",";
    text += name + "=" + dump_json(value);
  }
  return text + "]";
}

namespace {

void collect_paths(const FieldSet& set, const std::string& prefix,
                   std::vector<std::string>* paths) {
  // The members of a level come before everything below it.
  for (const FieldSet::Node& node : set.nodes) {
    if (node.member) paths->push_back(prefix + path_element_string(node.element));
  }
  for (const FieldSet::Node& node : set.nodes) {
    if (!node.children.empty()) {
      collect_paths(node.children, prefix + path_element_string(node.element), paths);
    }
  }
}

}  // namespace

std::vector<std::string> path_strings(const FieldSet& set) {
  std::vector<std::string> paths;
  collect_paths(set, "", &paths);
  return paths;
}

std::string field_element(std::string_view name) {
  std::string element = "f:";
  element += name;
  return element;
}

}  // namespace regatta::apiserver
