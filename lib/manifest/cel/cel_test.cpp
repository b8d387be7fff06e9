#include "lib/manifest/cel/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>

namespace regatta::manifest::cel {
namespace {

using ::testing::HasSubstr;

SchemaPtr schema() {
  static const auto parsed = *parse_schema(Json::parse(R"({"type": "object", "properties": {
    "size": {"type": "integer"}, "ratio": {"type": "number"}, "name": {"type": "string"},
    "paused": {"type": "boolean"}, "since": {"type": "string", "format": "date-time"},
    "timeout": {"type": "string", "format": "duration"}, "my-field": {"type": "string"},
    "nested": {"type": "object", "properties": {"a": {"type": "string"}}},
    "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
    "sizes": {"type": "array", "items": {"type": "integer"}},
    "parts": {"type": "array", "items": {"type": "object", "properties": {
      "name": {"type": "string"}, "count": {"type": "integer"}}}},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "limit": {"x-kubernetes-int-or-string": true},
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}})"));
  return parsed;
}

const Json& object() {
  static const auto json = Json::parse(R"({"size": 3, "ratio": 2, "name": "blue-fish",
    "since": "2026-01-02T03:04:05Z", "timeout": "1h30m", "my-field": "x",
    "tags": ["a", "b"], "sizes": [1, 2, 3], "labels": {"app": "web"}, "limit": "100m",
    "parts": [{"name": "p", "count": 1}, {"name": "q"}], "free": {"x": {"y": 1}}})");
  return json;
}

Value evaluate(std::string_view expression, std::string* error = nullptr) {
  auto program = Program::compile(expression, {{"self", Type::of(schema().get())}});
  if (!program) {
    if (error) *error = program.error().what();
    return Value::failure("does not compile: " + program.error().what());
  }
  // Values refer to the program's constants.
  static std::vector<Program> alive;
  alive.push_back(std::move(*program));
  Budget budget;
  const std::array values = {Value::from_json(object(), schema().get())};
  return alive.back().evaluate(values, budget);
}

struct Case {
  const char* expression;
  const char* want = "true";
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.expression; }
};
class CelTable : public ::testing::TestWithParam<Case> {};

std::string describe(const Value& value) {
  if (const auto* failure = value.as<Failure>()) return "failure: " + *failure->what;
  if (const auto flag = value.boolean()) return *flag ? "true" : "false";
  if (const auto text = value.string()) return "'" + std::string(*text) + "'";
  if (value.is_number()) return Json(value.number()).dump();
  return std::string(value.type_name());
}

TEST_P(CelTable, EvaluatesTo) {
  EXPECT_EQ(describe(evaluate(GetParam().expression)), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Operators, CelTable,
    ::testing::Values(
        Case{"1 + 2 * 3 == 7"}, Case{"(1 + 2) * 3 == 9"}, Case{"7 / 2 == 3 && 7 % 2 == 1"},
        Case{"-7 / 2 == -3"}, Case{"1.5 + 1.5 == 3.0"}, Case{"5u - 2u == 3u"}, Case{"0x10 == 16"},
        Case{"1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 != 2"}, Case{"1 < 1.5"}, Case{"'a' < 'b'"},
        Case{"'a' + 'b' == 'ab'"}, Case{"[1] + [2] == [1, 2]"}, Case{"!false"},
        Case{"true ? true : 1 / 0 == 1"}, Case{"2 in [1, 2]"}, Case{"!('x' in {'y': 1})"},
        Case{"{'a': 1}.a == 1"}, Case{"{'a': 1, 'b': 2} == {'b': 2, 'a': 1}"},
        Case{"[1, 2][1] == 2"}, Case{"'\\u00e9\\n\\x41' == '''\xc3\xa9\nA'''"},
        Case{"r'\\d' == '\\\\d'"}, Case{"'''a'b''' == \"a'b\""}, Case{"null == null"},
        Case{"1 - 1 == 0 // comment"}, Case{"1 / 0", "failure: division by zero"},
        Case{"9223372036854775807 + 1", "failure: integer overflow"},
        Case{"-9223372036854775808 < 0"}, Case{"[1][1]", "failure: index out of bounds: 1"},
        Case{"false && 1 / 0 == 1", "false"}, Case{"1 / 0 == 1 && false", "false"},
        Case{"1 / 0 == 1 || true"}, Case{"1 / 0 == 1 || false", "failure: division by zero"}));

INSTANTIATE_TEST_SUITE_P(
    Fields, CelTable,
    ::testing::Values(
        Case{"self.size == 3"}, Case{"self.ratio == 2.0"}, Case{"has(self.size)"},
        Case{"!has(self.paused)"}, Case{"self.paused", "failure: no such key: paused"},
        Case{"!has(self.nested) || self.nested.a == 'x'"}, Case{"self.labels['app'] == 'web'"},
        Case{"self.labels.app == 'web'"}, Case{"'app' in self.labels"}, Case{"self.free.x.y == 1"},
        Case{"self.my__dash__field == 'x'"},
        Case{"self.limit == '100m' && type(self.limit) == string"}, Case{"self.tags == ['b', 'a']"},
        Case{"!(self.sizes == [3, 2, 1])"}, Case{"self.?paused.orValue(true)"},
        Case{"self.?size.value() == 3"}, Case{"self.?nested.?a.hasValue() == false"},
        Case{"self.labels[?'no'].orValue('d') == 'd'"},
        Case{"optional.of(1).hasValue() && !optional.none().hasValue()"}));

INSTANTIATE_TEST_SUITE_P(
    Macros, CelTable,
    ::testing::Values(
        Case{"self.tags.all(t, t.size() == 1)"}, Case{"self.tags.exists(t, t == 'b')"},
        Case{"self.tags.exists_one(t, t == 'b')"}, Case{"self.sizes.filter(x, x > 1) == [2, 3]"},
        Case{"self.sizes.map(x, x * 2) == [2, 4, 6]"},
        Case{"self.sizes.map(x, x > 1, x * 2) == [4, 6]"},
        Case{"self.parts.all(p, !has(p.count) || p.count == 1)"},
        Case{"self.parts.all(p, p.count == 1)", "failure: no such key: count"},
        Case{"self.parts.exists(p, p.count == 1)"}, Case{"self.labels.all(k, k == 'app')"},
        Case{"size(self.sizes.filter(i, size(self.sizes.filter(j, j == i)) > 1)) == 0"},
        Case{"[has(self.size), has(self.paused)].filter(x, x == true).size() == 1"},
        Case{"[[1], [2, 3]].all(x, x.all(y, y > 0))"}));

INSTANTIATE_TEST_SUITE_P(
    Functions, CelTable,
    ::testing::Values(
        Case{"size('\xc3\xa9') == 1"}, Case{"self.name.startsWith('blue')"},
        Case{"self.name.endsWith('fish')"}, Case{"self.name.contains('e-f')"},
        Case{"self.name.matches('^[a-z]+-[a-z]+$')"}, Case{"matches('ab', 'b')"},
        Case{"int('3') == 3 && int(3.9) == 3"}, Case{"double(1) == 1.0"},
        Case{"string(3) + string(true) == '3true'"}, Case{"string(1.5) == '1.5'"},
        Case{"bool('true')"}, Case{"dyn([1, 2]).size() == 2"}, Case{"type(1) == int"},
        Case{"'A-b'.lowerAscii() == 'a-b' && 'a'.upperAscii() == 'A'"},
        Case{"'a,b,c'.split(',') == ['a', 'b', 'c']"}, Case{"'a,b,c'.split(',', 2)[1] == 'b,c'"},
        Case{"['a', 'b'].join('-') == 'a-b'"}, Case{"'aaa'.replace('a', 'b', 2) == 'bba'"},
        Case{"'hello'.substring(1, 3) == 'el' && 'hello'.substring(3) == 'lo'"},
        Case{"'abc'.indexOf('c') == 2 && 'abc'.charAt(1) == 'b'"}, Case{"' a '.trim() == 'a'"},
        Case{"'%s is %d'.format(['x', 3]) == 'x is 3'"},
        Case{"[1, 2, 2].isSorted() && ![2, 1].isSorted()"}, Case{"[1, 2, 3].sum() == 6"},
        Case{"[2, 1, 3].min() == 1 && [2, 1, 3].max() == 3"}, Case{"['a', 'b'].indexOf('b') == 1"},
        Case{"self.since > timestamp('2026-01-01T00:00:00Z')"},
        Case{"self.since.getFullYear() == 2026 && self.since.getMonth() == 0"},
        Case{"self.timeout == duration('90m') && self.timeout.getMinutes() == 90"},
        Case{"self.since + duration('1s') - self.since == duration('1s')"},
        Case{"string(self.since) == '2026-01-02T03:04:05Z'"},
        Case{"quantity('1Gi').isGreaterThan(quantity('1G'))"},
        Case{"quantity('100m').add(quantity('900m')).asInteger() == 1"},
        Case{"quantity('1.5').compareTo(quantity('1500m')) == 0"},
        Case{"isQuantity('1Ki') && !isQuantity('one')"},
        Case{"int('x')", "failure: strconv.ParseInt: parsing \"x\": invalid syntax"}));

struct Wrong {
  const char* expression;
  const char* error;
  friend void PrintTo(const Wrong& c, std::ostream* out) { *out << c.expression; }
};
class CelErrors : public ::testing::TestWithParam<Wrong> {};

TEST_P(CelErrors, AreFoundByTheCompiler) {
  std::string error;
  evaluate(GetParam().expression, &error);
  EXPECT_THAT(error, HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    , CelErrors,
    ::testing::Values(
        Wrong{"self.nosuch > 1",
              "ERROR: <input>:1:5: undefined field 'nosuch'\n | self.nosuch > 1\n | ....^"},
        Wrong{"other == 1", "<input>:1:1: undeclared reference to 'other' (in container '')"},
        Wrong{"self.size > 'x'", "found no matching overload for '_>_' applied to '(int, string)'"},
        Wrong{"self.size + 1.5", "found no matching overload for '_+_' applied to '(int, double)'"},
        Wrong{"self.size && true", "'_&&_' applied to '(int, bool)'"},
        Wrong{"self.name == 1", "'_==_' applied to '(string, int)'"},
        Wrong{"self.size.startsWith('x')", "no matching overload for 'startsWith'"},
        Wrong{"self.name.nothing()", "undeclared reference to 'nothing'"},
        Wrong{"self.tags.all(t, t)", "expected type 'bool' but found 'string'"},
        Wrong{"self.size.all(t, true)", "cannot be range of a comprehension"},
        Wrong{"self.size.x", "does not support field selection"},
        Wrong{"has(self)", "invalid argument to has() macro"},
        Wrong{"self.size ==",
              "Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', "
              "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
        Wrong{"self.size == 3)", "Syntax error: mismatched input ')'"},
        Wrong{"'abc", "unterminated string"}, Wrong{"1 # 2", "token recognition error"},
        Wrong{"'a'.matches('(')", "missing closing )"},
        Wrong{"99999999999999999999", "invalid number literal"}, Wrong{"", "Syntax error"}));

TEST(Cel, NestingAndLengthAreLimited) {
  std::string error;
  evaluate(std::string(1000, '(') + "1" + std::string(1000, ')'), &error);
  EXPECT_THAT(error, HasSubstr("recursion limit"));
  evaluate(std::string(1000, '!') + "true", &error);
  EXPECT_THAT(error, HasSubstr("recursion limit"));
  evaluate(std::string(expression_length_max + 1, ' '), &error);
  EXPECT_THAT(error, HasSubstr("longer than"));
}

TEST(Cel, CostIsLimited) {
  const auto program = Program::compile(
      "self.all(a, self.all(b, self.all(c, self.all(d, a + b + c + d > 0))))", {{"self", {}}});
  ASSERT_TRUE(program);
  const Json json(std::vector<int>(100, 1));
  const std::array values = {Value::from_json(json, nullptr)};
  Budget budget;
  EXPECT_EQ(describe(program->evaluate(values, budget)),
            "failure: operation cancelled: actual cost limit exceeded");
  EXPECT_GE(budget.left, 8'900'000);
}

TEST(Cel, ProgramsKnowTheirVariables) {
  const auto program = Program::compile("self == oldSelf", {{"self", {}}, {"oldSelf", {}}});
  ASSERT_TRUE(program);
  EXPECT_TRUE(program->uses("oldSelf"));
  EXPECT_FALSE(Program::compile("self == 1", {{"self", {}}, {"oldSelf", {}}})->uses("oldSelf"));
  EXPECT_EQ(program->type().name(), "bool");
}

}  // namespace
}  // namespace regatta::manifest::cel
