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

TEST(FieldErrors, plain_texts_and_names_are_quoted_in_their_own_ways) {
  EXPECT_EQ(in_quotes("a\"b\\c\n\x01<"), "\"a\\\"b\\\\c\\n\\x01<\"");
  EXPECT_EQ(json_quotes("a\"b\n<"), "\"a\\\"b\\n\\u003c\"");
}

}  // namespace
}  // namespace regatta::api
