#include "placement/managed_clusters.h"

#include "lib/base/base64.h"
#include "lib/base/json_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regatta::placement {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr TimePoint today{std::chrono::hours(24 * 365 * 50)};

api::Condition said(std::string_view type, bool is, std::string message = {}) {
  api::Condition out;
  out.type = type;
  out.status = is ? api::ConditionStatus::True : api::ConditionStatus::False;
  out.message = std::move(message);
  return out;
}

template <class T>
std::shared_ptr<const T> shared(const T& object) {
  return std::make_shared<const T>(object);
}

/// A ManagedCluster "east" whose account has a token and whose rights are applied; nothing is made
/// of it yet.
struct East {
  East() {
    rules_.system_namespace = "kueue-system";
    rules_.jobs = {{"batch", "jobs"}, {"ray.io", "rayjobs"}};
    rules_.write_kubeconfig = [](const WorkerAccess& access, const std::string& name) {
      return name + " at " + access.server + " by " + access.ca_pem + " with " + access.token;
    };
    view_.name = "east";
    view_.hub_uid = "hub-1";
    cluster_.metadata.name = "east";
    cluster_.hub_accepts_client = true;
    cluster_.clients = {{"https://east:6443", "bundle"}};
    account_.metadata = meta("east", "multikueue", "made");
    account_.validity = "8640h0m0s";
    permission_.metadata = meta("east", "multikueue", "made");
    permission_.conditions = {said("AppliedRBACManifestWork", true)};
    token_.metadata = meta("east", "multikueue", "");
    token_.metadata.labels["authentication.open-cluster-management.io/is-managed-serviceaccount"] =
        "true";
    token_.data = {{"token", "t1"}, {"ca.crt", "agent"}};
    give_rights();
  }

  static api::ObjectMeta meta(const std::string& ns, const std::string& name,
                              const std::string& made) {
    api::ObjectMeta out;
    out.ns = ns;
    out.name = name;
    out.uid = "uid-" + name;
    out.resource_version = "7";
    if (!made.empty()) out.labels["multikueue.regatta.dev/made-for"] = "east";
    return out;
  }
  /// The rights that the plan asks for.
  void give_rights() {
    for (const auto& step : without_permission().steps) {
      if (step.resource->kind != "ClusterPermission") continue;
      for (const Json& rule : step.body["spec"]["clusterRole"]["rules"]) {
        using Texts = std::vector<std::string>;
        permission_.rules.push_back({rule["apiGroups"].get<Texts>(), rule["resources"].get<Texts>(),
                                     rule["verbs"].get<Texts>()});
      }
    }
    permission_.subject_kind = "ManagedServiceAccount";
    permission_.subject_name = "multikueue";
  }
  ManagedClusterPlan without_permission() {
    ManagedClusterView view = view_;
    view.cluster = std::make_shared<const api::ManagedCluster>(cluster_);
    return managed_cluster_plan(view, rules_, today);
  }
  /// As it is when everything was made of it.
  void make_member(const std::string& made = "made") {
    api::MultiKueueCluster member;
    member.metadata = meta("", "east", made);
    member.spec.cluster_source.kube_config =
        api::KubeConfigSource{"multikueue-east", api::LocationType::Secret};
    view_.member = std::make_shared<const api::MultiKueueCluster>(member);
    make_secret("east at https://east:6443 by bundle with t1");
  }
  void make_secret(const std::string& text, const std::string& made = "made") {
    api::Secret secret;
    secret.metadata = meta("kueue-system", "multikueue-east", made);
    secret.data["kubeconfig"] = text;
    view_.kubeconfig = std::make_shared<const api::Secret>(secret);
  }
  const ManagedClusterPlan& plan() {
    view_.cluster = has_cluster_ ? shared(cluster_) : nullptr;
    view_.account = has_account_ ? shared(account_) : nullptr;
    view_.permission = has_permission_ ? shared(permission_) : nullptr;
    view_.token = has_token_ ? shared(token_) : nullptr;
    last_ = managed_cluster_plan(view_, rules_, today);
    return last_;
  }
  std::vector<std::string> steps() {
    std::vector<std::string> out;
    for (const ManagedClusterStep& step : plan().steps) out.push_back(step.str());
    return out;
  }
  std::string lack() {
    const auto& found = plan().lack;
    return found ? found->reason + ": " + found->message : "";
  }
  std::string written_kubeconfig() {
    for (const ManagedClusterStep& step : plan().steps) {
      if (step.resource->kind != "Secret") continue;
      return base64_decode(text_at(step.body, {"data", "kubeconfig"})).value();
    }
    return "";
  }

  ManagedClusterRules rules_;
  ManagedClusterView view_;
  ManagedClusterPlan last_;
  api::ManagedCluster cluster_;
  api::ManagedServiceAccount account_;
  api::ClusterPermission permission_;
  api::Secret token_;
  bool has_cluster_ = true, has_account_ = true, has_permission_ = true, has_token_ = true;
};

class ManagedClusterMembers : public testing::Test, public East {};

constexpr const char* secret_created = "created Secret kueue-system/multikueue-east";
constexpr const char* member_created = "created MultiKueueCluster east";

TEST_F(ManagedClusterMembers, AnAcceptedClusterGetsAnAccountAndRights) {
  has_account_ = has_permission_ = has_token_ = false;
  ASSERT_THAT(steps(), ElementsAre("created ManagedServiceAccount east/multikueue",
                                   "created ClusterPermission east/multikueue"));
  const Json& account = last_.steps[0].body;
  EXPECT_EQ(account["spec"].dump(), R"({"rotation":{"enabled":true,"validity":"8640h0m0s"}})");
  EXPECT_EQ(account["metadata"]["labels"].dump(), R"({"multikueue.regatta.dev/made-for":"east"})");
  const Json& spec = last_.steps[1].body["spec"];
  EXPECT_EQ(spec["clusterRoleBinding"]["subject"].dump(),
            R"({"apiGroup":"authentication.open-cluster-management.io",)"
            R"("kind":"ManagedServiceAccount","name":"multikueue"})");
  EXPECT_THAT(
      spec["clusterRole"]["rules"].dump(),
      testing::AllOf(HasSubstr(R"("resources":["workloads"],"verbs":["create","delete","patch"])"),
                     HasSubstr(R"("apiGroups":["ray.io"],"resources":["rayjobs"])"),
                     HasSubstr(R"("resources":["clusterqueues"],"verbs":["list","watch"])"),
                     Not(HasSubstr("namespaces"))));
  EXPECT_THAT(lack(),
              HasSubstr("PermissionMissing: there is no ClusterPermission east/multikueue"));
  EXPECT_FALSE(last_.told_by_member);
}

TEST_F(ManagedClusterMembers, WithTokenAndRightsItBecomesAWorker) {
  ASSERT_THAT(steps(), ElementsAre(secret_created, member_created));
  EXPECT_EQ(written_kubeconfig(), "east at https://east:6443 by bundle with t1");
  EXPECT_EQ(last_.steps[1].body["spec"]["clusterSource"]["kubeConfig"].dump(),
            R"({"location":"multikueue-east","locationType":"Secret"})");
  EXPECT_EQ(lack(), "");
}

TEST_F(ManagedClusterMembers, WhatIsThereIsNotWrittenAgain) {
  make_member();
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_EQ(lack(), "");
}

TEST_F(ManagedClusterMembers, AnotherTokenIsOneWrite) {
  make_member();
  token_.data["token"] = "t2";
  ASSERT_THAT(steps(), ElementsAre("changed Secret kueue-system/multikueue-east"));
  EXPECT_EQ(written_kubeconfig(), "east at https://east:6443 by bundle with t2");
  EXPECT_EQ(last_.steps[0].body["metadata"].dump(),
            R"({"resourceVersion":"7","uid":"uid-multikueue-east"})");
}

TEST_F(ManagedClusterMembers, AnotherServerIsOneWrite) {
  make_member();
  cluster_.clients[0].url = "https://moved:6443";
  EXPECT_EQ(written_kubeconfig(), "east at https://moved:6443 by bundle with t1");
}

TEST_F(ManagedClusterMembers, TheAuthorityIsThatOfTheServerOrElseTheAgents) {
  cluster_.clients[0].ca_bundle.clear();
  EXPECT_EQ(written_kubeconfig(), "east at https://east:6443 by agent with t1");
}

TEST_F(ManagedClusterMembers, ByAProxyTheServerIsAPathOfIt) {
  rules_.connection = Connection::proxy;
  rules_.proxy_url = "https://proxy:9092/to";
  cluster_.clients.clear();
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_THAT(lack(), HasSubstr("AuthorityMissing: ConfigMap kueue-system/kube-root-ca.crt"));
  view_.proxy_ca = "hub";
  EXPECT_EQ(written_kubeconfig(), "east at https://proxy:9092/to/east by hub with t1");
}

/// What is taken away, and what is said then.
struct Lacking {
  const char* name;
  std::function<void(East&)> take;
  const char* said;
  bool others_ask = false;  ///< accounts are not requested
};

const std::vector<Lacking>& lacking_parts() {
  static const std::vector<Lacking> all = {
      {"no token", [](East& e) { e.has_token_ = false; },
       "TokenMissing: Secret east/multikueue with the token of the account is not there"},
      {"an empty token", [](East& e) { e.token_.data["token"] = ""; },
       "TokenMissing: Secret east/multikueue with the token of the account is incomplete"},
      {"a Secret that is no token", [](East& e) { e.token_.metadata.labels.clear(); },
       "TokenMissing: Secret east/multikueue with the token of the account is not there"},
      {"no authority",
       [](East& e) {
         e.token_.data.erase("ca.crt");
         e.cluster_.clients[0].ca_bundle = "";
       },
       "AuthorityMissing: neither spec.managedClusterClientConfigs of ManagedCluster east nor "
       "Secret east/multikueue has a CA"},
      {"no client config", [](East& e) { e.cluster_.clients.clear(); },
       "ServerMissing: ManagedCluster east has no URL in spec.managedClusterClientConfigs"},
      {"no url", [](East& e) { e.cluster_.clients[0].url = ""; },
       "ServerMissing: ManagedCluster east has no URL in spec.managedClusterClientConfigs"},
      {"no rights", [](East& e) { e.has_permission_ = false; },
       "PermissionMissing: there is no ClusterPermission east/multikueue yet"},
      {"rights nothing is said of", [](East& e) { e.permission_.conditions.clear(); },
       "PermissionNotApplied: ClusterPermission east/multikueue is not applied on the cluster; "
       "see"},
      {"rights that are not applied",
       [](East& e) {
         e.permission_.conditions = {said("AppliedRBACManifestWork", false, "no agent")};
       },
       "PermissionNotApplied: ClusterPermission east/multikueue is not applied on the cluster: no "
       "agent; see"},
      {"rights that are refused",
       [](East& e) {
         e.permission_.conditions = {said("Validation", false, "no bindings defined")};
       },
       "PermissionNotApplied: ClusterPermission east/multikueue is not applied on the cluster: no "
       "bindings defined; see"},
      {"a token that ended", [](East& e) { e.account_.expires = today; },
       "TokenExpired: the token of ManagedServiceAccount east/multikueue has ended"},
      {"no accounts", [](East& e) { e.view_.accounts_served = e.has_account_ = false; },
       "AccountMissing: this hub does not serve managedserviceaccounts."},
      {"no kind of rights", [](East& e) { e.view_.permissions_served = e.has_permission_ = false; },
       "PermissionMissing: this hub does not serve clusterpermissions."},
      {"an account that others ask for", [](East& e) { e.has_account_ = false; },
       "AccountMissing: there is no ManagedServiceAccount east/multikueue; create it", true},
      {"rights that others ask for", [](East& e) { e.has_permission_ = false; },
       "PermissionMissing: there is no ClusterPermission east/multikueue; create it", true},
      {"a Secret of others", [](East& e) { e.make_secret("theirs", ""); },
       "SecretOfOthers: Secret kueue-system/multikueue-east was made by others"},
  };
  return all;
}

std::vector<std::string> without_requests(std::vector<std::string> steps) {
  std::erase_if(steps, [](const std::string& step) {
    return step.find("ManagedServiceAccount") != std::string::npos ||
           step.find("ClusterPermission") != std::string::npos;
  });
  return steps;
}

TEST(ManagedClusterLacks, ItBecomesNoWorkerWithoutOneOfThem) {
  for (const Lacking& row : lacking_parts()) {
    SCOPED_TRACE(row.name);
    East east;
    east.rules_.request = !row.others_ask;
    row.take(east);
    EXPECT_THAT(without_requests(east.steps()), IsEmpty());
    EXPECT_THAT(east.lack(), testing::StartsWith(row.said));
    EXPECT_FALSE(east.last_.told_by_member);
  }
}

TEST(ManagedClusterLacks, AWorkerKeepsWhatItHasWithoutAnyOfThem) {
  for (const Lacking& row : lacking_parts()) {
    SCOPED_TRACE(row.name);
    East east;
    east.make_member();
    east.rules_.request = !row.others_ask;
    row.take(east);
    EXPECT_THAT(without_requests(east.steps()), IsEmpty());
    EXPECT_THAT(east.lack(), testing::StartsWith(row.said));
    EXPECT_TRUE(east.last_.told_by_member);
  }
}

TEST_F(ManagedClusterMembers, ARotationIsFollowedWhenItsRightsAreNotThere) {
  make_member();
  has_permission_ = false;
  rules_.request = false;
  token_.data["token"] = "t2";
  ASSERT_THAT(steps(), ElementsAre("changed Secret kueue-system/multikueue-east"));
}

TEST_F(ManagedClusterMembers, ASecretThatWasDeletedIsMadeAgain) {
  make_member();
  view_.kubeconfig = nullptr;
  ASSERT_THAT(steps(), ElementsAre(secret_created));
}

TEST_F(ManagedClusterMembers, AMultiKueueClusterThatLeadsElsewhereIsPutRight) {
  make_member();
  api::MultiKueueCluster member = *view_.member;
  member.spec.cluster_source.kube_config->location = "another";
  view_.member = std::make_shared<const api::MultiKueueCluster>(member);
  ASSERT_THAT(steps(), ElementsAre("changed MultiKueueCluster east"));
}

TEST_F(ManagedClusterMembers, AllThatIsLackingIsSaid) {
  has_token_ = false;
  cluster_.clients.clear();
  permission_.conditions.clear();
  EXPECT_THAT(lack(), testing::AllOf(HasSubstr("is not applied"), HasSubstr("token of the account"),
                                     HasSubstr("has no URL")));
}

TEST_F(ManagedClusterMembers, AccountsOfOthersAreUsedAndNeverChanged) {
  rules_.request = false;
  account_.metadata.labels.clear();
  permission_.metadata.labels.clear();
  permission_.rules.clear();
  account_.validity = "1h";
  ASSERT_THAT(steps(), ElementsAre(secret_created, member_created));
  rules_.request = true;
  ASSERT_THAT(steps(), ElementsAre(secret_created, member_created));
}

TEST_F(ManagedClusterMembers, WhatIsAskedForFollowsTheSettings) {
  make_member();
  rules_.token_validity = std::chrono::hours(24);
  rules_.jobs.push_back({"jobset.x-k8s.io", "jobsets"});
  ASSERT_THAT(steps(), ElementsAre("changed ManagedServiceAccount east/multikueue",
                                   "changed ClusterPermission east/multikueue"));
  EXPECT_THAT(last_.steps[0].body.dump(), HasSubstr(R"("validity":"24h0m0s")"));
  EXPECT_THAT(last_.steps[1].body.dump(), HasSubstr("jobsets"));
}

TEST_F(ManagedClusterMembers, AMultiKueueClusterThatAsksForItsNeedsGetsTheRights) {
  make_member();
  api::MultiKueueCluster member = *view_.member;
  member.metadata.annotations["multikueue.regatta.dev/provide"] = "namespaces";
  view_.member = std::make_shared<const api::MultiKueueCluster>(member);
  ASSERT_THAT(steps(), ElementsAre("changed ClusterPermission east/multikueue"));
  EXPECT_THAT(last_.steps[0].body.dump(), HasSubstr(R"("resources":["namespaces"])"));
}

TEST_F(ManagedClusterMembers, TheHubItselfGetsNothing) {
  const std::vector<std::function<void(East&)>> ways = {
      [](East& e) { e.cluster_.metadata.name = "local-cluster"; },
      [](East& e) { e.cluster_.metadata.labels["local-cluster"] = "true"; },
      [](East& e) { e.cluster_.claims = {{"id.k8s.io", "hub-1"}}; }};
  for (const auto& way : ways) {
    East east;
    east.has_account_ = false;
    way(east);
    EXPECT_THAT(east.steps(), IsEmpty());
    EXPECT_EQ(east.lack(), "");
  }
  cluster_.claims = {{"id.k8s.io", "other"}};
  cluster_.metadata.labels["local-cluster"] = "false";
  ASSERT_THAT(steps(), ElementsAre(secret_created, member_created));
}

TEST_F(ManagedClusterMembers, AClusterThatIsNotAcceptedOrSelectedGetsNothing) {
  cluster_.hub_accepts_client = false;
  has_account_ = has_permission_ = false;
  EXPECT_THAT(steps(), IsEmpty());
  cluster_.hub_accepts_client = true;
  rules_.selector = api::Selector::parse("gpu=yes").value();
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_EQ(lack(), "");
  cluster_.metadata.labels["gpu"] = "yes";
  EXPECT_THAT(steps(), testing::SizeIs(2));
}

TEST_F(ManagedClusterMembers, OneThatIsNoLongerAcceptedOrSelectedKeepsWhatItHas) {
  for (const bool accepted : {true, false}) {
    East east;
    east.make_member();
    east.cluster_.hub_accepts_client = accepted;
    if (accepted) east.rules_.selector = api::Selector::parse("gpu=yes").value();
    east.token_.data["token"] = "t2";
    EXPECT_THAT(east.steps(), ElementsAre("changed Secret kueue-system/multikueue-east"));
    EXPECT_THAT(east.lack(), testing::StartsWith("NotSelected: "));
  }
}

TEST_F(ManagedClusterMembers, AMultiKueueClusterOfOthersStays) {
  make_member("");
  token_.data["token"] = "t2";
  has_account_ = false;
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_THAT(lack(), HasSubstr("ClusterOfOthers: MultiKueueCluster east leads to this cluster"));
  EXPECT_FALSE(last_.told_by_member);
}

TEST_F(ManagedClusterMembers, AMultiKueueClusterOfAnotherNameMayLeadThere) {
  view_.other_member = "far-east";
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_THAT(lack(), HasSubstr("ClusterOfOthers: MultiKueueCluster far-east leads to this"));
}

const std::vector<std::string>& all_removed() {
  static const std::vector<std::string> all = {
      "removed MultiKueueCluster east", "removed Secret kueue-system/multikueue-east",
      "removed ClusterPermission east/multikueue", "removed ManagedServiceAccount east/multikueue"};
  return all;
}

TEST_F(ManagedClusterMembers, WhatWasMadeForAClusterThatIsBeingDeletedGoes) {
  make_member();
  cluster_.metadata.deletion_timestamp = today;
  ASSERT_EQ(steps(), all_removed());
  EXPECT_EQ(last_.steps[0].uid, "uid-east");
  EXPECT_EQ(last_.steps[0].resource_version, "7");
}

TEST_F(ManagedClusterMembers, WhatWasMadeForAClusterThatIsGoneGoes) {
  make_member();
  has_cluster_ = false;
  view_.gone = true;
  EXPECT_EQ(steps(), all_removed());
}

TEST_F(ManagedClusterMembers, AClusterThatIsOnlyNotKnownIsReadFirst) {
  make_member();
  has_cluster_ = false;
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_TRUE(last_.confirm);
  East stranger;
  stranger.has_cluster_ = stranger.has_account_ = stranger.has_permission_ = false;
  stranger.steps();
  EXPECT_FALSE(stranger.last_.confirm) << "nothing was made for it";
}

TEST_F(ManagedClusterMembers, NothingGoesWhileWorkloadsAreThere) {
  for (const bool gone : {true, false}) {
    East east;
    east.make_member();
    east.view_.workloads = 2;
    east.view_.gone = gone;
    east.has_cluster_ = !gone;
    if (!gone) east.cluster_.metadata.deletion_timestamp = today;
    EXPECT_THAT(east.steps(), IsEmpty());
    EXPECT_THAT(east.lack(), HasSubstr("no workload is there any more (now 2)"));
    EXPECT_TRUE(east.last_.told_by_member);
  }
}

TEST_F(ManagedClusterMembers, AClusterThatIsBeingDeletedKeepsGoodCredentialsForItsWorkloads) {
  make_member();
  view_.workloads = 1;
  cluster_.metadata.deletion_timestamp = today;
  token_.data["token"] = "t2";
  ASSERT_THAT(steps(), ElementsAre("changed Secret kueue-system/multikueue-east"));
}

TEST_F(ManagedClusterMembers, WhatIsLeftAfterAnInterruptedRemovalGoes) {
  make_member();
  view_.member = nullptr;
  has_cluster_ = has_account_ = has_permission_ = false;
  view_.gone = true;
  ASSERT_THAT(steps(), ElementsAre("removed Secret kueue-system/multikueue-east"));
}

TEST_F(ManagedClusterMembers, WhatOthersMadeForAClusterThatGoesStays) {
  make_member("");
  make_secret("theirs", "");
  account_.metadata.labels.clear();
  permission_.metadata.labels.clear();
  cluster_.metadata.deletion_timestamp = today;
  EXPECT_THAT(steps(), IsEmpty());
  make_secret("ours");
  EXPECT_THAT(steps(), IsEmpty()) << "their MultiKueueCluster may use it";
}

TEST_F(ManagedClusterMembers, AccountsAndASecretOfOthersStayWhenTheMultiKueueClusterGoes) {
  make_member();
  make_secret("theirs", "");
  account_.metadata.labels.clear();
  permission_.metadata.labels["multikueue.regatta.dev/made-for"] = "west";
  cluster_.metadata.deletion_timestamp = today;
  ASSERT_THAT(steps(), ElementsAre("removed MultiKueueCluster east"));
}

TEST_F(ManagedClusterMembers, WithoutRequestsNoAccountIsRemoved) {
  rules_.request = false;
  make_member();
  cluster_.metadata.deletion_timestamp = today;
  EXPECT_THAT(steps(), testing::SizeIs(2));
}

class ManagedClusterProfiles : public ManagedClusterMembers {
 protected:
  ManagedClusterProfiles() {
    rules_.connection = Connection::cluster_profile;
    account_.metadata.labels["authentication.open-cluster-management.io/sync-to-clusterprofile"] =
        "true";
    profile_.metadata = meta("kueue-system", "east", "");
    profile_.metadata.labels["x-k8s.io/cluster-manager"] = "open-cluster-management";
    view_.profile_token = true;
    show();
  }
  void show() { view_.profile = std::make_shared<const api::ClusterProfile>(profile_); }

  api::ClusterProfile profile_;
};

TEST_F(ManagedClusterProfiles, AreReferredToAndNeedNoSecret) {
  cluster_.clients.clear();
  has_token_ = false;
  ASSERT_THAT(steps(), ElementsAre(member_created));
  EXPECT_EQ(last_.steps[0].body["spec"].dump(),
            R"({"clusterSource":{"clusterProfileRef":{"name":"east"}}})");
}

TEST_F(ManagedClusterProfiles, TheTokenIsAskedForThere) {
  account_.metadata.labels.erase(
      "authentication.open-cluster-management.io/sync-to-clusterprofile");
  ASSERT_THAT(steps(),
              ElementsAre("changed ManagedServiceAccount east/multikueue", member_created));
}

TEST_F(ManagedClusterProfiles, WhatIsLackingIsSaid) {
  view_.profile_token = false;
  EXPECT_THAT(lack(), HasSubstr("TokenMissing: there is no Secret kueue-system/east-multikueue"));
  view_.profile_token = true;
  profile_.metadata.labels["x-k8s.io/cluster-manager"] = "another";
  show();
  EXPECT_THAT(lack(), HasSubstr("ProfileMissing: ClusterProfile kueue-system/east is not of"));
  view_.profile = nullptr;
  EXPECT_THAT(lack(), HasSubstr("ProfileMissing: there is no ClusterProfile kueue-system/east"));
  EXPECT_THAT(steps(), IsEmpty());
  has_permission_ = false;
  EXPECT_THAT(lack(), HasSubstr("PermissionMissing"));
}

TEST_F(ManagedClusterProfiles, AWorkerChangesOverAndItsSecretGoesAfterwards) {
  make_member();
  ASSERT_THAT(steps(), ElementsAre("changed MultiKueueCluster east"));
  EXPECT_EQ(last_.steps[0].body["spec"].dump(),
            R"({"clusterSource":{"clusterProfileRef":{"name":"east"},"kubeConfig":null}})");
  api::MultiKueueCluster member = *view_.member;
  member.spec.cluster_source = {};
  member.spec.cluster_source.cluster_profile_ref = api::ClusterProfileReference{"east"};
  view_.member = std::make_shared<const api::MultiKueueCluster>(member);
  ASSERT_THAT(steps(), ElementsAre("removed Secret kueue-system/multikueue-east"));
}

}  // namespace
}  // namespace regatta::placement
