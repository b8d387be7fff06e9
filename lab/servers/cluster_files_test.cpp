#include "kubeconfig/local.h"
#include "lab/servers/controllers.h"
#include "lab/servers/files.h"
#include "lib/base/temporary_folder.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace regatta::lab {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  TimePoint now = SystemClock().now();
  TemporaryFolder folder;
};

TEST_F(Files, AreForTheirOwnerOnly) {
  ASSERT_TRUE(ClusterFiles::prepare(folder, 6443, now));
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write)
        << entry.path();
  }
}

TEST_F(Files, ARestartedServerIsTheOneItsClientsTrust) {
  const auto first = ClusterFiles::prepare(folder, 6443, now);
  const auto second = ClusterFiles::prepare(folder, 6444, now);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->authority().certificate_pem(), second->authority().certificate_pem());
  EXPECT_EQ(first->server().certificate_pem, second->server().certificate_pem);
  kubeconfig::SystemFiles files;
  const auto endpoint = kubeconfig::load_local(files, second->admin_kubeconfig().string());
  ASSERT_TRUE(endpoint) << endpoint.error().what();
  EXPECT_EQ(endpoint->port, 6444);
}

TEST(FindFleet, KnowsTheExamplesAndForms) {
  EXPECT_FALSE(*find_fleet("none"));
  EXPECT_EQ((*find_fleet("a100"))->front().gpus * (*find_fleet("a100"))->front().count, 8);
  EXPECT_TRUE(*find_fleet("4xH100,2xCPU"));
  EXPECT_FALSE(find_fleet("no such fleet"));
}

}  // namespace
}  // namespace regatta::lab
