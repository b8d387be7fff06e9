#include "lib/manifest/cel/program.h"

#include "lib/manifest/cel/functions.h"

#include <algorithm>
#include <array>
#include <utility>

namespace regatta::manifest::cel {
namespace {

bool numeric(const Type& type) {
  return type.kind == Kind::integer || type.kind == Kind::unsigned_integer ||
         type.kind == Kind::number;
}
bool dynamic(const Type& type) {
  return type.kind == Kind::dynamic;
}
bool mapping(const Type& type) {
  return type.kind == Kind::map || type.kind == Kind::object;
}

Type element_of(const Type& type) {
  if (type.schema) {
    if (type.kind == Kind::list) return Type::of(type.schema->items.get());
    if (type.kind == Kind::map) return Type::of(type.schema->additional_properties.get());
  }
  return type.element ? *type.element : Type{};
}

Type with_element(Kind kind, Type element) {
  return {.kind = kind, .element = std::make_shared<const Type>(std::move(element))};
}

/// Whether values of the two may be compared or stand for one another.
bool compatible(const Type& a, const Type& b) {
  if (dynamic(a) || dynamic(b)) return true;
  if (numeric(a) && numeric(b)) return true;
  if (a.kind == Kind::null || b.kind == Kind::null) {
    const auto& other = a.kind == Kind::null ? b : a;
    return other.kind == Kind::null || (other.schema && other.schema->nullable) || mapping(other) ||
           other.kind == Kind::list || other.kind == Kind::optional;
  }
  if (mapping(a) && mapping(b)) return true;
  if (a.kind == Kind::list && b.kind == Kind::list) return compatible(element_of(a), element_of(b));
  return a.kind == b.kind;
}

/// Resolves names and finds the type of every node; the first error is kept.
class Checker {
 public:
  Checker(std::string_view text, const std::vector<Variable>& variables, std::vector<bool>& used)
      : text_(text), used_(used) {
    for (const auto& variable : variables) {
      scope_.push_back({variable.name, variable.type, slots_++});
    }
    globals_ = scope_.size();
  }

  Result<Type> run(Node& root) {
    auto type = check(root);
    if (failed_) return Error(Errc::invalid, error_);
    return type;
  }
  int slots() const { return slots_; }

 private:
  struct Binding {
    std::string name;
    Type type;
    int slot;
  };

  Type fail(const Node& node, const std::string& what) {
    if (!std::exchange(failed_, true)) error_ = error_at(text_, node.position, what);
    return {};
  }
  Type no_overload(const Node& node, std::string_view name, const std::vector<Type>& types) {
    std::string list;
    for (const auto& type : types) list += (list.empty() ? "" : ", ") + type.name();
    return fail(node, "found no matching overload for '" + std::string(name) + "' applied to '(" +
                          list + ")'");
  }

  Type check(Node& node) {
    if (failed_) return {};
    switch (node.op) {
      case Op::constant:
        return constant(node);
      case Op::identifier:
        return identifier(node);
      case Op::select:
      case Op::optional_select:
      case Op::has:
        return select(node);
      case Op::index:
      case Op::optional_index:
        return index(node);
      case Op::call:
      case Op::method:
        return call(node);
      case Op::list:
        return list(node);
      case Op::map:
        return map(node);
      case Op::all:
      case Op::exists:
      case Op::exists_one:
      case Op::filter:
      case Op::transform:
      case Op::filter_transform:
        return comprehension(node);
      default:
        return operation(node);
    }
  }

  static Type constant(const Node& node) {
    const auto& value = node.constant;
    if (value.is_null()) return {.kind = Kind::null};
    if (value.as<bool>()) return {.kind = Kind::boolean};
    if (value.as<std::int64_t>()) return {.kind = Kind::integer};
    if (value.as<std::uint64_t>()) return {.kind = Kind::unsigned_integer};
    if (value.as<double>()) return {.kind = Kind::number};
    if (value.as<Bytes>()) return {.kind = Kind::bytes};
    return {.kind = Kind::string};
  }

  Type identifier(Node& node) {
    for (auto at = scope_.rbegin(); at != scope_.rend(); ++at) {
      if (at->name != node.name) continue;
      node.slot = at->slot;
      const auto position = static_cast<std::size_t>(scope_.rend() - at) - 1;
      if (position < globals_) used_[position] = true;
      return at->type;
    }
    constexpr std::array<std::string_view, 10> types = {
        "int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "type"};
    if (std::find(types.begin(), types.end(), node.name) != types.end()) {
      node.op = Op::constant;
      node.constant = Value(TypeName{node.name});
      return {.kind = Kind::type};
    }
    return fail(node, "undeclared reference to '" + node.name + "' (in container '')");
  }

  Type select(Node& node) {
    auto operand = check(node.children[0]);
    if (failed_) return {};
    const bool optional = operand.kind == Kind::optional;
    if (optional) operand = element_of(operand);
    Type member;
    if (operand.kind == Kind::object) {
      const auto property = operand.schema->properties.find(node.name);
      if (property == operand.schema->properties.end()) {
        return fail(node, "undefined field '" + node.name + "'");
      }
      member = Type::of(property->second.get());
    } else if (operand.kind == Kind::map) {
      member = element_of(operand);
    } else if (!dynamic(operand)) {
      return fail(node, "type '" + operand.name() + "' does not support field selection");
    }
    if (node.op == Op::has) return {.kind = Kind::boolean};
    if (node.op == Op::optional_select || optional) return with_element(Kind::optional, member);
    return member;
  }

  Type index(Node& node) {
    auto operand = check(node.children[0]);
    const auto key = check(node.children[1]);
    if (failed_) return {};
    const bool optional = operand.kind == Kind::optional || node.op == Op::optional_index;
    if (operand.kind == Kind::optional) operand = element_of(operand);
    const bool list = operand.kind == Kind::list && (numeric(key) || dynamic(key));
    const bool map = operand.kind == Kind::map;
    if (!list && !map && !dynamic(operand)) return no_overload(node, "_[_]", {operand, key});
    const auto member = element_of(operand);
    return optional ? with_element(Kind::optional, member) : member;
  }

  Type list(Node& node) {
    Type element;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      auto type = check(node.children[i]);
      if (i == 0) {
        element = std::move(type);
      } else if (type.kind != element.kind) {
        element = {};
      }
    }
    return with_element(Kind::list, std::move(element));
  }

  Type map(Node& node) {
    Type element;
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      check(node.children[i]);
      auto type = check(node.children[i + 1]);
      if (i == 0) {
        element = std::move(type);
      } else if (type.kind != element.kind) {
        element = {};
      }
    }
    return with_element(Kind::map, std::move(element));
  }

  Type comprehension(Node& node) {
    const auto range = check(node.children[0]);
    if (failed_) return {};
    if (range.kind != Kind::list && !mapping(range) && !dynamic(range)) {
      return fail(node, "expression of type '" + range.name() +
                            "' cannot be range of a comprehension (must be list, map, or dynamic)");
    }
    node.slot = slots_++;
    scope_.push_back({node.name,
                      range.kind == Kind::list ? element_of(range)
                      : dynamic(range)         ? Type{}
                                               : Type{.kind = Kind::string},
                      node.slot});
    Type body;
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      body = check(node.children[i]);
      const bool condition = node.op == Op::filter_transform ? i == 1 : node.op != Op::transform;
      if (!failed_ && condition && body.kind != Kind::boolean && !dynamic(body)) {
        fail(node.children[i], "expected type 'bool' but found '" + body.name() + "'");
      }
    }
    scope_.pop_back();
    switch (node.op) {
      case Op::filter:
        return range.kind == Kind::list ? range : with_element(Kind::list, {});
      case Op::transform:
      case Op::filter_transform:
        return with_element(Kind::list, std::move(body));
      default:
        return {.kind = Kind::boolean};
    }
  }

  Type operation(Node& node) {
    std::vector<Type> types;
    for (auto& child : node.children) types.push_back(check(child));
    if (failed_) return {};
    if (auto type = operation_type(node.op, types)) return *type;
    return no_overload(node, operator_name(node.op), types);
  }

  static std::optional<Type> operation_type(Op op, const std::vector<Type>& types) {
    const Type boolean{.kind = Kind::boolean};
    const auto& first = types.front();
    const auto& last = types.back();
    auto is_boolean = [](const Type& type) { return type.kind == Kind::boolean || dynamic(type); };
    switch (op) {
      case Op::logical_not:
      case Op::logical_and:
      case Op::logical_or:
        if (is_boolean(first) && is_boolean(last)) return boolean;
        return std::nullopt;
      case Op::negate:
        if (numeric(first) || dynamic(first) || first.kind == Kind::duration) return first;
        return std::nullopt;
      case Op::conditional:
        if (!is_boolean(first) || !compatible(types[1], types[2])) return std::nullopt;
        return types[1].kind == types[2].kind ? types[1] : Type{};
      case Op::equal:
      case Op::not_equal:
        if (compatible(first, last)) return boolean;
        return std::nullopt;
      case Op::in:
        if (last.kind == Kind::list && compatible(first, element_of(last))) return boolean;
        if (mapping(last) || dynamic(last)) return boolean;
        return std::nullopt;
      case Op::less:
      case Op::less_equal:
      case Op::greater:
      case Op::greater_equal:
        if (ordered(first) && ordered(last) && compatible(first, last)) return boolean;
        return std::nullopt;
      default:
        return arithmetic_type(op, first, last);
    }
  }

  static bool ordered(const Type& type) {
    return numeric(type) || dynamic(type) || type.kind == Kind::string ||
           type.kind == Kind::boolean || type.kind == Kind::bytes || type.kind == Kind::timestamp ||
           type.kind == Kind::duration;
  }

  static std::optional<Type> arithmetic_type(Op op, const Type& a, const Type& b) {
    if (dynamic(a) || dynamic(b)) return Type{};
    if (numeric(a) && a.kind == b.kind) {
      if (op == Op::modulo && a.kind == Kind::number) return std::nullopt;
      return Type{.kind = a.kind};
    }
    const bool add = op == Op::add;
    const bool add_or_subtract = add || op == Op::subtract;
    if (add && a.kind == b.kind && (a.kind == Kind::string || a.kind == Kind::bytes)) {
      return Type{.kind = a.kind};
    }
    if (add && a.kind == Kind::list && b.kind == Kind::list) {
      return with_element(Kind::list,
                          compatible(element_of(a), element_of(b)) ? element_of(a) : Type{});
    }
    if (add_or_subtract && a.kind == Kind::timestamp && b.kind == Kind::duration) return a;
    if (add && a.kind == Kind::duration && b.kind == Kind::timestamp) return b;
    if (add_or_subtract && a.kind == Kind::duration && b.kind == Kind::duration) return a;
    if (op == Op::subtract && a.kind == Kind::timestamp && b.kind == Kind::timestamp) {
      return Type{.kind = Kind::duration};
    }
    return std::nullopt;
  }

  Type call(Node& node) {
    // optional.of(x) and optional.none() look like methods of a variable.
    if (node.op == Op::method && node.children[0].op == Op::identifier &&
        node.children[0].name == "optional" && !known("optional")) {
      node.op = Op::call;
      node.name.insert(0, "optional.");
      node.children.erase(node.children.begin());
    }
    std::vector<Type> types;
    for (auto& child : node.children) types.push_back(check(child));
    if (failed_) return {};
    const auto& all = functions();
    bool known_name = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].name != node.name) continue;
      known_name = true;
      if (!accepts(all[i], node, types)) continue;
      node.function = static_cast<int>(i);
      if (node.name == "matches") compile_pattern(node);
      return result_type(all[i], types);
    }
    if (known_name) return no_overload(node, node.name, types);
    return fail(node, "undeclared reference to '" + node.name + "' (in container '')");
  }

  void compile_pattern(Node& node) {
    const auto text = node.children[1].constant.string();
    if (node.children[1].op != Op::constant || !text) return;
    auto pattern = Pattern::compile(*text);
    if (!pattern) {
      fail(node.children[1], pattern.error().what());
    } else {
      node.pattern = std::make_shared<const Pattern>(*pattern);
    }
  }

  bool known(std::string_view name) const {
    return std::any_of(scope_.begin(), scope_.end(),
                       [&](const auto& binding) { return binding.name == name; });
  }

  static bool accepts(const Function& function, const Node& node, const std::vector<Type>& types) {
    if (function.method != (node.op == Op::method)) return false;
    if (types.size() < function.arguments_min || types.size() > function.arguments_max) {
      return false;
    }
    if (types.empty() || function.first.empty() || dynamic(types[0])) return true;
    const auto kind = types[0].kind == Kind::object ? Kind::map : types[0].kind;
    return std::find(function.first.begin(), function.first.end(), kind) != function.first.end();
  }

  static Type result_type(const Function& function, const std::vector<Type>& types) {
    if (function.shape == Function::Shape::receiver && !types.empty()) return types[0];
    if (function.shape == Function::Shape::element && !types.empty()) {
      const auto element = element_of(types[0]);
      if (function.result == Kind::optional) return with_element(Kind::optional, element);
      return element;
    }
    return {.kind = function.result};
  }

  std::string_view text_;
  std::vector<bool>& used_;
  std::vector<Binding> scope_;
  std::size_t globals_ = 0;
  int slots_ = 0;
  bool failed_ = false;
  std::string error_;
};

bool converts_to_text(const Node& node) {
  return node.op == Op::call && node.name == "string" && node.children[0].op != Op::constant;
}

bool joins_unbounded(const Node& node) {
  if (node.op == Op::add &&
      std::any_of(node.children.begin(), node.children.end(), converts_to_text)) {
    return true;
  }
  return std::any_of(node.children.begin(), node.children.end(), joins_unbounded);
}

}  // namespace

Type Type::of(const Schema* schema) {
  if (!schema || schema->int_or_string) return {};
  switch (schema->type) {
    case SchemaType::any:
      return {};
    case SchemaType::object:
      if (!schema->properties.empty()) return {.kind = Kind::object, .schema = schema};
      if (schema->additional_properties) return {.kind = Kind::map, .schema = schema};
      return {};
    case SchemaType::array:
      return {.kind = Kind::list, .schema = schema};
    case SchemaType::integer:
      return {.kind = Kind::integer, .schema = schema};
    case SchemaType::number:
      return {.kind = Kind::number, .schema = schema};
    case SchemaType::boolean:
      return {.kind = Kind::boolean, .schema = schema};
    case SchemaType::string:
      break;
  }
  if (schema->format == "date-time" || schema->format == "date") {
    return {.kind = Kind::timestamp, .schema = schema};
  }
  if (schema->format == "duration") return {.kind = Kind::duration, .schema = schema};
  return {.kind = Kind::string, .schema = schema};
}

std::string Type::name() const {
  switch (kind) {
    case Kind::dynamic:
      return "dyn";
    case Kind::null:
      return "null";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
      return "int";
    case Kind::unsigned_integer:
      return "uint";
    case Kind::number:
      return "double";
    case Kind::string:
      return "string";
    case Kind::bytes:
      return "bytes";
    case Kind::list:
      return "list(" + element_of(*this).name() + ")";
    case Kind::map:
      return "map(string, " + element_of(*this).name() + ")";
    case Kind::object:
      return "object";
    case Kind::timestamp:
      return "timestamp";
    case Kind::duration:
      return "duration";
    case Kind::quantity:
      return "kubernetes.Quantity";
    case Kind::type:
      return "type";
    case Kind::optional:
      return "optional_type(" + element_of(*this).name() + ")";
  }
  return "";
}

Result<Program> Program::compile(std::string_view expression, std::vector<Variable> variables) {
  auto root = parse_expression(expression);
  if (!root) return root.error();
  Program out;
  out.expression_ = expression;
  out.used_.resize(variables.size());
  Checker checker(out.expression_, variables, out.used_);
  auto type = checker.run(*root);
  if (!type) return type.error();
  out.variables_ = std::move(variables);
  out.type_ = std::move(*type);
  out.slots_ = checker.slots();
  out.root_ = std::make_shared<const Node>(std::move(*root));
  return out;
}

bool Program::joins_unbounded_texts() const {
  return joins_unbounded(*root_);
}

bool Program::uses(std::string_view variable) const {
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    if (variables_[i].name == variable) return used_[i];
  }
  return false;
}

}  // namespace regatta::manifest::cel
