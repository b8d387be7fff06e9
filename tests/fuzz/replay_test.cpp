#include "lib/base/rng.h"
#include "tests/fuzz/targets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

// Inputs that once failed, and inputs with which the fuzzers start; as they are, and damaged.

namespace regatta::fuzz {
namespace {

namespace fs = std::filesystem;

struct Target {
  const char* folder;
  void (*feed)(std::string_view);
};

struct Input {
  fs::path path;
  std::string text;
};

class Replay : public testing::TestWithParam<Target> {
 protected:
  static std::vector<Input> corpus() {
    std::vector<Input> out;
    const fs::path folder = fs::path("tests/fuzz/corpus") / GetParam().folder;
    for (const auto& entry : fs::directory_iterator(folder)) {
      std::ifstream file(entry.path(), std::ios::binary);
      out.push_back({entry.path(), std::string((std::istreambuf_iterator<char>(file)), {})});
    }
    std::sort(out.begin(), out.end(),
              [](const Input& a, const Input& b) { return a.path < b.path; });
    return out;
  }
  /// Behind the last byte there is nothing that may be read, not even a zero.
  static void feed(const std::string& text) {
    const std::vector<char> bytes(text.begin(), text.end());
    GetParam().feed(std::string_view(bytes.data(), bytes.size()));
  }
};

TEST_P(Replay, SurvivesItsCorpus) {
  const std::vector<Input> inputs = corpus();
  ASSERT_FALSE(inputs.empty()) << "run from the top of the repository";
  for (const Input& input : inputs) {
    SCOPED_TRACE(input.path);
    EXPECT_FALSE(input.text.empty());
    feed(input.text);
  }
}

/// A place in the text, its end included.
std::size_t place(Rng& rng, std::size_t size) {
  return static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(size)));
}

/// A piece of the text of at most 64 bytes.
std::string piece(Rng& rng, const std::string& text) {
  return text.substr(place(rng, text.size()), place(rng, 64));
}

std::string with_one_edit(std::string text, Rng& rng, const std::string& other) {
  const std::size_t at = place(rng, text.size());
  switch (rng.between(0, 5)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(rng.between(0, 255));
      return text;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << rng.between(0, 7)));
      return text;
    case 2:
      return text.erase(at, place(rng, 64));
    case 3:
      return text.insert(at, piece(rng, text));
    case 4:
      return text.insert(at, piece(rng, other));
    default:
      return rng.chance(0.1) ? text.substr(0, at) : text.insert(at, 1, "{}[],:\"\\\n -0"[at % 12]);
  }
}

/// What a fuzzer does in its first moments, without its eyes. REGATTA_FUZZ_SEED is another seed.
TEST_P(Replay, SurvivesDamagedInputs) {
  const std::vector<Input> inputs = corpus();
  ASSERT_FALSE(inputs.empty());
  const char* given = std::getenv("REGATTA_FUZZ_SEED");
  const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : 1;
  std::cout << "seed " << seed << std::endl;
  Rng rng(seed);
  constexpr int rounds = 2000;
  for (int round = 0; round < rounds; ++round) {
    std::string text = inputs[place(rng, inputs.size() - 1)].text;
    const std::string& other = inputs[place(rng, inputs.size() - 1)].text;
    for (auto edits = rng.between(1, 8); edits > 0; --edits) {
      text = with_one_edit(std::move(text), rng, other);
    }
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round);
    feed(text);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Fuzz, Replay,
    testing::Values(Target{"manifests", manifests}, Target{"events", events},
                    Target{"scenario", scenario}, Target{"kubeconfig", kubeconfig},
                    Target{"configuration", configuration}, Target{"http_answer", http_answer},
                    Target{"http_request", http_request}, Target{"json", json},
                    Target{"list", list}, Target{"watch", watch}, Target{"status", status},
                    Target{"pem", pem}, Target{"protobuf", protobuf}, Target{"objects", objects},
                    Target{"selector", selector}, Target{"patch", patch}, Target{"cel", cel}),
    [](const auto& info) { return std::string(info.param.folder); });

}  // namespace
}  // namespace regatta::fuzz
