#include "lib/kube/in_cluster.h"

#include "lib/base/temporary_folder.h"
#include "lib/kube/kube_test.h"

#include <fstream>

namespace regatta::kube {
namespace {

using namespace std::chrono_literals;

struct InClusterTest : KubeTest {
  TemporaryFolder folder;
  std::map<std::string, std::string> variables{{"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                                               {"KUBERNETES_SERVICE_PORT", "443"}};
  Environment environment = [this](const std::string& name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    if (it == variables.end()) return std::nullopt;
    return it->second;
  };

  InClusterTest() {
    write("ca.crt", "CA");
    write("token", "one\n");
    write("namespace", "kueue-system\n");
  }
  void write(const char* name, std::string_view text) { std::ofstream(folder / name) << text; }
};

TEST_F(InClusterTest, ReadsWhatThePodWasGiven) {
  const auto config = load_in_cluster(environment, folder);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->host, "10.0.0.1");
  EXPECT_EQ(config->port, 443);
  EXPECT_EQ(config->ca_pem, "CA");
  EXPECT_EQ(config->ns, "kueue-system");
}

TEST_F(InClusterTest, SaysWhatIsMissing) {
  variables["KUBERNETES_SERVICE_PORT"] = "70000";
  EXPECT_EQ(load_in_cluster(environment, folder).error().what(),
            "KUBERNETES_SERVICE_PORT: \"70000\" is not a port");
  variables["KUBERNETES_SERVICE_PORT"] = "443";
  std::filesystem::remove(folder / "token");
  EXPECT_EQ(load_in_cluster(environment, folder).error().code(), Errc::not_found);
  variables.clear();
  EXPECT_EQ(load_in_cluster(environment, folder).error().code(), Errc::not_found);
}

TEST_F(InClusterTest, ARotatedTokenIsNoticedWithinAMinuteOrWhenRejected) {
  TokenFile token(world, folder / "token");
  EXPECT_EQ(*run(token.bearer_token()), "one");
  write("token", "two");
  EXPECT_EQ(*run(token.bearer_token()), "one");
  token.rejected();
  EXPECT_EQ(*run(token.bearer_token()), "two");
  write("token", "three");
  world.run_for(60s);
  EXPECT_EQ(*run(token.bearer_token()), "three");
}

TEST_F(InClusterTest, AMissingFileKeepsTheOldToken) {
  TokenFile token(world, folder / "token");
  EXPECT_EQ(*run(token.bearer_token()), "one");
  std::filesystem::remove(folder / "token");
  world.run_for(60s);
  EXPECT_EQ(*run(token.bearer_token()), "one");
  TokenFile never(world, folder / "token");
  EXPECT_EQ(run(never.bearer_token()).error().code(), Errc::not_found);
}

TEST_F(InClusterTest, OnlySmallRegularFilesAreRead) {
  write("token", std::string(TokenFile::bytes_max + 1, 'x'));
  EXPECT_EQ(read_small_file(folder / "token", TokenFile::bytes_max).error().code(), Errc::invalid);
  EXPECT_EQ(read_small_file(folder, 10).error().code(), Errc::invalid);
  EXPECT_EQ(*read_small_file(folder / "ca.crt", 2), "CA");
}

}  // namespace
}  // namespace regatta::kube
