#include "lib/base/json_scan.h"

#include "lib/base/rng.h"

#include <gtest/gtest.h>

#include <string>

namespace regatta {
namespace {

std::size_t byte_by_byte(const std::string& text, const std::string& more) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\') break;
    if (more.find(text[at]) != more.npos) break;
  }
  return at;
}

TEST(JsonScan, EveryByteAtEveryPlaceOfAWord) {
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t length = 0; length < 20; ++length) {
      for (std::size_t at = 0; at < length; ++at) {
        std::string text(length, 'x');
        text[at] = static_cast<char>(byte);
        EXPECT_EQ(plain_prefix(text), byte_by_byte(text, "")) << byte << " at " << at;
        EXPECT_EQ((plain_prefix<'<', '&'>(text)), byte_by_byte(text, "<&")) << byte << " at " << at;
      }
    }
  }
}

TEST(JsonScan, BytesThatDifferByLittleFromThoseThatEndIt) {
  using namespace std::string_view_literals;
  constexpr auto bytes = "\x00\x01\x1f !#\"[\\]\x7f\x80\x81\xa2\xdc\xff;<=a"sv;
  Rng rng(7);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(rng.next() % n); };
  for (int i = 0; i < 200000; ++i) {
    std::string text(below(30), ' ');
    for (char& c : text) {
      if (below(4) == 0) c = bytes[below(bytes.size())];
    }
    ASSERT_EQ(plain_prefix(text), byte_by_byte(text, ""));
    ASSERT_EQ((plain_prefix<'<', '='>(text)), byte_by_byte(text, "<="));
    const std::size_t from = below(32);
    ASSERT_EQ(find_quote_or_backslash(text, from), text.find_first_of("\"\\", from));
  }
}

}  // namespace
}  // namespace regatta
