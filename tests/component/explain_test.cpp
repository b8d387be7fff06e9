#include "lib/kube/credentials.h"
#include "tests/component/one_cluster.h"
#include "whatif/explain/account.h"
#include "whatif/explain/feed.h"
#include "whatif/snapshot/cluster_reader.h"

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Explain : public OneCluster {
 protected:
  /// The picture that a user with that token can read.
  Result<whatif::ClusterPicture> picture(const std::string& token = TestCluster::admin_token) {
    requests_.clear();
    kube::ClientConfig config;
    config.observer = [this](const kube::RequestSeen& seen) {
      requests_.push_back(std::string(seen.verb));
    };
    kube::Client client(kube::ClientDeps{cluster_.sender(), world_, world_.rng,
                                         std::make_shared<kube::StaticToken>(token), config});
    return run(world_, whatif::read_cluster(client, {.fallback_namespace = "default"}));
  }
  whatif::Account account_of(const std::string& job,
                             const std::string& token = TestCluster::admin_token) {
    const auto read = picture(token);
    if (!read) {
      ADD_FAILURE() << read.error().what();
      return {};
    }
    admission::State state;
    whatif::feed(&state, read->objects, world_.now());
    const auto workload = workload_of(job);
    auto account = whatif::give_account(
        state, read->objects, workload ? workload->metadata.key() : key("none"), world_.now());
    if (!account) {
      ADD_FAILURE() << account.error().what();
      return {};
    }
    account->blind = !read->complete();
    for (const whatif::Gap& gap : read->gaps) account->gaps.push_back(gap.text);
    return *account;
  }
  /// Lets the user `limited` read these resources, everywhere or in namespace default.
  void allow(const std::string& resources, bool everywhere) {
    const std::string kind = everywhere ? "ClusterRole" : "Role";
    const std::string metadata = everywhere ? "{name: looks}" : "{name: looks, namespace: default}";
    const std::string head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind;
    apply(head + "\nmetadata: " + metadata +
          "\nrules: [{apiGroups: ['', kueue.x-k8s.io], resources: [" + resources +
          "], verbs: [list]}]");
    apply(head + "Binding\nmetadata: " + metadata +
          "\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: " + kind +
          ", name: looks}\nsubjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: "
          "limited}]");
  }
  void start_with_one_too_many() {
    start_with_queues();
    apply(job_yaml("runs", 3));
    settle();
    apply(job_yaml("waits", 2));
    settle();
  }

  std::vector<std::string> requests_;
};

TEST_F(Explain, SaysWhatTheManagerFoundOutAndOnlyReads) {
  start_with_one_too_many();
  const whatif::Account account = account_of("waits");
  EXPECT_EQ(name_of(account.explanation.standing), "waits_for_quota");
  EXPECT_EQ("False " + account.explanation.reason + ": " + account.explanation.message,
            condition_of("waits", "QuotaReserved"));
  EXPECT_THAT(account.gaps, IsEmpty());
  EXPECT_THAT(requests_, Each(std::string("list")));
  EXPECT_THAT(next_steps(account),
              Contains(HasSubstr("or wait for default/" + workload_of("runs")->metadata.name)));
  EXPECT_EQ(name_of(account_of("runs").explanation.standing), "admitted");
}

TEST_F(Explain, SaysWhichPermissionIsMissingAndTellsWhatWasWritten) {
  start_with_one_too_many();
  allow("workloads, localqueues", false);
  const whatif::Account account = account_of("waits", TestCluster::limited_token);
  EXPECT_TRUE(account.blind);
  EXPECT_THAT(account.gaps,
              Contains(HasSubstr("may not list clusterqueues.kueue.x-k8s.io (clusterqueues.kueue."
                                 "x-k8s.io is forbidden: User \"limited\" cannot list resource")));
  EXPECT_THAT(whatif::summary_of(account), HasSubstr("WaitingForQuota: couldn't assign flavors"));
}

TEST_F(Explain, MakesDoWithOneNamespace) {
  start_with_one_too_many();
  allow("workloads, localqueues", false);
  allow("clusterqueues, cohorts, resourceflavors", true);
  const whatif::Account account = account_of("waits", TestCluster::limited_token);
  EXPECT_FALSE(account.blind);
  EXPECT_EQ(name_of(account.explanation.standing), "waits_for_quota");
  EXPECT_THAT(account.gaps, Contains(HasSubstr("only those of namespace default are seen")));
}

TEST_F(Explain, SaysThatTheCredentialsAreRefused) {
  const auto read = picture("no-such-token");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().what(), HasSubstr("listing resourceflavors.kueue.x-k8s.io"));
}

TEST_F(Explain, SaysThatKueueIsMissing) {
  TestCluster bare(world_, "bare");
  const auto read = run(world_, whatif::read_cluster(bare.admin(), {}));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what(),
            "the cluster serves no resourceflavors.kueue.x-k8s.io of version v1beta2: is Kueue "
            "installed there?");
}

}  // namespace
}  // namespace regatta::test_support
