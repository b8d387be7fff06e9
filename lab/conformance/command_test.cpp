#include "lab/conformance/command.h"

#include "lib/base/json_access.h"
#include "lib/base/temporary_folder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace regatta::lab {
namespace {

namespace fs = std::filesystem;

class ConformanceCommand : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  int run(bool json) {
    out_.str("");
    err_.str("");
    return run_conformance({folder_.string(), json}, out_, err_);
  }

  TemporaryFolder folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

constexpr auto cohort = R"({"name":"one","area":"webhooks","group":"cohort","layer":"webhook",
  "kind":"Cohort","op":"validateCreate","object":{},
  "expect":{"allowed":true,"errors":[],"response":{"status":{"code":200}}}})";

TEST_F(ConformanceCommand, prints_one_line_per_file_computed_from_the_inputs) {
  write("a.json", cohort);
  Json wrong = Json::parse(cohort);
  wrong["name"] = "two";
  wrong["expect"] = "not looked at";
  write("b.json", wrong.dump());
  EXPECT_EQ(run(true), 0) << err_.str();
  const std::string expect =
      R"("expect":{"allowed":true,"errors":[],"response":{"status":{"code":200}}})";
  EXPECT_EQ(out_.str(), "{" + expect + ",\"name\":\"one\"}\n{" + expect + ",\"name\":\"two\"}\n");
}

TEST_F(ConformanceCommand, summarises_each_group_and_fails_on_a_difference) {
  write("a.json", cohort);
  EXPECT_EQ(run(false), 0);
  EXPECT_EQ(out_.str(), "webhooks/cohort: 1/1 scenarios, 0/0 messages\n");
  Json other = Json::parse(cohort);
  other["expect"]["allowed"] = false;
  write("b.json", other.dump());
  EXPECT_EQ(run(false), 1);
  EXPECT_EQ(out_.str(), (folder_ / "b.json").string() +
                            ": allowed\n  expected: false\n  got:      true\n"
                            "webhooks/cohort: 1/2 scenarios, 0/0 messages\n");
}

TEST_F(ConformanceCommand, says_what_it_cannot_play_and_goes_on) {
  write("a.json", R"({"name":"m","area":"jobs","group":"list"})");
  write("b.json", "{");
  write("c.json", cohort);
  EXPECT_EQ(run(true), 1);
  EXPECT_NE(err_.str().find("scenarios of the area jobs cannot be played yet"), std::string::npos);
  EXPECT_NE(err_.str().find("b.json"), std::string::npos);
  EXPECT_NE(out_.str().find("\"one\""), std::string::npos);
  EXPECT_EQ(run(false), 1);
  EXPECT_NE(out_.str().find("jobs/list: 0/0 scenarios, 0/0 messages, 1 not played"),
            std::string::npos);
}

TEST_F(ConformanceCommand, a_folder_that_is_not_there_is_an_error) {
  std::ostringstream out, err;
  EXPECT_EQ(run_conformance({"/nonexistent", true}, out, err), 1);
  EXPECT_FALSE(err.str().empty());
}

}  // namespace
}  // namespace regatta::lab
