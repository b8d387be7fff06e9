#include "tests/fuzz/targets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

// Inputs that once failed, and inputs with which the fuzzers start.

namespace regatta::fuzz {
namespace {

namespace fs = std::filesystem;

struct Target {
  const char* folder;
  void (*feed)(std::string_view);
};

class Replay : public testing::TestWithParam<Target> {};

TEST_P(Replay, SurvivesItsCorpus) {
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::directory_iterator(fs::path("tests/fuzz/corpus") / GetParam().folder)) {
    files.push_back(entry.path());
  }
  ASSERT_FALSE(files.empty()) << "run from the top of the repository";
  std::sort(files.begin(), files.end());
  for (const fs::path& path : files) {
    SCOPED_TRACE(path);
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_FALSE(text.empty());
    GetParam().feed(text);
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
