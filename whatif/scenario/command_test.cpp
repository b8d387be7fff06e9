#include "whatif/scenario/command.h"

#include "lib/base/json.h"
#include "lib/base/temporary_folder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace regatta::whatif {
namespace {

namespace fs = std::filesystem;

class ScenarioCommandTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  int run(bool json, std::vector<std::string> paths = {}) {
    if (paths.empty()) paths = {folder_.string()};
    return run_scenarios({paths, json}, out_, err_);
  }

  static constexpr const char* empty =
      R"({"name": "empty", "now": "2026-01-01T00:00:00Z", "objects": [], "steps": [{}]})";
  TemporaryFolder folder_;
  std::ostringstream out_, err_;
};

TEST_F(ScenarioCommandTest, PrintsOneLineForEachFileInOrder) {
  write("b/two.json", R"({"now": "2026-01-01T00:00:00Z", "objects": [], "steps": []})");
  write("a.json", empty);
  write("notes.txt", "not a scenario");
  EXPECT_EQ(run(true), 0) << err_.str();
  EXPECT_EQ(out_.str(),
            R"({"name":"empty","steps":[{"admitted":{},"cycle":false,"inadmissible":[],)"
            R"("pending":{},"preempted":{},"queued":[],"usage":{}}]})"
            "\n"
            R"({"name":"two","steps":[]})"
            "\n");
}

TEST_F(ScenarioCommandTest, ABadFileDoesNotStopTheOthers) {
  write("a.json", "{");
  write("b.json", R"({"now": "2026-01-01T00:00:00Z", "objects": [{}], "steps": []})");
  write("c.json", empty);
  EXPECT_EQ(run(true), 1);
  EXPECT_TRUE(out_.str().starts_with(R"({"name":"empty")"));
  EXPECT_NE(err_.str().find("a.json: "), std::string::npos);
  EXPECT_NE(err_.str().find("b.json: objects[0].kind: missing"), std::string::npos) << err_.str();
}

TEST_F(ScenarioCommandTest, SaysWhatIsNotThere) {
  EXPECT_EQ(run(true, {"/nowhere", folder_.string()}), 1);
  EXPECT_EQ(err_.str(), "regatta: /nowhere: no such file or folder\nregatta: " + folder_.string() +
                            ": no .json file in this folder\n");
}

TEST_F(ScenarioCommandTest, PrintsForHumansToo) {
  EXPECT_EQ(run(false, {"tests/scenarios/preempts-lower-priority.json"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("    preempted  "), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("    usage      "), std::string::npos) << out_.str();
}

}  // namespace
}  // namespace regatta::whatif
