#include "lib/manifest/schema/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace regatta::manifest {
namespace {

struct Case {
  const char* name;
  const char* pattern;
  const char* text;
  bool found;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};
class PatternTable : public ::testing::TestWithParam<Case> {};

TEST_P(PatternTable, Finds) {
  const auto pattern = Pattern::compile(GetParam().pattern);
  ASSERT_TRUE(pattern) << pattern.error().what();
  EXPECT_EQ(pattern->search(GetParam().text), GetParam().found);
}

INSTANTIATE_TEST_SUITE_P(
    , PatternTable,
    ::testing::Values(
        Case{"unanchored_finds_inside", "b+", "abbc", true},
        Case{"unanchored_finds_nothing", "b+", "ac", false},
        Case{"anchors_hold_both_ends", "^[a-z]+$", "abc", true},
        Case{"anchors_refuse_a_bad_end", "^[a-z]+$", "abc1", false},
        Case{"anchors_refuse_a_bad_start", "^[a-z]+$", "1abc", false},
        Case{"empty_text_and_anchors", "^$", "", true},
        Case{"empty_anchors_refuse_text", "^$", "x", false}, Case{"end_alone", "c$", "abc", true},
        Case{"end_alone_in_the_middle", "b$", "abc", false},
        Case{"alternatives", "^(red|green|)$", "green", true},
        Case{"alternatives_empty_branch", "^(red|green|)$", "", true},
        Case{"alternatives_none", "^(red|green)$", "blue", false},
        Case{"counted", "^a{2,3}$", "aaa", true},
        Case{"counted_too_many", "^a{2,3}$", "aaaa", false},
        Case{"counted_open", "^a{2,}$", "aaaaaa", true},
        Case{"counted_exact", "^a{2}$", "a", false},
        Case{"brace_is_literal_without_a_count", "^a{x}$", "a{x}", true},
        Case{"negated_class_takes_a_whole_character", "^[^a]$", "\xc3\xa9", true},
        Case{"dot_takes_a_whole_character", "^.{2}$", "\xc3\xa9x", true},
        Case{"dot_refuses_a_newline", "^.$", "\n", false},
        Case{"shorthand", "^\\d+\\.\\d*$", "12.5", true},
        Case{"shorthand_in_a_class", "^[\\w-]+$", "a_b-c", true},
        Case{"negated_shorthand", "^\\S+$", "a b", false},
        Case{"posix_class", "^[[:alpha:]]+$", "abC", true},
        Case{"dash_at_the_end_of_a_class", "^[a-]+$", "a-", true},
        Case{"bracket_first_in_a_class", "^[]a]+$", "]a", true},
        Case{"fold_case", "^(?i)abc$", "aBC", true},
        Case{"named_group", "^(?P<x>a)(?:b)$", "ab", true},
        Case{"named_group_as_of_late", "^(?<x>a)(?i:B)$", "ab", true},
        Case{"no_group_in_a_class", "^[(?<x>]+$", "(?<x>", true},
        Case{"no_P_in_a_class", "^[^](?<x>]+(?<y>)$", "P", true},
        Case{"no_group_behind_a_backslash", "^\\(?<x$", "<x", true},
        Case{"no_group_in_a_quotation", "^\\Q(?<x>\\E(?<y>a)$", "(?<x>a", true},
        Case{"letters_of_unicode", "^\\p{Lu}\\pL$", "\xc3\x89\xc3\xa9", true},
        Case{"negated_posix_class", "^[[:^digit:]]$", "1", false},
        Case{"lines", "(?m)^b$", "a\nb\nc", true},
        Case{"end_of_text_is_no_end_of_line", "a$", "a\n", false},
        Case{"word_boundary", "\\bb\\b", "a b c", true},
        Case{"octal_and_wide_hexadecimal", "^\\101\\x{e9}$", "A\xc3\xa9", true},
        Case{"lazy_is_no_different", "^a+?b$", "aab", true},
        Case{"dns_name", "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
             "kueue.x-k8s.io", true},
        Case{"dns_name_with_capital",
             "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", "Bad", false},
        Case{"quantity",
             "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?"
             "(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$",
             "1.5Gi", true},
        Case{"quantity_in_words",
             "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?"
             "(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$",
             "four", false}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Pattern, TheDefaultMatchesEverything) {
  EXPECT_TRUE(Pattern().search("anything"));
}

TEST(Pattern, MalformedExpressionsAreRefused) {
  for (const auto* bad : {"(", ")", "[a", "*", "a{3,2}", "\\", "(?=a)", "(?<!a)b", "\\1", "[b-a]",
                          "a{2000}", "a**", "(?<x", "(?<>a)", "[[:nope:]]", "\\Z", "\xff"}) {
    EXPECT_FALSE(Pattern::compile(bad)) << bad;
  }
}

TEST(Pattern, WhatIsWrongIsSaidInGosWords) {
  EXPECT_EQ(Pattern::compile("a(b").error().what(),
            "error parsing regexp: missing closing ): `a(b`");
  EXPECT_EQ(Pattern::compile("[b-a]").error().what(),
            "error parsing regexp: invalid character class range: `b-a`");
  EXPECT_EQ(Pattern::compile("*").error().what(),
            "error parsing regexp: missing argument to repetition operator: `*`");
}

TEST(Pattern, SizeIsLimitedAndNestingOnlyByIt) {
  EXPECT_TRUE(Pattern::compile(std::string(200, '(') + std::string(200, ')')));
  EXPECT_TRUE(Pattern::compile(std::string(2000, '(') + std::string(2000, ')')));
  EXPECT_FALSE(Pattern::compile(std::string(10000, 'a')));
  EXPECT_FALSE(Pattern::compile("((a{1000}){1000}){1000}"));
}

// Back-tracking engines take exponential time for these.
TEST(Pattern, TimeIsLinearInTheText) {
  const std::string text(100000, 'a');
  EXPECT_FALSE(Pattern::compile("^(a+)+$")->search(text + "b"));
  EXPECT_TRUE(Pattern::compile("^(a|aa)+$")->search(text));
}

// Its deterministic machine would need 2^20 states.
TEST(Pattern, LargeMachinesAreSimulated) {
  const auto pattern = Pattern::compile("a[ab]{20}$");
  ASSERT_TRUE(pattern);
  EXPECT_TRUE(pattern->search("bba" + std::string(20, 'b')));
  EXPECT_FALSE(pattern->search("bbb" + std::string(20, 'b')));
}

}  // namespace
}  // namespace regatta::manifest
