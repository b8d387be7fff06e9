#include "lib/api/field_errors.h"

#include <gtest/gtest.h>

namespace regatta::api {
namespace {

TEST(FieldErrors, are_worded_as_kubernetes_words_them) {
  ErrorList errors;
  errors.invalid("spec.a", "-1", "must be greater than 0");
  errors.invalid_value("spec.b", "why");
  errors.duplicate("spec.c", in_quotes("x"));
  errors.forbidden("spec.d", "no");
  errors.not_found("spec.e", in_quotes("y"));
  errors.required("spec.f");
  errors.not_supported("spec.g", in_quotes("z"), {"a", "b"});
  errors.too_long("spec.h", 63);
  std::string out;
  for (const FieldError& error : errors.take()) {
    out += std::string(error.type) + " | " + error.text() + " | " + error.detail + "\n";
  }
  EXPECT_EQ(out,
            "FieldValueInvalid | spec.a: Invalid value: -1: must be greater than 0 | must be "
            "greater than 0\n"
            "FieldValueInvalid | spec.b: Invalid value: why | why\n"
            "FieldValueDuplicate | spec.c: Duplicate value: \"x\" | \n"
            "FieldValueForbidden | spec.d: Forbidden: no | no\n"
            "FieldValueNotFound | spec.e: Not found: \"y\" | \n"
            "FieldValueRequired | spec.f: Required value | \n"
            "FieldValueNotSupported | spec.g: Unsupported value: \"z\": supported values: \"a\", "
            "\"b\" | supported values: \"a\", \"b\"\n"
            "FieldValueTooLong | spec.h: Too long: may not be more than 63 bytes | may not be more "
            "than 63 bytes\n");
}

TEST(FieldErrors, the_same_error_twice_counts_once) {
  ErrorList errors;
  errors.required("spec.a");
  errors.required("spec.a");
  errors.required("spec.b");
  EXPECT_EQ(to_text(errors.take()), "[spec.a: Required value, spec.b: Required value]");
}

std::vector<std::string> values(int number) {
  std::vector<std::string> out;
  for (int i = 0; i < number; ++i) out.push_back("v" + std::to_string(i));
  return out;
}

std::string unsupported(const std::vector<std::string>& supported) {
  ErrorList errors;
  errors.not_supported("f", in_quotes("z"), supported);
  return to_text(errors.take());
}

TEST(FieldErrors, a_long_list_of_supported_values_ends_with_how_many_more_there_are) {
  EXPECT_TRUE(unsupported(values(20)).ends_with(", \"v18\", \"v19\""));
  EXPECT_TRUE(unsupported(values(21)).ends_with(", \"v18\", \"v19\" and 1 more"));
  EXPECT_TRUE(unsupported(values(1000)).ends_with(", \"v19\" and 980 more"));
  EXPECT_TRUE(unsupported(std::vector<std::string>(20, std::string(253, 'n'))).ends_with("n\""))
      << "names of any length that Kubernetes allows";
  const std::string longest(10'000, 'n');
  EXPECT_EQ(unsupported({"a", longest, "b"}),
            "f: Unsupported value: \"z\": supported values: \"a\" and 2 more");
  EXPECT_EQ(unsupported({longest, "b"}), "f: Unsupported value: \"z\": 2 more");
  EXPECT_EQ(unsupported({}), "f: Unsupported value: \"z\"");
}

TEST(FieldErrors, after_a_hundred_it_is_said_that_there_are_more) {
  ErrorList errors;
  for (int i = 0; i < 100; ++i) errors.required(at("spec.a", i));
  EXPECT_TRUE(errors.is_full());
  errors.required("spec.a[7]");
  EXPECT_EQ(ErrorList(errors).take().size(), 100u) << "what is there already is not left out";
  for (int i = 90; i < 5000; ++i) errors.required(at("spec.a", i));
  const FieldErrors told = errors.take();
  ASSERT_EQ(told.size(), 101u);
  EXPECT_EQ(told[99].text(), "spec.a[99]: Required value");
  EXPECT_EQ(told[100].text(), "more errors were left out");
  errors.required("spec.b");
  EXPECT_EQ(to_text(errors.take()), "spec.b: Required value") << "a list that was taken is empty";
}

TEST(FieldErrors, of_long_ones_fewer_are_listed) {
  ErrorList errors;
  FieldErrors more;
  for (int i = 0; i < 50; ++i) {
    more.push_back({at("f", i), std::string(100 * 1024, 'x'), field_error::invalid, ""});
  }
  errors.append(more);
  const FieldErrors told = errors.take();
  ASSERT_EQ(told.size(), 4u);
  EXPECT_EQ(told[3].text(), "more errors were left out");
  errors.append(more);
  errors.whole("unreadable");
  EXPECT_EQ(to_text(errors.take()), "unreadable");
}

TEST(FieldErrors, plain_texts_and_names_are_quoted_in_their_own_ways) {
  EXPECT_EQ(in_quotes("a\"b\\c\n\x01<"), "\"a\\\"b\\\\c\\n\\x01<\"");
  EXPECT_EQ(json_quotes("a\"b\n<"), "\"a\\\"b\\n\\u003c\"");
}

}  // namespace
}  // namespace regatta::api
