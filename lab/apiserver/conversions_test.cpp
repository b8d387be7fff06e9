#include "lab/apiserver/server.h"
#include "lib/base/base64.h"
#include "lib/base/json_access.h"
#include "lib/runtime/task_scope.h"
#include "lib/sim/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Converts Boxes: v1 has spec.size, v2 has spec.dimension.value.
class FakeConverter final : public Outgoing, public net::HttpSender {
 public:
  int calls = 0;
  std::function<void(Json& response)> spoil;

  Result<std::shared_ptr<net::HttpSender>> to(const Peer&) override {
    return std::shared_ptr<net::HttpSender>(std::shared_ptr<void>(), this);
  }
  Task<Result<net::HttpResponse>> send(net::HttpRequest request, net::SendOptions) override {
    ++calls;
    const Json review = Json::parse(request.body);
    const std::string wanted = text_at(review["request"], "desiredAPIVersion");
    Json response = {{"uid", review["request"]["uid"]},
                     {"result", {{"status", "Success"}}},
                     {"convertedObjects", Json::array()}};
    for (Json object : review["request"]["objects"]) {
      EXPECT_NE(object["apiVersion"], wanted);
      object["apiVersion"] = wanted;
      Json& spec = object["spec"];
      spec = wanted.ends_with("v2") ? Json{{"dimension", {{"value", spec["size"]}}}}
                                    : Json{{"size", spec["dimension"]["value"]}};
      response["convertedObjects"].push_back(std::move(object));
    }
    if (spoil) spoil(response);
    co_return net::HttpResponse(200, Json{{"apiVersion", review["apiVersion"]},
                                          {"kind", "ConversionReview"},
                                          {"response", response}}
                                         .dump());
  }
};

class ConversionsTest : public ::testing::Test {
 protected:
  ConversionsTest() : world_(3), scope_(world_.executor()) {
    converter_ = std::make_shared<FakeConverter>();
    ServerOptions options;
    options.outgoing = converter_;
    options.tokens["admin"] = UserInfo{"admin", "", {"system:masters"}, {}};
    server_ = std::make_unique<Server>(world_.executor(), world_, world_.rng, options);
    const net::HttpResponse made = send(
        "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", Json::parse(definition));
    EXPECT_EQ(made.status, 201u) << made.body;
  }
  ~ConversionsTest() override {
    scope_.stop();
    world_.settle();
  }

  using Answered = std::shared_ptr<std::optional<net::HttpResponse>>;
  net::HttpResponse send(std::string method, std::string target, const Json& body = nullptr) {
    net::HttpRequest request(std::move(method), std::move(target));
    request.headers.set("Authorization", "Bearer admin");
    if (request.method == "PATCH") {
      request.headers.set("Content-Type", "application/merge-patch+json");
    }
    if (!body.is_null()) request.body = body.dump();
    auto answered = std::make_shared<std::optional<net::HttpResponse>>();
    scope_.spawn("request", exchange(std::move(request), answered));
    world_.run_for(1s, [&] { return answered->has_value(); });
    return answered->has_value() ? **answered : net::HttpResponse(0, "");
  }
  Task<> exchange(net::HttpRequest request, Answered into) {
    *into = co_await server_->handle(std::move(request));
  }
  Json json(std::string method, std::string target, const Json& body = nullptr) {
    return Json::parse(send(std::move(method), std::move(target), body).body);
  }
  Json box(const std::string& version, const std::string& name, const Json& spec) {
    return {{"apiVersion", "conv.dev/" + version},
            {"kind", "Box"},
            {"metadata", {{"name", name}}},
            {"spec", spec}};
  }
  static Task<> collect(std::shared_ptr<net::BodyStream> stream, std::string* into) {
    for (;;) {
      Result<std::optional<std::string>> piece = co_await stream->next();
      if (!piece || !*piece) co_return;
      *into += **piece;
    }
  }

  static constexpr const char* v1 = "/apis/conv.dev/v1/namespaces/default/boxes";
  static constexpr const char* v2 = "/apis/conv.dev/v2/namespaces/default/boxes";
  static constexpr const char* definition = R"({"apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition", "metadata": {"name": "boxes.conv.dev"}, "spec": {
    "group": "conv.dev", "scope": "Namespaced", "names": {"plural": "boxes", "kind": "Box"},
    "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
      "clientConfig": {"url": "https://127.0.0.1:9443/convert", "caBundle": "YQ=="}}},
    "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
      "schema": {"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"size": {"type": "integer"}}},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}},
     {"name": "v2", "served": true, "storage": false, "subresources": {"status": {}},
      "schema": {"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"dimension": {"type": "object",
          "properties": {"value": {"type": "integer"}}}}},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}]}})";

  sim::World world_;
  std::shared_ptr<FakeConverter> converter_;
  std::unique_ptr<Server> server_;
  TaskScope scope_;
};

TEST_F(ConversionsTest, BothVersionsAreReadAndWrittenSideBySide) {
  const Json made = json("POST", v2, box("v2", "a", {{"dimension", {{"value", 3}}}}));
  EXPECT_EQ(made["spec"]["dimension"]["value"], 3) << made.dump();
  EXPECT_EQ(json("GET", std::string(v1) + "/a")["spec"], (Json{{"size", 3}}));
  ASSERT_EQ(send("PATCH", std::string(v1) + "/a", {{"spec", {{"size", 4}}}}).status, 200u);
  EXPECT_EQ(json("GET", std::string(v2) + "/a")["spec"]["dimension"]["value"], 4);
  const Json patched =
      json("PATCH", std::string(v2) + "/a", {{"spec", {{"dimension", {{"value", 5}}}}}});
  EXPECT_EQ(patched["spec"]["dimension"]["value"], 5) << patched.dump();
  EXPECT_EQ(patched["metadata"]["generation"], 3);
  EXPECT_EQ(json("GET", std::string(v1) + "/a")["spec"], (Json{{"size", 5}}));
  EXPECT_EQ(json("GET", v2)["items"][0]["spec"]["dimension"]["value"], 5);
  EXPECT_EQ(send("DELETE", std::string(v2) + "/a").status, 200u);
  EXPECT_EQ(send("GET", std::string(v1) + "/a").status, 404u);
}

TEST_F(ConversionsTest, AStoredObjectIsConvertedOnce) {
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_EQ(send("POST", v1, box("v1", name, {{"size", 1}})).status, 201u);
  }
  EXPECT_EQ(converter_->calls, 0) << "the stored version needs no webhook";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(json("GET", v2)["items"].size(), 3u);
  EXPECT_EQ(converter_->calls, 1);
}

TEST_F(ConversionsTest, AnotherWebhookConvertsAgain) {
  ASSERT_EQ(send("POST", v1, box("v1", "a", {{"size", 1}})).status, 201u);
  ASSERT_EQ(send("GET", std::string(v2) + "/a").status, 200u);
  const Json changed = {
      {"spec",
       {{"conversion",
         {{"webhook", {{"clientConfig", {{"url", "https://127.0.0.1:9443/other"}}}}}}}}}};
  const std::string name = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/boxes.conv.dev";
  ASSERT_EQ(send("PATCH", name, changed).status, 200u);
  converter_->spoil = [](Json& response) {
    response["convertedObjects"][0]["spec"]["dimension"]["value"] = 7;
  };
  EXPECT_EQ(json("GET", std::string(v2) + "/a")["spec"]["dimension"]["value"], 7);
}

TEST_F(ConversionsTest, AWatchShowsItsVersion) {
  ASSERT_EQ(send("POST", v1, box("v1", "a", {{"size", 1}})).status, 201u);
  const net::HttpResponse watch = send("GET", std::string(v2) + "?watch=1");
  std::string text;
  scope_.spawn("watch", collect(watch.stream, &text));
  world_.settle();
  EXPECT_THAT(text, HasSubstr(R"("dimension":{"value":1})"));
  ASSERT_EQ(send("PATCH", std::string(v1) + "/a", {{"spec", {{"size", 2}}}}).status, 200u);
  ASSERT_EQ(send("DELETE", std::string(v1) + "/a").status, 200u);
  world_.settle();
  EXPECT_THAT(text, HasSubstr(R"("dimension":{"value":2})"));
  EXPECT_THAT(text, HasSubstr("DELETED"));
  EXPECT_EQ(text.find("size"), text.find("f:size") + 2) << text;
}

TEST_F(ConversionsTest, AFailureIsToldAsKubeApiserverDoes) {
  ASSERT_EQ(send("POST", v1, box("v1", "a", {{"size", 1}})).status, 201u);
  const std::string head = "conversion webhook for conv.dev/v1, Kind=Box ";
  const auto message = [&] {
    const net::HttpResponse answer = send("GET", std::string(v2) + "/a");
    EXPECT_EQ(answer.status, 500u);
    return Json::parse(answer.body)["message"].get<std::string>();
  };
  converter_->spoil = [](Json& response) {
    response["result"] = {{"status", "Failure"}, {"message", "cannot convert today"}};
  };
  EXPECT_EQ(message(), head + "failed: cannot convert today");
  converter_->spoil = [](Json& response) { response["convertedObjects"] = Json::array(); };
  EXPECT_EQ(message(), head + "returned 0 objects, expected 1");
  converter_->spoil = [](Json& response) {
    response["convertedObjects"][0]["metadata"]["name"] = "zz";
  };
  EXPECT_EQ(message(), head + "returned invalid object: must have the same name: a != zz");
  EXPECT_EQ(send("GET", std::string(v1) + "/a").status, 200u);
}

}  // namespace
}  // namespace regatta::apiserver
