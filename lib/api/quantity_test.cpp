#include "lib/api/quantity.h"

#include "lib/base/rng.h"

#include <gtest/gtest.h>

#include <limits>

namespace regatta::api {
namespace {

Quantity q(std::string_view text) {
  const Result<Quantity> parsed = Quantity::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *parsed : Quantity();
}

struct Canonical {
  std::string_view in;
  std::string_view out;
};

class CanonicalText : public testing::TestWithParam<Canonical> {};

TEST_P(CanonicalText, is_what_the_api_server_prints) {
  EXPECT_EQ(q(GetParam().in).str(), GetParam().out) << GetParam().in;
  EXPECT_EQ(q(q(GetParam().in).str()), q(GetParam().in)) << "not a fixed point";
}

INSTANTIATE_TEST_SUITE_P(
    quantities, CanonicalText,
    testing::Values(
        // As recorded from a real server.
        Canonical{"1000m", "1"}, Canonical{"1024Mi", "1Gi"}, Canonical{"0.5", "500m"},
        Canonical{"1e3", "1e3"}, Canonical{"1.5Gi", "1536Mi"}, Canonical{"2", "2"},
        // Zero, however it is written.
        Canonical{"0", "0"}, Canonical{"000", "0"}, Canonical{"0Ki", "0"}, Canonical{"-0", "0"},
        Canonical{"0e5", "0"}, Canonical{"0.000", "0"}, Canonical{".", "0"}, Canonical{"+", "0"},
        // Decimal suffixes step by thousands.
        Canonical{"100m", "100m"}, Canonical{"1500m", "1500m"}, Canonical{"2000k", "2M"},
        Canonical{"12345", "12345"}, Canonical{"10000", "10k"}, Canonical{"100k", "100k"},
        Canonical{"1.1M", "1100k"}, Canonical{"1E", "1E"}, Canonical{"100E", "100E"},
        Canonical{"1000E", "1000E"}, Canonical{"5n", "5n"}, Canonical{"1500n", "1500n"},
        Canonical{"1000000u", "1"}, Canonical{"+1", "1"}, Canonical{"-1500m", "-1500m"},
        Canonical{"007", "7"}, Canonical{"1.", "1"}, Canonical{".5", "500m"},
        Canonical{"0.1k", "100"}, Canonical{"3.14159", "3141590u"},
        // Exponents keep their form, in steps of three.
        Canonical{"1e4", "10e3"}, Canonical{"15e2", "1500"}, Canonical{"1E6", "1e6"},
        Canonical{"1e-3", "1e-3"}, Canonical{"1e-1", "100e-3"}, Canonical{"1e+3", "1e3"},
        Canonical{"1e100", "10e99"},
        // Binary suffixes only for whole numbers of at least 1024.
        Canonical{"1Ki", "1Ki"}, Canonical{"1023Ki", "1023Ki"}, Canonical{"2048Ki", "2Mi"},
        Canonical{"0.5Ki", "512"}, Canonical{"1.5Ki", "1536"}, Canonical{"1025Mi", "1025Mi"},
        Canonical{"0.001Ki", "1024m"}, Canonical{"1.001Ki", "1025024m"},
        Canonical{"0.0000000001Ki", "103n"}, Canonical{"-2048Ki", "-2Mi"}, Canonical{"7Ei", "7Ei"},
        // Finer than 1n rounds away from zero.
        Canonical{"0.1n", "1n"}, Canonical{"1.0000000001", "1000000001n"},
        Canonical{"-0.0000000001", "-1n"}, Canonical{"1e-30", "1e-9"},
        // More than eighteen digits are capped.
        Canonical{"9223372036854775807", "9223372036854775807"},
        Canonical{"9223372036854775808", "9223372036854775807"},
        Canonical{"99999999999999999999999", "9223372036854775807"},
        Canonical{"-99999999999999999999999", "-9223372036854775807"},
        Canonical{"100Ei", "9223372036854775807"}, Canonical{"8Ei", "9223372036854775807"}));

TEST(Quantity, refuses_what_is_not_one_in_the_words_of_kubernetes) {
  const std::string format =
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  for (const std::string_view text : {"", " 1", "1 ", "1Q", "four", "1.2.3", "1i2x", "0x10"}) {
    const auto parsed = Quantity::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().what(), format) << text;
  }
  for (const std::string_view text :
       {"--1", "1K", "1ki", "1mi", "1e", "1Gie", "1e99999999999", "1kk"}) {
    const auto parsed = Quantity::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().what(), "unable to parse quantity's suffix") << text;
  }
}

TEST(Quantity, values_round_away_from_zero_and_saturate) {
  EXPECT_EQ(q("100m").value(), 1);
  EXPECT_EQ(q("-100m").value(), -1);
  EXPECT_EQ(q("1.5").value(), 2);
  EXPECT_EQ(q("1500m").milli_value(), 1500);
  EXPECT_EQ(q("1n").milli_value(), 1);
  EXPECT_EQ(q("1Ki").value(), 1024);
  EXPECT_EQ(q("100E").value(), INT64_MAX);
  EXPECT_EQ(q("-1e100").value(), INT64_MIN);
  EXPECT_EQ(q("9E").milli_value(), INT64_MAX);
}

TEST(Quantity, compares_by_number_whatever_the_suffix) {
  EXPECT_EQ(q("1"), q("1000m"));
  EXPECT_EQ(q("1Ki"), q("1024"));
  EXPECT_LT(q("1k"), q("1Ki"));
  EXPECT_LT(q("-1"), q("0"));
  EXPECT_GT(q("1e101"), q("1e100"));
  EXPECT_LT(q("-1e101"), q("-1e100"));
  EXPECT_EQ(q("0"), q("0Ki"));
}

TEST(Quantity, sums_keep_the_format_of_the_first_that_is_not_zero) {
  EXPECT_EQ((q("1") + q("500m")).str(), "1500m");
  EXPECT_EQ((q("0") + q("1Gi")).str(), "1Gi");
  EXPECT_EQ((q("1Gi") + q("512Mi")).str(), "1536Mi");
  EXPECT_EQ((q("1Gi") - q("1Gi")).str(), "0");
  EXPECT_EQ((q("1k") - q("2k")).str(), "-1k");
  EXPECT_EQ((q("1Ki") + q("1n")).str(), "1024000000001n");
}

TEST(Quantity, amounts_count_cpu_in_thousandths_and_the_rest_in_units) {
  EXPECT_EQ(resource_amount("cpu", q("1500m")), 1500);
  EXPECT_EQ(resource_amount("cpu", q("1.0001")), 1001);
  EXPECT_EQ(resource_amount("memory", q("100m")), 1);
  EXPECT_EQ(resource_amount("nvidia.com/gpu", q("8")), 8);
  EXPECT_EQ(resource_amount("cpu", q("9223372036854775807")), INT64_MAX);
  EXPECT_EQ(resource_quantity("cpu", 1500).str(), "1500m");
  EXPECT_EQ(resource_quantity("memory", 1 << 30).str(), "1Gi");
  EXPECT_EQ(resource_quantity("hugepages-2Mi", 1 << 21).str(), "2Mi");
  EXPECT_EQ(resource_quantity("nvidia.com/gpu", 4096).str(), "4096");
}

/// The fraction "0.<digits>" times 2^shift in units of 1n, rounded up: by doubling all the digits.
std::string nano_of_fraction(std::string digits, int shift) {
  digits.append(9, '0');
  std::string whole = "0";
  for (int i = 0; i < shift; ++i) {
    int carry = 0;
    for (std::string* part : {&digits, &whole}) {
      for (std::size_t at = part->size(); at-- > 0;) {
        const int digit = ((*part)[at] - '0') * 2 + carry;
        (*part)[at] = static_cast<char>('0' + digit % 10);
        carry = digit / 10;
      }
    }
    if (carry > 0) whole.insert(whole.begin(), static_cast<char>('0' + carry));
  }
  std::string nano = whole + digits.substr(0, 9);
  if (digits.find_first_not_of('0', 9) == std::string::npos) return nano + "n";
  std::size_t at = nano.size() - 1;
  for (; nano[at] == '9'; --at) nano[at] = '0';
  ++nano[at];
  return nano + "n";
}

struct BinarySuffix {
  const char* text;
  int shift;
};
constexpr BinarySuffix binary_suffixes[] = {{"Ki", 10}, {"Mi", 20}, {"Gi", 30},
                                            {"Ti", 40}, {"Pi", 50}, {"Ei", 60}};

TEST(Quantity, a_fraction_of_a_binary_unit_is_exact_whatever_its_length) {
  const std::uint64_t seed = 20260302;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  // Some of these are whole numbers of 1n; the digits that follow lead away from them or do not.
  const std::string_view starts[] = {"", "5", "25", "125", "0009765625", "4999999999", "75"};
  for (int i = 0; i < 500; ++i) {
    std::string digits(starts[rng.between(0, std::ssize(starts) - 1)]);
    digits.append(static_cast<std::size_t>(rng.between(0, 110)), "0009"[rng.between(0, 3)]);
    for (auto n = rng.between(0, 60); n > 0; --n) {
      digits += static_cast<char>('0' + rng.between(0, 9));
    }
    for (const auto& [text, shift] : binary_suffixes) {
      const std::string quantity = "0." + digits + text;
      EXPECT_EQ(q(quantity), q(nano_of_fraction(digits, shift))) << quantity;
      EXPECT_EQ(q("-" + quantity), -q(quantity)) << quantity;
    }
  }
}

TEST(Quantity, a_distant_digit_of_a_binary_fraction_rounds_up) {
  const std::string zeros(98, '0');
  EXPECT_EQ(q("0.5Ki").str(), "512");
  EXPECT_EQ(q("0.5" + zeros + "Ki").str(), "512");
  EXPECT_EQ(q("0.5" + zeros + "1Ki").str(), "512000000001n");
  EXPECT_EQ(q("0.4" + std::string(99, '9') + "Ki").str(), "512");
  EXPECT_EQ(q("1.5" + zeros + "1Ki"), q("1536000000001n"));
  EXPECT_EQ(q("-0.5" + zeros + "1Ki"), q("-512000000001n"));
  EXPECT_EQ(q("0." + zeros + "1Ei"), q("1n"));
  // 1n in units of Ei, which has 69 digits: less than all of them do not tell it from its
  // neighbour.
  const std::string one = "0.000000000000000000000000000867361737988403547205962240695953369140625";
  EXPECT_EQ(q(one + "Ei"), q("1n"));
  EXPECT_EQ(q(one + zeros + "Ei"), q("1n"));
  EXPECT_EQ(q(one + zeros + "1Ei"), q("2n"));
  EXPECT_EQ(q(one + "1Ei"), q("2n"));
  EXPECT_EQ(q(one.substr(0, one.size() - 1) + "4Ei"), q("1n"));
  EXPECT_EQ(q(one.substr(0, one.size() - 1) + "6Ei"), q("2n"));
}

TEST(Quantity, survives_any_text) {
  const std::uint64_t seed = 20260101;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  const std::string_view alphabet = "0123456789.+-eEinumkKMGTPx ";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto n = rng.between(0, 30); n > 0; --n) {
      text += alphabet[static_cast<std::size_t>(rng.between(0, std::ssize(alphabet) - 1))];
    }
    const auto parsed = Quantity::parse(text);
    if (!parsed) continue;
    const auto again = Quantity::parse(parsed->str());
    ASSERT_TRUE(again) << text << " -> " << parsed->str();
    EXPECT_EQ(again->str(), parsed->str()) << text;
  }
}

TEST(Products, AreExactDownToNano) {
  const auto product = [](const char* a, const char* b) { return (q(a) * q(b)).str(); };
  EXPECT_EQ(product("3", "2"), "6");
  EXPECT_EQ(product("500m", "500m"), "250m");
  EXPECT_EQ(product("1Gi", "500m"), "512Mi");
  EXPECT_EQ(product("3", "-1500m"), "-4500m");
  EXPECT_EQ(product("0", "7"), "0");
  EXPECT_EQ(product("1n", "1n"), "1n");
  EXPECT_EQ(product("-1n", "1500m"), "-2n");
  EXPECT_EQ(product("1M", "1M"), "1T");
  EXPECT_EQ((q("9223372036854775807") * q("9223372036854775807")).value(),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ((q("9223372036854775807") * q("-1.000000001")).value(),
            std::numeric_limits<std::int64_t>::min());
}

}  // namespace
}  // namespace regatta::api
