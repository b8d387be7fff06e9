#include "lab/apiserver/server.h"

#include "lib/base/temporary_folder.h"
#include "lib/runtime/task_scope.h"
#include "lib/sim/world.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace regatta::apiserver {
namespace {

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() : world_(3), scope_(world_.executor()) { start(); }
  ~ServerTest() override {
    scope_.stop();
    world_.settle();
  }

  void start(const std::string& data_dir = "") {
    server_.reset();
    ServerOptions options;
    options.data_dir = data_dir;
    options.token_key = token_key_;
    options.tokens["admin"] = UserInfo{"admin", "", {"system:masters"}, {}};
    server_ = std::make_unique<Server>(world_.executor(), world_, world_.rng, options);
  }

  net::HttpResponse send(std::string method, std::string target, const Json& body = nullptr,
                         const std::string& accept = "application/json") {
    net::HttpRequest request(std::move(method), std::move(target));
    request.headers.set("Accept", accept);
    request.headers.set("Authorization", "Bearer admin");
    if (request.method == "PATCH") {
      request.headers.set("Content-Type", "application/merge-patch+json");
    }
    if (!body.is_null()) request.body = body.dump();
    return answer_to(std::move(request));
  }

  net::HttpResponse send_text(std::string method, std::string target, std::string body,
                              const std::string& content_type) {
    net::HttpRequest request(std::move(method), std::move(target));
    request.headers.set("Authorization", "Bearer admin");
    request.headers.set("Content-Type", content_type);
    request.body = std::move(body);
    return answer_to(std::move(request));
  }

  net::HttpResponse answer_to(net::HttpRequest request) {
    std::optional<net::HttpResponse> response;
    scope_.spawn("request", exchange(std::move(request), &response));
    world_.settle();
    if (!response) {
      world_.run_for(std::chrono::seconds(10), [&response] { return response.has_value(); });
    }
    return response ? std::move(*response) : net::HttpResponse(0, "");
  }

  Task<> exchange(net::HttpRequest request, std::optional<net::HttpResponse>* into) {
    *into = co_await server_->handle(std::move(request));
  }

  Json create(const std::string& name) {
    const net::HttpResponse response =
        send("POST", "/api/v1/namespaces/default/configmaps",
             {{"metadata", {{"name", name}}}, {"data", {{"k", "v"}}}});
    EXPECT_EQ(response.status, 201u) << response.body;
    return Json::parse(response.body, nullptr, false);
  }

  /// The first event of an answer that is a watch.
  Json first_event(const net::HttpResponse& watch) {
    std::optional<std::string> first;
    const auto read = [](std::shared_ptr<net::BodyStream> stream,
                         std::optional<std::string>* into) -> Task<> {
      Result<std::optional<std::string>> piece = co_await stream->next();
      if (piece) *into = *piece;
    };
    if (watch.stream) scope_.spawn("watch", read(watch.stream, &first));
    world_.settle();
    return Json::parse(first.value_or(""), nullptr, false);
  }

  net::HttpResponse request_token(const Json& spec) {
    return send(
        "POST", "/api/v1/namespaces/default/serviceaccounts/robot/token",
        {{"kind", "TokenRequest"}, {"apiVersion", "authentication.k8s.io/v1"}, {"spec", spec}});
  }
  /// A new token of the default service account.
  std::string account_token(const Json& spec = nullptr) {
    const net::HttpResponse answer = request_token(spec);
    EXPECT_EQ(answer.status, 201u) << answer.body;
    return Json::parse(answer.body)["status"]["token"].get<std::string>();
  }

  /// The user of the token; empty when it is refused.
  std::string user_of(const std::string& token) {
    const net::HttpResponse answer = send("POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                                          {{"kind", "TokenReview"},
                                           {"apiVersion", "authentication.k8s.io/v1"},
                                           {"spec", {{"token", token}}}});
    const Json status = Json::parse(answer.body)["status"];
    return status.value("authenticated", false) ? status["user"]["username"].get<std::string>()
                                                : "";
  }

  Json create_account() {
    const net::HttpResponse made = send("POST", "/api/v1/namespaces/default/serviceaccounts",
                                        {{"metadata", {{"name", "robot"}}}});
    EXPECT_EQ(made.status, 201u) << made.body;
    return Json::parse(made.body);
  }

  std::string token_key_ = "the first key";
  sim::World world_;
  std::unique_ptr<Server> server_;
  TaskScope scope_;
};

TEST_F(ServerTest, tokens_end_with_time_and_with_their_account) {
  create_account();
  const std::string token = account_token();
  EXPECT_EQ(user_of(token), "system:serviceaccount:default:robot");
  std::string changed = token;
  changed[token.find('.') + 5] ^= 1;
  EXPECT_EQ(user_of(changed), "");
  EXPECT_EQ(user_of(token.substr(0, token.rfind('.') + 1)), "");

  world_.run_for(std::chrono::minutes(59), [] { return false; });
  EXPECT_EQ(user_of(token), "system:serviceaccount:default:robot");
  world_.run_for(std::chrono::minutes(2), [] { return false; });
  EXPECT_EQ(user_of(token), "");

  const std::string another = account_token();
  EXPECT_EQ(send("DELETE", "/api/v1/namespaces/default/serviceaccounts/robot").status, 200u);
  EXPECT_EQ(user_of(another), "");
  create_account();
  EXPECT_EQ(user_of(another), "") << "a namesake is another account";
}

TEST_F(ServerTest, a_bound_token_ends_with_its_secret) {
  create_account();
  const Json bound = {
      {"boundObjectRef", {{"apiVersion", "v1"}, {"kind", "Secret"}, {"name", "tie"}}}};
  EXPECT_EQ(request_token(bound).status, 404u);
  const std::string secrets = "/api/v1/namespaces/default/secrets";
  const auto tie = [&] { return send("POST", secrets, {{"metadata", {{"name", "tie"}}}}); };
  EXPECT_EQ(tie().status, 201u);
  const std::string token = account_token(bound);
  EXPECT_EQ(user_of(token), "system:serviceaccount:default:robot");
  Json other = bound;
  other["boundObjectRef"]["uid"] = "another";
  EXPECT_EQ(request_token(other).status, 409u);
  other["boundObjectRef"] = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "tie"}};
  EXPECT_EQ(request_token(other).status, 400u) << "Pods are not known here";

  EXPECT_EQ(send("DELETE", secrets + "/tie").status, 200u);
  EXPECT_EQ(user_of(token), "");
  EXPECT_EQ(tie().status, 201u);
  EXPECT_EQ(user_of(token), "") << "a namesake is another Secret";
}

TEST_F(ServerTest, tokens_survive_a_restart_with_the_same_key) {
  const TemporaryFolder folder;
  start(folder.string());
  create_account();
  const std::string token = account_token();
  start(folder.string());
  EXPECT_EQ(user_of(token), "system:serviceaccount:default:robot");
  token_key_ = "the second key";
  start(folder.string());
  EXPECT_EQ(user_of(token), "");
  server_.reset();
}

TEST_F(ServerTest, keeps_what_it_answered_across_restarts) {
  const TemporaryFolder folder;
  start(folder.string());
  const Json created = create("kept");
  create("deleted");
  EXPECT_EQ(send("DELETE", "/api/v1/namespaces/default/configmaps/deleted").status, 200u);
  const std::uint64_t version = server_->store().version();

  start(folder.string());
  const net::HttpResponse kept = send("GET", "/api/v1/namespaces/default/configmaps/kept");
  EXPECT_EQ(kept.status, 200u);
  EXPECT_EQ(Json::parse(kept.body), created);
  EXPECT_EQ(send("GET", "/api/v1/namespaces/default/configmaps/deleted").status, 404u);
  EXPECT_GE(server_->store().version(), version);
  server_.reset();
}

// They hold Secrets.
TEST_F(ServerTest, no_other_user_may_read_its_files_whatever_the_umask_and_an_earlier_file_allow) {
  namespace fs = std::filesystem;
  const mode_t before = ::umask(0);
  for (const bool left : {false, true}) {
    const TemporaryFolder folder;
    if (left) std::ofstream(folder / "apiserver.db").close();
    start(folder.string());
    create("kept");
    int files = 0;
    for (const auto& file : fs::directory_iterator(folder)) {
      ++files;
      EXPECT_EQ(file.status().permissions(), fs::perms::owner_read | fs::perms::owner_write)
          << file.path();
    }
    EXPECT_GE(files, 2) << "the journal has a file beside it";
    server_.reset();
  }
  ::umask(before);
}

TEST_F(ServerTest, watches_resume_until_history_is_forgotten) {
  const Json created = create("a");
  const std::string version = created["metadata"]["resourceVersion"].get<std::string>();
  create("b");
  const std::string path =
      "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=" + version;
  for (const bool forgotten : {false, true}) {
    if (forgotten) server_->compact();
    const Json event = first_event(send("GET", path));
    ASSERT_TRUE(event.is_object());
    EXPECT_EQ(event["type"], forgotten ? "ERROR" : "ADDED");
    if (forgotten) {
      EXPECT_EQ(event["object"]["code"], 410);
    }
  }
}

TEST_F(ServerTest, WhatIsRemovedIsShownAsOfItsRemoval) {
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  const net::HttpResponse made = send("POST", accounts, {{"metadata", {{"name", "brief"}}}});
  ASSERT_EQ(made.status, 201u) << made.body;
  const net::HttpResponse tried = send("DELETE", accounts + "/brief?dryRun=All");
  EXPECT_EQ(Json::parse(tried.body), Json::parse(made.body));
  const net::HttpResponse gone = send("DELETE", accounts + "/brief");
  Json expected = Json::parse(made.body);
  expected["metadata"]["resourceVersion"] = std::to_string(server_->store().version());
  EXPECT_EQ(Json::parse(gone.body), expected);
  EXPECT_EQ(send("GET", accounts + "/brief").status, 404u);
}

TEST_F(ServerTest, AWatchOfMetadataTellsNothingElse) {
  const Json created = create("a");
  const Json event =
      first_event(send("GET", "/api/v1/namespaces/default/configmaps?watch=1", nullptr,
                       "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"));
  const Json expected = {{"type", "ADDED"},
                         {"object",
                          {{"kind", "PartialObjectMetadata"},
                           {"apiVersion", "meta.k8s.io/v1"},
                           {"metadata", created["metadata"]}}}};
  EXPECT_EQ(event, expected);
}

TEST_F(ServerTest, TargetsAreReadAsUrls) {
  create("a");
  create("b");
  const std::string path = "/api/v1/namespaces/default/configmaps";
  EXPECT_EQ(send("GET", "/api//v1/namespaces/default/config%6daps/%61/").status, 200u);
  EXPECT_EQ(send("GET", path + "/a?pretty=%74rue&x=%C3%A9").status, 200u);
  const auto listed = [&](const std::string& query) {
    return Json::parse(send("GET", path + "?" + query).body).at("items").size();
  };
  EXPECT_EQ(listed("fieldSelector=metadata.name%3Da"), 1u);
  EXPECT_EQ(listed("fieldSelector=metadata.name=a&fieldSelector=metadata.name=b"), 1u);
  EXPECT_EQ(listed("labelSelector=%21k+,+!l"), 2u);
  for (const char* bad : {"?a=%zz", "?a=%2", "/a|b", "/a b", "/\xc3\xa9", "#a"}) {
    EXPECT_EQ(send("GET", path + bad).status, 400u) << bad;
  }
  EXPECT_EQ(send("GET", "api/v1").status, 400u);
}

TEST_F(ServerTest, counts_requests_by_user_and_resource) {
  create("a");
  const Json report = server_->requests();
  bool found = false;
  for (const Json& entry : report["requests"]) {
    found = found || (entry["user"] == "admin" && entry["resource"] == "configmaps" &&
                      entry["verb"] == "create" && entry["count"] == 1);
  }
  EXPECT_TRUE(found) << report.dump();
}

TEST_F(ServerTest, fails_on_request_only) {
  const Json faults = {{"internalError", 1.0}, {"seed", 5}};
  EXPECT_EQ(send("PUT", "/_regatta/faults", faults).status, 200u);
  EXPECT_EQ(send("GET", "/api/v1/namespaces/default/configmaps").status, 500u);
  EXPECT_EQ(send("DELETE", "/_regatta/faults").status, 200u);
  EXPECT_EQ(send("GET", "/api/v1/namespaces/default/configmaps").status, 200u);
  const net::HttpResponse refused = send("PUT", "/_regatta/faults", {{"nosuch", 1}});
  EXPECT_EQ(refused.status, 400u);
  EXPECT_NE(refused.body.find("nosuch: no such fault"), std::string::npos);
}

TEST_F(ServerTest, lost_replies_have_happened) {
  server_->faults().lost_reply = 1;
  EXPECT_EQ(
      send("POST", "/api/v1/namespaces/default/configmaps", {{"metadata", {{"name", "lost"}}}})
          .status,
      500u);
  server_->faults() = Faults{};
  EXPECT_EQ(send("GET", "/api/v1/namespaces/default/configmaps/lost").status, 200u);
}

TEST_F(ServerTest, PartsOfPodsThatCannotBeReadAre405) {
  const std::string pods = "/api/v1/namespaces/default/pods";
  const Json pod = {{"metadata", {{"name", "p"}}},
                    {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  ASSERT_EQ(send("POST", pods, pod).status, 201u);
  EXPECT_EQ(send("GET", pods + "/p/binding").status, 405u);
  EXPECT_EQ(send("GET", pods + "/p/eviction").status, 405u);
  EXPECT_EQ(send("GET", pods + "/p/exec?command=ls").status, 400u);
  EXPECT_EQ(send("GET", pods + "/p/ephemeralcontainers").status, 200u);
  const Json debug = {{"spec", {{"ephemeralContainers", {{{"name", "d"}, {"image", "i"}}}}}}};
  EXPECT_EQ(send("PATCH", pods + "/p/ephemeralcontainers", debug).status, 200u);
  EXPECT_EQ(send("PATCH", pods + "/p", debug).status, 200u) << "nothing changes";
}

TEST_F(ServerTest, OwnersThatAreThereTwiceAreDroppedWithAWarning) {
  const Json owner = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "o"}, {"uid", "u"}};
  const net::HttpResponse response =
      send("POST", "/api/v1/namespaces/default/configmaps",
           {{"metadata", {{"name", "a"}, {"ownerReferences", {owner, owner}}}}});
  ASSERT_EQ(response.status, 201u) << response.body;
  EXPECT_EQ(Json::parse(response.body)["metadata"]["ownerReferences"].size(), 1u);
  EXPECT_NE(response.headers.get("Warning").find("duplicate UID(s) observed: u"),
            std::string::npos);
}

TEST_F(ServerTest, ACollectionIsNotDeletedAgainstAPrecondition) {
  create("a");
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  EXPECT_EQ(send("DELETE", maps, {{"preconditions", {{"resourceVersion", "1"}}}}).status, 409u);
  EXPECT_EQ(send("GET", maps + "/a").status, 200u);
}

/// A field of a protobuf message that has a length.
std::string protobuf_field(char number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}

TEST_F(ServerTest, OptionsOfADeletionMayBeProtobuf) {
  const auto uid = create("victim")["metadata"]["uid"].get<std::string>();
  const auto remove = [&](const std::string& precondition) {
    const std::string type = protobuf_field(1, "v1") + protobuf_field(2, "DeleteOptions");
    const std::string options = protobuf_field(2, protobuf_field(1, precondition));
    return send_text("DELETE", "/api/v1/namespaces/default/configmaps/victim",
                     std::string("k8s\0", 4) + protobuf_field(1, type) + protobuf_field(2, options),
                     "application/vnd.kubernetes.protobuf");
  };
  EXPECT_EQ(remove("another").status, 409u);
  EXPECT_EQ(remove(uid).status, 200u);
}

TEST_F(ServerTest, APageIsOfTheVersionOfItsList) {
  create("a");
  create("b");
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  const Json page = Json::parse(send("GET", maps + "?limit=1").body);
  const std::string next =
      maps + "?limit=1&continue=" + page["metadata"]["continue"].get<std::string>();
  EXPECT_EQ(send("GET", next).status, 200u);
  EXPECT_EQ(send("GET", next + "&resourceVersion=1").status, 400u);
}

TEST_F(ServerTest, AListGoesOnWithWhatWasThereWhenItBegan) {
  for (const char* name : {"a", "b", "c", "d", "e"}) create(name);
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  const auto page = [&](const Json& before) {
    std::string target = maps + "?limit=2";
    if (!before.empty()) target += "&continue=" + before["metadata"].value("continue", "");
    return Json::parse(send("GET", target).body);
  };
  const auto names = [](const Json& list) {
    std::string all;
    for (const Json& item : list["items"]) {
      all += item["metadata"]["name"].get<std::string>();
      all += item["metadata"].contains("labels") ? "! " : " ";
    }
    return all;
  };
  const Json first = page({});
  EXPECT_EQ(names(first), "a b ");
  ASSERT_EQ(send("DELETE", maps + "/b").status, 200u);
  ASSERT_EQ(send("DELETE", maps + "/c").status, 200u);
  create("c");
  const Json labelled = {{"metadata", {{"name", "d"}, {"labels", {{"k", "v"}}}}}};
  ASSERT_EQ(send("PUT", maps + "/d", labelled).status, 200u);
  create("da");
  ASSERT_EQ(send("DELETE", maps + "/e").status, 200u);
  const Json second = page(first);
  EXPECT_EQ(names(second), "c d ");
  EXPECT_EQ(second["metadata"]["remainingItemCount"], 1);
  EXPECT_EQ(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
  EXPECT_EQ(names(page(second)), "e ");
  EXPECT_EQ(names(Json::parse(send("GET", maps).body)), "a c d! da ");
}

// As a kube-apiserver does it.
TEST_F(ServerTest, DefinitionsMayTakeAMomentToCount) {
  ServerOptions options;
  options.tokens["admin"] = UserInfo{"admin", "", {"system:masters"}, {}};
  options.definition_delay = std::chrono::milliseconds(200);
  server_ = std::make_unique<Server>(world_.executor(), world_, world_.rng, options);
  scope_.spawn("server", server_->run());
  world_.settle();
  const std::string crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const std::string widgets = "/apis/example.dev/v1/namespaces/default/widgets";
  const Json schema = {
      {"openAPIV3Schema", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}};
  ASSERT_EQ(
      send("POST", crds,
           {{"metadata", {{"name", "widgets.example.dev"}}},
            {"spec",
             {{"group", "example.dev"},
              {"scope", "Namespaced"},
              {"names", {{"plural", "widgets"}, {"kind", "Widget"}}},
              {"versions",
               {{{"name", "v1"}, {"served", true}, {"storage", true}, {"schema", schema}}}}}}})
          .status,
      201u);
  const auto status = [&] {
    return Json::parse(send("GET", crds + "/widgets.example.dev").body)["status"];
  };
  EXPECT_TRUE(status()["conditions"].is_null());
  EXPECT_EQ(send("GET", widgets).status, 404u);
  const auto create = [&](const char* name) {
    return send(
        "POST", widgets,
        {{"apiVersion", "example.dev/v1"}, {"kind", "Widget"}, {"metadata", {{"name", name}}}});
  };
  world_.run_for(std::chrono::milliseconds(210));
  EXPECT_EQ(status()["conditions"].size(), 2u);
  const net::HttpResponse early = create("early");
  EXPECT_EQ(early.status, 429u);
  EXPECT_EQ(early.headers.get("Retry-After"), "1");
  world_.run_for(std::chrono::milliseconds(210));
  EXPECT_EQ(create("a").status, 201u);
  EXPECT_EQ(send("PATCH", crds + "/widgets.example.dev", {{"metadata", {{"labels", {{"l", "v"}}}}}})
                .status,
            200u);
  EXPECT_EQ(create("b").status, 429u) << "its storage starts anew";
  EXPECT_EQ(status()["conditions"].size(), 2u);
  world_.run_for(std::chrono::milliseconds(210));
  EXPECT_EQ(create("b").status, 201u);
  scope_.stop();
}

TEST_F(ServerTest, AScaleIsOfTheObjectInTheUrl) {
  const std::string sets = "/apis/apps/v1/namespaces/default/replicasets";
  const Json labels = {{"a", "b"}};
  const Json set = {{"metadata", {{"name", "s"}}},
                    {"spec",
                     {{"selector", {{"matchLabels", labels}}},
                      {"template",
                       {{"metadata", {{"labels", labels}}},
                        {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}}}}}};
  ASSERT_EQ(send("POST", sets, set).status, 201u);
  const auto scale = [](const char* name) -> Json {
    return {{"metadata", {{"name", name}}}, {"spec", {{"replicas", 3}}}};
  };
  EXPECT_EQ(send("PUT", sets + "/s/scale", scale("other")).status, 400u);
  EXPECT_EQ(send("PUT", sets + "/s/scale", scale("s")).status, 200u);
  EXPECT_EQ(Json::parse(send("GET", sets + "/s").body)["spec"]["replicas"], 3);
}

TEST_F(ServerTest, HealthIsToldCheckByCheck) {
  EXPECT_EQ(send("GET", "/readyz").body, "ok");
  const std::string live = send("GET", "/livez?verbose&exclude=etcd&exclude=nosuch").body;
  EXPECT_EQ(live.find("[+]ping ok\n[+]log ok\n"), 0u) << live;
  EXPECT_NE(live.find("[+]etcd excluded: ok\n"), std::string::npos) << live;
  EXPECT_NE(live.find("no matches for \"nosuch\"\nlivez check passed\n"), std::string::npos);
  EXPECT_EQ(send("GET", "/readyz/poststarthook/rbac/bootstrap-roles").body, "ok");
  EXPECT_EQ(send("GET", "/readyz/etcd").status, 404u);
}

TEST_F(ServerTest, AListOfOneNameIsJudgedByThatName) {
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/";
  ASSERT_EQ(send("POST", rbac + "roles",
                 {{"metadata", {{"name", "one"}}},
                  {"rules",
                   {{{"apiGroups", {""}},
                     {"resources", {"configmaps"}},
                     {"resourceNames", {"a"}},
                     {"verbs", {"list"}}}}}})
                .status,
            201u);
  ASSERT_EQ(send("POST", rbac + "rolebindings",
                 {{"metadata", {{"name", "one"}}},
                  {"roleRef",
                   {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "Role"}, {"name", "one"}}},
                  {"subjects", {{{"kind", "User"}, {"name", "reader"}}}}})
                .status,
            201u);
  const auto list = [&](const std::string& selector) {
    net::HttpRequest request("GET", "/api/v1/namespaces/default/configmaps" + selector);
    request.headers.set("Authorization", "Bearer admin");
    request.headers.set("Impersonate-User", "reader");
    return answer_to(std::move(request)).status;
  };
  EXPECT_EQ(list("?fieldSelector=metadata.name%3Da"), 200u);
  EXPECT_EQ(list("?fieldSelector=metadata.name%3Db"), 403u);
  EXPECT_EQ(list(""), 403u);
}

}  // namespace
}  // namespace regatta::apiserver
