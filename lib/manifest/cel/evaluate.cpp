#include "lib/manifest/cel/functions.h"
#include "lib/manifest/cel/program.h"

#include <limits>
#include <string>
#include <utility>

namespace regatta::manifest::cel {
namespace {

constexpr auto cost_exceeded = "operation cancelled: actual cost limit exceeded";

std::string key_text(const Value& key) {
  if (const auto text = key.string()) return std::string(*text);
  if (const auto* number = key.as<std::int64_t>()) return std::to_string(*number);
  return std::string(key.type_name());
}

Value no_such_overload() {
  return Value::failure("no such overload");
}
Value overflow() {
  return Value::failure("integer overflow");
}

class Evaluator {
 public:
  Evaluator(std::vector<Value> slots, Budget& budget) : slots_(std::move(slots)), budget_(budget) {}

  Value run(const Node& node) {
    if (!spend(1)) return Value::failure(cost_exceeded);
    switch (node.op) {
      case Op::constant:
        return node.constant;
      case Op::identifier:
        return slots_[static_cast<std::size_t>(node.slot)];
      case Op::select:
        return select(run(node.children[0]), node);
      case Op::optional_select:
        return optional_member(run(node.children[0]), key_of(node));
      case Op::has:
        return has(run(node.children[0]), node);
      case Op::index:
        return index(node);
      case Op::optional_index:
        return optional_index(node);
      case Op::call:
      case Op::method:
        return call(node);
      case Op::list:
        return list(node);
      case Op::map:
        return map(node);
      case Op::logical_not:
        return logical_not(run(node.children[0]));
      case Op::negate:
        return negate(run(node.children[0]));
      case Op::logical_and:
        return logical(node, false);
      case Op::logical_or:
        return logical(node, true);
      case Op::conditional:
        return conditional(node);
      case Op::all:
        return quantifier(node, false);
      case Op::exists:
        return quantifier(node, true);
      case Op::exists_one:
        return exists_one(node);
      case Op::filter:
      case Op::transform:
      case Op::filter_transform:
        return collect(node);
      default:
        return binary(node);
    }
  }

 private:
  bool spend(std::int64_t cost) {
    left_ -= cost;
    budget_.left -= cost;
    if (left_ >= 0 && budget_.left >= 0) return true;
    budget_.exhausted = true;
    return false;
  }

  static Value key_of(const Node& node) { return Value(Text{node.name, nullptr}); }

  static Value select(Value operand, const Node& node) {
    if (operand.failed()) return operand;
    if (operand.as<OptionalValue>()) return optional_member(std::move(operand), key_of(node));
    if (!operand.is_map()) return no_such_overload();
    auto member = operand.member(node.name);
    if (!member) return Value::failure("no such key: " + node.name);
    return std::move(*member);
  }

  static Value has(Value operand, const Node& node) {
    if (operand.failed()) return operand;
    if (const auto* optional = operand.as<OptionalValue>()) {
      return Value(optional->value && optional->value->member(node.name).has_value());
    }
    if (!operand.is_map()) return no_such_overload();
    return Value(operand.member(node.name).has_value());
  }

  static Value optional_member(Value operand, const Value& key) {
    if (operand.failed()) return operand;
    if (const auto* optional = operand.as<OptionalValue>()) {
      if (!optional->value) return operand;
      return optional_member(*optional->value, key);
    }
    std::optional<Value> member;
    if (operand.is_list()) {
      const auto* at = key.as<std::int64_t>();
      if (at && *at >= 0 && static_cast<std::size_t>(*at) < operand.size()) {
        member = operand.item(static_cast<std::size_t>(*at));
      }
    } else {
      member = operand.member(key);
    }
    if (!member) return Value(OptionalValue{});
    return Value(OptionalValue{std::make_shared<const Value>(std::move(*member))});
  }

  Value index(const Node& node) {
    auto operand = run(node.children[0]);
    if (operand.failed()) return operand;
    auto key = run(node.children[1]);
    if (key.failed()) return key;
    if (operand.as<OptionalValue>()) return optional_member(std::move(operand), key);
    if (operand.is_list()) {
      if (!key.is_number()) return no_such_overload();
      const auto at = key.number();
      if (at < 0 || at >= static_cast<double>(operand.size())) {
        return Value::failure("index out of bounds: " + key_text(key));
      }
      return operand.item(static_cast<std::size_t>(at));
    }
    if (!operand.is_map()) return no_such_overload();
    auto member = operand.member(key);
    if (!member) return Value::failure("no such key: " + key_text(key));
    return std::move(*member);
  }

  Value optional_index(const Node& node) {
    auto operand = run(node.children[0]);
    const auto key = run(node.children[1]);
    if (key.failed()) return key;
    return optional_member(std::move(operand), key);
  }

  Value call(const Node& node) {
    std::vector<Value> arguments;
    arguments.reserve(node.children.size());
    for (const auto& child : node.children) {
      arguments.push_back(run(child));
      if (arguments.back().failed()) return arguments.back();
    }
    if (!spend(cost_of(arguments))) return Value::failure(cost_exceeded);
    if (node.pattern) {
      const auto text = arguments[0].string();
      return text ? Value(node.pattern->search(*text)) : no_such_overload();
    }
    return functions()[static_cast<std::size_t>(node.function)].call(arguments);
  }

  /// The cost of a call: a tenth of the length of its texts, and one for every item of its lists.
  static std::int64_t cost_of(const std::vector<Value>& arguments) {
    std::int64_t cost = 1;
    for (const auto& argument : arguments) {
      if (const auto text = argument.string()) {
        cost += static_cast<std::int64_t>(text->size() / 10);
      } else {
        cost += static_cast<std::int64_t>(argument.size());
      }
    }
    return cost;
  }

  Value list(const Node& node) {
    std::vector<Value> items;
    for (const auto& child : node.children) {
      items.push_back(run(child));
      if (items.back().failed()) return items.back();
    }
    return Value::list(std::move(items));
  }

  Value map(const Node& node) {
    auto out = std::make_shared<std::vector<std::pair<Value, Value>>>();
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      auto key = run(node.children[i]);
      if (key.failed()) return key;
      auto value = run(node.children[i + 1]);
      if (value.failed()) return value;
      for (const auto& [known, ignored] : *out) {
        if (known == key) return Value::failure("duplicate map key: " + key_text(key));
      }
      out->emplace_back(std::move(key), std::move(value));
    }
    return Value(MapPtr(std::move(out)));
  }

  static Value logical_not(Value operand) {
    if (operand.failed()) return operand;
    const auto value = operand.boolean();
    return value ? Value(!*value) : no_such_overload();
  }

  static Value negate(const Value& operand) {
    if (operand.failed()) return operand;
    if (const auto* number = operand.as<double>()) return Value(-*number);
    if (const auto* duration = operand.as<Duration>()) {
      return Value(Duration{-duration->nanoseconds});
    }
    const auto* number = operand.as<std::int64_t>();
    if (!number) return no_such_overload();
    if (*number == std::numeric_limits<std::int64_t>::min()) return overflow();
    return Value(-*number);
  }

  /// A side that decides the result wins even when the other side fails.
  Value logical(const Node& node, bool decides) {
    auto left = run(node.children[0]);
    if (left.boolean() == decides) return left;
    auto right = run(node.children[1]);
    if (right.boolean() == decides) return right;
    if (left.failed()) return left;
    if (right.failed()) return right;
    if (!left.boolean() || !right.boolean()) return no_such_overload();
    return Value(!decides);
  }

  Value conditional(const Node& node) {
    auto condition = run(node.children[0]);
    if (condition.failed()) return condition;
    const auto value = condition.boolean();
    if (!value) return no_such_overload();
    return run(node.children[*value ? 1 : 2]);
  }

  /// Calls `each` for every item of a list, or key of a map, with the variable bound; `each` says
  /// whether to go on. Returns the failure of the range, if any.
  template <class Each>
  std::optional<Value> iterate(const Node& node, Each&& each) {
    const auto range = run(node.children[0]);
    if (range.failed()) return range;
    const auto slot = static_cast<std::size_t>(node.slot);
    if (range.is_map()) {
      for (auto& key : range.keys()) {
        slots_[slot] = std::move(key);
        if (!each()) break;
      }
      return std::nullopt;
    }
    if (!range.is_list()) return no_such_overload();
    for (std::size_t i = 0; i < range.size(); ++i) {
      slots_[slot] = range.item(i);
      if (!each()) break;
    }
    return std::nullopt;
  }

  Value quantifier(const Node& node, bool decides) {
    Value out(!decides);
    auto failed = iterate(node, [&] {
      auto value = run(node.children[1]);
      if (value.boolean() == decides) {
        out = Value(decides);
        return false;
      }
      if (!value.boolean()) out = value.failed() ? std::move(value) : no_such_overload();
      return !budget_.exhausted && left_ >= 0;
    });
    return failed ? std::move(*failed) : out;
  }

  Value exists_one(const Node& node) {
    Value failure;
    std::int64_t count = 0;
    auto failed = iterate(node, [&] {
      auto value = run(node.children[1]);
      if (value.failed()) {
        failure = std::move(value);
        return false;
      }
      count += value.boolean() == true ? 1 : 0;
      return true;
    });
    if (failed) return std::move(*failed);
    return failure.failed() ? failure : Value(count == 1);
  }

  Value collect(const Node& node) {
    std::vector<Value> items;
    Value failure;
    const bool has_condition = node.op != Op::transform;
    auto failed = iterate(node, [&] {
      if (has_condition) {
        auto keep = run(node.children[1]);
        if (keep.failed()) {
          failure = std::move(keep);
          return false;
        }
        if (keep.boolean() != true) return true;
      }
      auto item = node.op == Op::filter ? slots_[static_cast<std::size_t>(node.slot)]
                                        : run(node.children.back());
      if (item.failed()) {
        failure = std::move(item);
        return false;
      }
      items.push_back(std::move(item));
      return true;
    });
    if (failed) return std::move(*failed);
    if (failure.failed()) return failure;
    return Value::list(std::move(items));
  }

  Value binary(const Node& node) {
    auto left = run(node.children[0]);
    if (left.failed()) return left;
    auto right = run(node.children[1]);
    if (right.failed()) return right;
    switch (node.op) {
      case Op::equal:
      case Op::not_equal:
        if (!spend_comparison(left, right)) return Value::failure(cost_exceeded);
        return Value((left == right) == (node.op == Op::equal));
      case Op::in:
        return contains(left, right);
      case Op::less:
      case Op::less_equal:
      case Op::greater:
      case Op::greater_equal: {
        const auto order = compare(left, right);
        if (!order) return no_such_overload();
        return Value(node.op == Op::less         ? *order < 0
                     : node.op == Op::less_equal ? *order <= 0
                     : node.op == Op::greater    ? *order > 0
                                                 : *order >= 0);
      }
      default:
        return arithmetic(node.op, left, right);
    }
  }

  bool spend_comparison(const Value& left, const Value& right) {
    return spend(static_cast<std::int64_t>(std::min(left.size(), right.size())));
  }

  Value contains(const Value& item, const Value& container) {
    if (!spend(static_cast<std::int64_t>(container.size()))) return Value::failure(cost_exceeded);
    if (container.is_map()) return Value(container.member(item).has_value());
    if (!container.is_list()) return no_such_overload();
    for (std::size_t i = 0; i < container.size(); ++i) {
      if (container.item(i) == item) return Value(true);
    }
    return Value(false);
  }

  Value arithmetic(Op op, const Value& left, const Value& right) {
    if (const auto *a = left.as<std::int64_t>(), *b = right.as<std::int64_t>(); a && b) {
      return integers(op, *a, *b);
    }
    if (const auto *a = left.as<std::uint64_t>(), *b = right.as<std::uint64_t>(); a && b) {
      return integers(op, *a, *b);
    }
    if (const auto *a = left.as<double>(), *b = right.as<double>(); a && b) {
      return op == Op::add        ? Value(*a + *b)
             : op == Op::subtract ? Value(*a - *b)
             : op == Op::multiply ? Value(*a * *b)
             : op == Op::divide   ? Value(*a / *b)
                                  : no_such_overload();
    }
    if (op == Op::add) return concatenate(left, right);
    return times(op, left, right);
  }

  template <class Integer>
  static Value integers(Op op, Integer a, Integer b) {
    Integer out = 0;
    bool failed = false;
    switch (op) {
      case Op::add:
        failed = __builtin_add_overflow(a, b, &out);
        break;
      case Op::subtract:
        failed = __builtin_sub_overflow(a, b, &out);
        break;
      case Op::multiply:
        failed = __builtin_mul_overflow(a, b, &out);
        break;
      default:
        if (b == 0)
          return Value::failure(op == Op::divide ? "division by zero" : "modulus by zero");
        if constexpr (std::is_signed_v<Integer>) {
          if (b == -1 && a == std::numeric_limits<Integer>::min()) return overflow();
        }
        out = op == Op::divide ? a / b : a % b;
    }
    return failed ? overflow() : Value(out);
  }

  Value concatenate(const Value& left, const Value& right) {
    if (const auto a = left.string(), b = right.string(); a && b) {
      if (!spend(static_cast<std::int64_t>((a->size() + b->size()) / 10))) {
        return Value::failure(cost_exceeded);
      }
      return Value::text(std::string(*a).append(*b));
    }
    if (const auto *a = left.as<Bytes>(), *b = right.as<Bytes>(); a && b) {
      return Value(Bytes{a->bytes + b->bytes});
    }
    if (!left.is_list() || !right.is_list()) return times(Op::add, left, right);
    if (!spend(static_cast<std::int64_t>(left.size() + right.size()))) {
      return Value::failure(cost_exceeded);
    }
    std::vector<Value> items;
    for (std::size_t i = 0; i < left.size(); ++i) items.push_back(left.item(i));
    for (std::size_t i = 0; i < right.size(); ++i) items.push_back(right.item(i));
    return Value::list(std::move(items));
  }

  static Value times(Op op, const Value& left, const Value& right) {
    if (op != Op::add && op != Op::subtract) return no_such_overload();
    auto combine = [op](std::int64_t a, std::int64_t b, auto make) {
      std::int64_t out = 0;
      const bool failed =
          op == Op::add ? __builtin_add_overflow(a, b, &out) : __builtin_sub_overflow(a, b, &out);
      return failed ? overflow() : Value(make(out));
    };
    const auto *time = left.as<Timestamp>(), *other_time = right.as<Timestamp>();
    const auto *span = left.as<Duration>(), *other_span = right.as<Duration>();
    auto timestamp = [](std::int64_t n) { return Timestamp{n}; };
    auto duration = [](std::int64_t n) { return Duration{n}; };
    if (time && other_span) {
      return combine(time->nanoseconds, other_span->nanoseconds, timestamp);
    }
    if (span && other_time && op == Op::add) {
      return combine(span->nanoseconds, other_time->nanoseconds, timestamp);
    }
    if (span && other_span) return combine(span->nanoseconds, other_span->nanoseconds, duration);
    if (time && other_time && op == Op::subtract) {
      return combine(time->nanoseconds, other_time->nanoseconds, duration);
    }
    return no_such_overload();
  }

  std::vector<Value> slots_;
  Budget& budget_;
  std::int64_t left_ = evaluation_cost_max;
};

}  // namespace

Value Program::evaluate(std::span<const Value> values, Budget& budget) const {
  std::vector<Value> slots(values.begin(), values.end());
  slots.resize(static_cast<std::size_t>(slots_));
  return Evaluator(std::move(slots), budget).run(*root_);
}

}  // namespace regatta::manifest::cel
