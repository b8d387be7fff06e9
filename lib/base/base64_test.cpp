#include "lib/base/base64.h"

#include <gtest/gtest.h>

namespace regatta {
namespace {

TEST(Base64, IsReadBack) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(*base64_decode(base64_encode(bytes)), bytes);
    EXPECT_EQ(*base64url_decode(base64url_encode(bytes)), bytes);
    bytes += static_cast<char>(i * 7);
  }
}

TEST(Base64, MatchesTheStandardsExamples) {
  const std::pair<const char*, const char*> rows[] = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"fooba", "Zm9vYmE="}};
  for (const auto& [text, encoded] : rows) {
    EXPECT_EQ(base64_encode(text), encoded);
    EXPECT_EQ(*base64_decode(encoded), text);
  }
  EXPECT_EQ(base64url_encode("\xfb\xff"), "-_8");
}

TEST(Base64, LineBreaksAreSkipped) {
  EXPECT_EQ(*base64_decode("\r\nZm9v\nYm\nE\n=\n"), "fooba");
  EXPECT_EQ(*base64_decode("\n"), "");
}

TEST(Base64, WhatDoesNotBelongIsNamedByItsPlace) {
  struct Row {
    const char* text;
    int at;
  };
  for (const Row& row :
       {Row{"Zm9v*", 4}, Row{"Zm9v Zm9v", 4}, Row{"Zm9vYmE", 4}, Row{"Zm9vY", 4},
        Row{"Zg==Zg==", 4}, Row{"=", 0}, Row{"Z===", 1}, Row{"Zg=", 3}, Row{"Zg=a", 3},
        Row{"Zg===", 4}, Row{"Zm-_", 2}, Row{" Zg==", 0}, Row{"Zg==\t", 4}}) {
    const auto decoded = base64_decode(row.text);
    ASSERT_FALSE(decoded) << row.text;
    EXPECT_EQ(decoded.error().what(), "illegal base64 data at input byte " + std::to_string(row.at))
        << row.text;
  }
}

TEST(Base64, OfUrlsTakesNothingOfTheOther) {
  for (const char* text : {"Zg==", "Zm+/", "Zm9v\n", "Z", "Zm9vZ", "Zm 9"}) {
    EXPECT_FALSE(base64url_decode(text)) << text;
  }
}

}  // namespace
}  // namespace regatta
