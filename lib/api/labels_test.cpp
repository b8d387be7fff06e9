#include "lib/api/labels.h"

#include "lib/api/matching.h"
#include "lib/api/validation.h"
#include "lib/base/rng.h"

#include <gtest/gtest.h>

namespace regatta::api {
namespace {

const StringMap pod = {{"app", "web"}, {"tier", "front"}, {"size", "5"}, {"empty", ""}};

struct Match {
  std::string_view selector;
  bool wanted;
};

class SelectorMatch : public testing::TestWithParam<Match> {};

TEST_P(SelectorMatch, decides_as_kubernetes_does) {
  const Result<Selector> selector = Selector::parse(GetParam().selector);
  ASSERT_TRUE(selector) << selector.error().what();
  EXPECT_EQ(selector->matches(pod), GetParam().wanted);
  const Result<Selector> again = Selector::parse(selector->str());
  ASSERT_TRUE(again) << selector->str();
  EXPECT_EQ(again->requirements(), selector->requirements()) << selector->str();
}

INSTANTIATE_TEST_SUITE_P(
    selectors, SelectorMatch,
    testing::Values(Match{"", true}, Match{"app=web", true}, Match{"app==web", true},
                    Match{"app = web , tier=front", true}, Match{"app=web,tier=back", false},
                    Match{"app!=web", false}, Match{"missing!=x", true}, Match{"app", true},
                    Match{"missing", false}, Match{"!missing", true}, Match{"!app", false},
                    Match{"app in (web,db)", true}, Match{"app in (db)", false},
                    Match{"app notin (db, web)", false}, Match{"missing notin (x)", true},
                    Match{"missing in (x)", false}, Match{"empty=", true}, Match{"empty", true},
                    Match{"empty in (,x)", true}, Match{"app=", false}, Match{"size>4", true},
                    Match{"size<5", false}, Match{"app>4", false},
                    Match{"a.b/c!=d,app in (web),!x,tier!=back,size", true}));

TEST(Selector, errors_are_worded_as_by_the_api_server) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"a===b", "unable to parse requirement: found '=', expected: identifier"},
      {"a in b", "unable to parse requirement: found 'b', expected: '('"},
      {"a=b,", "unable to parse requirement: found '', expected: identifier after ','"},
      {"a=b c", "unable to parse requirement: found 'c', expected: ',' or 'end of string'"},
      {",a", "unable to parse requirement: found ',', expected: !, identifier, or 'end of string'"},
      {"a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
  };
  for (const auto& [text, wanted] : cases) {
    const Result<Selector> selector = Selector::parse(text);
    ASSERT_FALSE(selector) << text;
    EXPECT_EQ(selector.error().what(), wanted) << text;
  }
  EXPECT_EQ(Selector::parse("a/b/c=d").error().what().substr(0, 65),
            "unable to parse requirement: key: Invalid value: \"a/b/c\": a quali");
  EXPECT_EQ(Selector::parse("a=-").error().what().substr(0, 66),
            "unable to parse requirement: values[0][a]: Invalid value: \"-\": a v");
}

TEST(Selector, of_an_object_needs_all_labels_and_all_expressions) {
  LabelSelector selector{{{"app", "web"}}, {{"tier", "In", {"front", "back"}}}};
  EXPECT_TRUE(Selector::from(selector)->matches(pod));
  selector.match_expressions.push_back({"app", "DoesNotExist", {}});
  EXPECT_FALSE(Selector::from(selector)->matches(pod));
  EXPECT_TRUE(Selector::from(LabelSelector())->matches(pod));
  EXPECT_FALSE(Selector::nothing().matches(pod));
}

TEST(Selector, of_an_object_is_refused_when_malformed) {
  const auto problem = [](LabelSelectorRequirement requirement) {
    const Result<Selector> selector = Selector::from(LabelSelector{{}, {std::move(requirement)}});
    return selector ? std::string("none") : selector.error().what();
  };
  EXPECT_EQ(problem({"a", "Near", {}}), "\"Near\" is not a valid label selector operator");
  EXPECT_EQ(problem({"a", "In", {}}),
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
  EXPECT_EQ(problem({"a", "Exists", {"x"}}),
            "values: Invalid value: values set must be empty for exists and does not exist");
}

TEST(NodeSelector, compares_numbers_with_Gt_and_Lt) {
  EXPECT_TRUE(matches(LabelSelectorRequirement{"size", "Gt", {"4"}}, pod));
  EXPECT_FALSE(matches(LabelSelectorRequirement{"size", "Lt", {"4"}}, pod));
  EXPECT_FALSE(matches(LabelSelectorRequirement{"app", "Gt", {"4"}}, pod));
  EXPECT_FALSE(matches(LabelSelectorRequirement{"size", "Near", {"5"}}, pod));
}

TEST(FieldSelector, reads_terms_and_escapes) {
  const auto terms = parse_field_selector("metadata.name=x,spec.y!=z,,a==b\\,c").value();
  const std::vector<FieldRequirement> wanted = {
      {"metadata.name", true, "x"}, {"spec.y", false, "z"}, {"a", true, "b,c"}};
  EXPECT_EQ(terms, wanted);
  EXPECT_TRUE(parse_field_selector("")->empty());
  EXPECT_EQ(parse_field_selector("metadata.name").error().what(),
            "invalid selector: 'metadata.name'; can't understand 'metadata.name'");
}

TEST(Validation, speaks_the_words_of_kubernetes) {
  EXPECT_TRUE(check_dns1123_label("a-1").empty());
  EXPECT_EQ(check_dns1123_label("A"),
            Complaints{"a lowercase RFC 1123 label must consist of lower case alphanumeric "
                       "characters or '-', and must start and end with an alphanumeric character "
                       "(e.g. 'my-name',  or '123-abc', regex used for validation is "
                       "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"});
  EXPECT_EQ(check_dns1123_label(std::string(64, 'a')),
            Complaints{"must be no more than 63 characters"});
  EXPECT_EQ(check_label_value(std::string(64, 'a')), Complaints{"must be no more than 63 bytes"});
  EXPECT_TRUE(check_dns1123_subdomain("a.b-c.d").empty());
  EXPECT_EQ(check_dns1123_subdomain("a..b").size(), 1u);
  EXPECT_EQ(check_dns1123_subdomain(std::string(254, 'a')).size(), 1u);
  EXPECT_TRUE(check_dns1035_label("a1").empty());
  EXPECT_FALSE(check_dns1035_label("1a").empty());
  EXPECT_TRUE(check_qualified_name("example.com/My_Name.1").empty());
  EXPECT_EQ(check_qualified_name("/a"), Complaints{"prefix part must be non-empty"});
  EXPECT_EQ(check_qualified_name("").size(), 2u);
  EXPECT_EQ(check_qualified_name("B_/a").size(), 1u);
  EXPECT_EQ(check_qualified_name("a/b/c").size(), 1u);
  EXPECT_TRUE(check_label_value("").empty());
  EXPECT_TRUE(check_label_value("A.b_c-1").empty());
  EXPECT_EQ(check_label_value("a b").size(), 1u);
}

TEST(Selector, sorts_very_many_requirements_by_key_and_keeps_the_order_within_one) {
  // To move each requirement past all that stand before it would be fifty billion moves.
  constexpr int number = 300'000;
  std::string text = "z!=2,z!=1";
  for (int i = number; i > 0; --i) text += ",k" + std::to_string(number + i);
  const Result<Selector> selector = Selector::parse(text);
  ASSERT_TRUE(selector) << selector.error().what();
  const std::vector<Requirement>& sorted = selector->requirements();
  ASSERT_EQ(sorted.size(), number + 2u);
  EXPECT_EQ(sorted.front().key, "k" + std::to_string(number + 1));
  EXPECT_EQ(sorted[number].values, std::vector<std::string>{"2"});
  EXPECT_EQ(sorted[number + 1].values, std::vector<std::string>{"1"});
}

TEST(Selector, survives_any_text) {
  const std::uint64_t seed = 99;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  const std::string_view pieces[] = {"a", "b/c", "=", "!", "==", "!=", "in", "notin",
                                     "(", ")",   ",", " ", "<",  ">",  "\\", "-"};
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto n = rng.between(0, 12); n > 0; --n) {
      text += pieces[rng.between(0, std::ssize(pieces) - 1)];
    }
    const Result<Selector> selector = Selector::parse(text);
    if (selector) {
      EXPECT_TRUE(Selector::parse(selector->str())) << text << " -> " << selector->str();
    }
    (void)parse_field_selector(text);
  }
}

}  // namespace
}  // namespace regatta::api
