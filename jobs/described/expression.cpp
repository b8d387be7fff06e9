#include "jobs/described/expression.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace regatta::jobs {
namespace {

namespace cel = manifest::cel;

/// Of one evaluation: a look at a hundred conditions costs a few hundred.
constexpr std::int64_t cost_max = 20'000;
constexpr std::size_t expression_max = 4096;
constexpr std::size_t text_max = 1024;
/// The numbers between which a double is an exact whole number.
constexpr double whole_max = 9e15;

std::string_view name_of(Expression::Answer answer) {
  switch (answer) {
    case Expression::Answer::boolean:
      return "bool";
    case Expression::Answer::integer:
      return "int";
    case Expression::Answer::text:
      return "string";
  }
  return "";
}

bool may_be(cel::Kind kind, Expression::Answer answer) {
  if (kind == cel::Kind::dynamic) return true;
  switch (answer) {
    case Expression::Answer::boolean:
      return kind == cel::Kind::boolean;
    case Expression::Answer::integer:
      return kind == cel::Kind::integer || kind == cel::Kind::unsigned_integer;
    case Expression::Answer::text:
      return kind == cel::Kind::string;
  }
  return false;
}

/// Texts of the value may lie in `object`.
cel::Value answer_of(const cel::Program& program, const Json& object) {
  cel::Budget budget{.left = cost_max};
  const std::array values{cel::Value::from_json(object, nullptr)};
  return program.evaluate(values, budget);
}

Error no_answer(const cel::Value& value, Expression::Answer wanted) {
  if (const auto* failure = value.as<cel::Failure>()) return Error(Errc::invalid, *failure->what);
  return Error(Errc::invalid,
               "is " + std::string(value.type_name()) + ", not " + std::string(name_of(wanted)));
}

/// At most so many bytes, of whole characters.
std::string cut(std::string_view text) {
  if (text.size() <= text_max) return std::string(text);
  std::size_t end = text_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end));
}

}  // namespace

Result<Expression> Expression::compile(std::string_view text, Answer answer) {
  if (text.size() > expression_max) {
    return Error(Errc::invalid, "has more than " + std::to_string(expression_max) + " bytes");
  }
  auto program = cel::Program::compile(text, {{"object", {}}});
  if (!program) return program.error();
  if (!may_be(program->type().kind, answer)) {
    return Error(Errc::invalid, "must evaluate to " + std::string(name_of(answer)) + ", not " +
                                    program->type().name());
  }
  return Expression(std::move(*program));
}

Result<bool> Expression::truth(const Json& object) const {
  const cel::Value value = answer_of(program_, object);
  const auto truth = value.boolean();
  if (!truth) return no_answer(value, Answer::boolean);
  return *truth;
}

Result<std::int64_t> Expression::number(const Json& object) const {
  const cel::Value value = answer_of(program_, object);
  if (!value.is_number()) return no_answer(value, Answer::integer);
  const double number = value.number();
  if (number != std::floor(number) || std::abs(number) > whole_max) {
    return Error(Errc::invalid, "is no whole number");
  }
  return static_cast<std::int64_t>(number);
}

Result<std::string> Expression::text(const Json& object) const {
  const cel::Value value = answer_of(program_, object);
  const auto text = value.string();
  if (!text) return no_answer(value, Answer::text);
  return cut(*text);
}

}  // namespace regatta::jobs
