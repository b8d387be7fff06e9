#include "lib/kube/client.h"

#include "lib/base/merge_patch.h"
#include "lib/kube/faulty_sender.h"
#include "lib/kube/kube_test.h"
#include "lib/kube/object_limits.h"
#include "lib/kube/status.h"

#include <gmock/gmock.h>

namespace regatta::kube {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
const api::ObjectKey a_key("ns", "a");

using ClientTest = KubeTest;

// --- status -> Errc ---

struct StatusCase {
  const char* name;
  unsigned status;
  const char* reason;
  Errc want;
  bool may_have_happened = false;
};
class StatusTable : public ::testing::TestWithParam<StatusCase> {};

TEST_P(StatusTable, BecomesAnErrc) {
  const StatusCase& c = GetParam();
  const Json body = {{"kind", "Status"}, {"reason", c.reason}, {"message", "because"}};
  const Error error = error_of(net::HttpResponse(c.status, dump_json(body)));
  EXPECT_EQ(error.code(), c.want);
  EXPECT_EQ(error.what(), "because");
  EXPECT_EQ(reason_of(error), c.reason);
  EXPECT_EQ(may_have_happened(error), c.may_have_happened);
}

INSTANTIATE_TEST_SUITE_P(
    , StatusTable,
    ::testing::Values(StatusCase{"bad_request", 400, "BadRequest", Errc::invalid},
                      StatusCase{"unauthorized", 401, "Unauthorized", Errc::denied},
                      StatusCase{"forbidden", 403, "Forbidden", Errc::denied},
                      StatusCase{"not_found", 404, "NotFound", Errc::not_found},
                      StatusCase{"method_not_allowed", 405, "MethodNotAllowed", Errc::invalid},
                      StatusCase{"already_exists", 409, "AlreadyExists", Errc::already_exists},
                      StatusCase{"conflict", 409, "Conflict", Errc::conflict},
                      StatusCase{"gone", 410, "Expired", Errc::gone},
                      StatusCase{"too_large", 413, "RequestEntityTooLarge", Errc::invalid},
                      StatusCase{"unsupported_media", 415, "UnsupportedMediaType", Errc::invalid},
                      StatusCase{"unprocessable", 422, "Invalid", Errc::invalid},
                      StatusCase{"too_many", 429, "TooManyRequests", Errc::unavailable},
                      StatusCase{"server_error", 500, "InternalError", Errc::unavailable, true},
                      StatusCase{"unavailable", 503, "ServiceUnavailable", Errc::unavailable, true},
                      StatusCase{"timeout", 504, "Timeout", Errc::timeout, true}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Status, KeepsCausesAndRetryAfter) {
  net::HttpResponse response(422, R"({"kind":"Status","reason":"Invalid","message":"m","details":
      {"causes":[{"reason":"FieldValueRequired","message":"Required value","field":"spec.x"}]}})");
  response.headers.set("Retry-After", "7");
  const Error error = error_of(response).within("creating");
  ASSERT_NE(error.details(), nullptr);
  ASSERT_EQ(error.details()->causes.size(), 1u);
  EXPECT_EQ(error.details()->causes[0].field, "spec.x");
  EXPECT_EQ(error.details()->retry_after, 7s);
  EXPECT_EQ(error.what(), "creating: m");
}

TEST(Status, ADelayIsBetweenNothingAndADay) {
  const auto told = [](const std::string& seconds) {
    const std::string body = R"({"kind":"Status","details":{"retryAfterSeconds":)" + seconds + "}}";
    return error_of(net::HttpResponse(503, body)).details()->retry_after;
  };
  EXPECT_EQ(told("7"), 7s);
  EXPECT_EQ(told("-1"), 0s);
  EXPECT_EQ(told("-9223372036854775808"), 0s);
  EXPECT_EQ(told("86401"), 86400s);
  EXPECT_EQ(told("9223372036854775807"), 86400s);
  EXPECT_EQ(told("18446744073709551615"), 86400s);
  EXPECT_EQ(told("1e30"), std::nullopt);
  net::HttpResponse response(503, "");
  response.headers.set("Retry-After", "2147483647");
  EXPECT_EQ(error_of(response).details()->retry_after, 86400s);
}

TEST(Status, TakesPlainTextForTheMessage) {
  const Error error = error_of(net::HttpResponse(404, "404 page not found\n"));
  EXPECT_EQ(error.what(), "404 page not found");
  EXPECT_EQ(error_of(net::HttpResponse(502, "")).what(), "the server answered 502");
}

// --- requests ---

TEST_F(ClientTest, WritesNameTheFieldManager) {
  server.answer(201, dump_json(thing_json("a", "5")));
  server.answer(200, dump_json(thing_json("a", "6")));
  server.answer(200, dump_json(thing_json("a", "7")));
  server.answer(200, dump_json(thing_json("a", "8")));
  Thing thing;
  thing.metadata.ns = "ns";
  thing.metadata.name = "a";
  thing.color = "red";
  const auto created = run(client.create(thing));
  EXPECT_EQ(created->metadata.resource_version, "5");
  WriteOptions dry;
  dry.dry_run = true;
  dry.subresource = "status";
  (void)run(client.update(thing, dry));
  ApplyOptions force;
  force.field_manager = "kueue-admission";
  force.force = true;
  force.subresource = "status";
  (void)run(client.apply<Thing>(a_key, "{}", force));
  (void)run(client.patch<Thing>(a_key, PatchType::json, "[]"));
  const std::string one = "/apis/example.dev/v1/namespaces/ns/things/a";
  EXPECT_EQ(server.line(0), "POST /apis/example.dev/v1/namespaces/ns/things?fieldManager=regatta");
  EXPECT_EQ(server.line(1), "PUT " + one + "/status?fieldManager=regatta&dryRun=All");
  EXPECT_EQ(server.line(2), "PATCH " + one + "/status?fieldManager=kueue-admission&force=true");
  EXPECT_EQ(server.line(3), "PATCH " + one + "?fieldManager=regatta");
  EXPECT_EQ(server.seen[2].headers.get("content-type"), "application/apply-patch+yaml");
  EXPECT_EQ(server.seen[3].headers.get("content-type"), "application/json-patch+json");
  EXPECT_EQ(seen_by_observer, (std::vector<std::string>{"create things 201", "update things 200",
                                                        "apply things 200", "patch things 200"}));
}

// --- limits ---

struct LimitedClientTest : ClientTest {
  static ClientConfig limits(ListLimits limits) {
    ClientConfig config;
    limits.setting = "multiKueue.workerLimits";
    config.list_limits = limits;
    return config;
  }
  /// A server whose lists never end.
  void never_end() {
    server.otherwise = [](const net::HttpRequest&) {
      return net::HttpResponse(200, list_text("5", {thing_json("a", "1")}, "more"));
    };
  }
};

TEST_F(LimitedClientTest, AListThatNeverEndsEndsAtTheLimitOfObjects) {
  never_end();
  Client client(ClientDeps{sender, world, world.rng, nullptr, limits({.objects_max = 7})});
  const auto listed = run(client.list<Thing>("ns"));
  EXPECT_EQ(listed.error().code(), Errc::too_large);
  EXPECT_EQ(listed.error().what(),
            "list of things.example.dev: more than 7 objects, see "
            "multiKueue.workerLimits.objects");
  EXPECT_EQ(server.seen.size(), 8u);
}

TEST_F(LimitedClientTest, AListOfEmptyPagesEndsAtTheLimitOfPages) {
  server.otherwise = [](const net::HttpRequest&) {
    return net::HttpResponse(200, list_text("5", {}, "more"));
  };
  Client client(ClientDeps{sender, world, world.rng, nullptr, limits({.pages_max = 3})});
  const auto listed = run(client.list<Thing>("ns"));
  EXPECT_EQ(listed.error().code(), Errc::too_large);
  EXPECT_THAT(listed.error().what(), HasSubstr("more than 3 pages"));
  EXPECT_EQ(server.seen.size(), 4u);
}

TEST_F(LimitedClientTest, AListOfLargeObjectsEndsAtTheLimitOfBytes) {
  never_end();
  Client client(ClientDeps{sender, world, world.rng, nullptr, limits({.bytes_max = 1000})});
  const auto listed = run(client.list<Thing>("ns"));
  EXPECT_EQ(listed.error().code(), Errc::too_large);
  EXPECT_THAT(listed.error().what(), HasSubstr("more than 1000 bytes"));
  EXPECT_LT(server.seen.size(), 10u);
}

TEST(Status, AWriteWhoseAnswerIsTooLargeMayHaveHappened) {
  EXPECT_TRUE(may_have_happened(Error(Errc::too_large, "the answer is larger than 5 bytes")));
  EXPECT_FALSE(may_have_happened(Error(Errc::denied, "not sent: this process does not lead")));
}

TEST(Status, OnlyAnAnswerAboutTheObjectIsARefusal) {
  const auto refuses = [](unsigned status) {
    return is_refusal(error_of(net::HttpResponse(status, "{}")));
  };
  EXPECT_TRUE(refuses(403));
  EXPECT_TRUE(refuses(422));
  EXPECT_FALSE(refuses(401)) << "the credentials";
  EXPECT_FALSE(refuses(503));
  EXPECT_FALSE(is_refusal(Error(Errc::denied, "not sent: this process does not lead")));
  EXPECT_FALSE(is_refusal(Error(Errc::denied, "the server's certificate is not accepted")));
}

TEST(Status, BoundsWhatAServerSays) {
  const Json cause = {{"reason", std::string(300, 'r')}, {"message", std::string(1100, 'm')}};
  const Json body = {{"kind", "Status"},
                     {"reason", std::string(5000, 'r')},
                     {"message", std::string(5000, 'm')},
                     {"details", {{"causes", std::vector<Json>(33, cause)}}}};
  const Error error = error_of(net::HttpResponse(422, dump_json(body)));
  EXPECT_LE(error.what().size(), 1024u);
  EXPECT_LE(error.details()->reason.size(), 256u);
  ASSERT_EQ(error.details()->causes.size(), 32u);
  EXPECT_LE(error.details()->causes[0].message.size(), 1024u);
}

TEST(Status, OfALongBodyOnlyTheBeginningIsRead) {
  const auto error = [](std::size_t message) {
    const Json body = {
        {"kind", "Status"}, {"message", std::string(message, 'm')}, {"reason", "AlreadyExists"}};
    return error_of(net::HttpResponse(409, dump_json(body)));
  };
  EXPECT_EQ(error(65000).code(), Errc::already_exists);
  const Error long_one = error(65536);
  EXPECT_EQ(long_one.code(), Errc::conflict) << "the status of the answer is all that is known";
  EXPECT_EQ(long_one.what().substr(0, 30), R"({"kind":"Status","message":"mm)");
  EXPECT_EQ(long_one.what().size(), 200u);
}

// --- the size of one object ---

Json large_thing(const std::string& name, std::size_t bytes) {
  return thing_json(name, "1", std::string(bytes, 'r'));
}

TEST_F(ClientTest, AnItemOfAListIsLimitedAndAPageIsNot) {
  std::vector<Json> page(5, large_thing("a", 1 << 20));
  server.answer(200, list_text("5", page));
  page.push_back(large_thing("b", object_bytes_max));
  server.answer(200, list_text("6", page));
  EXPECT_EQ(run(client.list<Thing>("ns"))->size(), 5u);
  const auto listed = run(client.list<Thing>("ns"));
  EXPECT_EQ(listed.error().code(), Errc::too_large);
  EXPECT_EQ(listed.error().what(), "list of things.example.dev: an object of more than 4 MiB");
}

TEST_F(ClientTest, WhatAListSaysOfItselfIsLimited) {
  server.answer(200, list_text("5", {}, std::string(object_bytes_max, 't')));
  EXPECT_EQ(run(client.list<Thing>("ns")).error().code(), Errc::too_large);
}

TEST_F(ClientTest, AnAnswerWithOneObjectIsLimited) {
  const std::string text = dump_json(large_thing("a", object_bytes_max));
  for (int i = 0; i < 3; ++i) server.answer(200, text);
  const auto read = run(client.get<Thing>(a_key));
  EXPECT_EQ(read.error().code(), Errc::too_large);
  const auto written = run(client.patch<Thing>(a_key, PatchType::merge, std::string("{}")));
  ASSERT_FALSE(written);
  EXPECT_TRUE(may_have_happened(written.error()));
  EXPECT_EQ(run(client.get_path("/a/list"))->size(), text.size());
}

TEST_F(ClientTest, AnEventIsLimitedHoweverItComes) {
  const std::string line = event_line("ADDED", large_thing("a", object_bytes_max));
  const std::string begun = line.substr(0, line.size() - 1);
  for (const std::string& piece : {line, begun}) {
    auto pushed = std::make_shared<PushStream>(world.executor());
    pushed->push(event_line("ADDED", large_thing("a", object_bytes_max - 1000)));
    pushed->push(piece);
    WatchStream stream(pushed);
    EXPECT_TRUE(run(stream.next()));
    EXPECT_EQ(run(stream.next()).error().code(), Errc::too_large);
  }
}

TEST_F(ClientTest, DeletesWithPreconditions) {
  server.answer(200, "{}");
  DeleteOptions options;
  options.uid = "u1";
  options.resource_version = "9";
  options.propagation_policy = "Background";
  options.grace_period_seconds = 0;
  const Status gone = run(client.remove<Thing>(a_key, options));
  EXPECT_TRUE(gone);
  EXPECT_EQ(server.seen[0].body,
            R"({"apiVersion":"v1","gracePeriodSeconds":0,"kind":"DeleteOptions",)"
            R"("preconditions":{"resourceVersion":"9","uid":"u1"},)"
            R"("propagationPolicy":"Background"})");
}

TEST_F(ClientTest, AnEmptyNameNeverReachesTheServer) {
  const Status removed = run(client.remove<Thing>(api::ObjectKey("ns", "")));
  EXPECT_EQ(removed.error().code(), Errc::invalid);
  EXPECT_EQ(run(client.get<Thing>(api::ObjectKey("", "a"))).error().what(),
            "get things.example.dev a: the namespace is missing");
  EXPECT_EQ(run(client.get<Thing>(api::ObjectKey("ns", ".."))).error().code(), Errc::invalid);
  EXPECT_TRUE(server.seen.empty());
}

TEST_F(ClientTest, NamesCannotLeaveTheirPathSegment) {
  server.answer(404, "");
  (void)run(client.get<Thing>(api::ObjectKey("ns", "a/b?c")));
  EXPECT_EQ(server.line(0), "GET /apis/example.dev/v1/namespaces/ns/things/a%2Fb%3Fc");
}

TEST_F(ClientTest, ListsPageByPage) {
  server.answer(200, list_text("10", {thing_json("a", "1"), thing_json("b", "2")}, "next one"));
  server.answer(200, list_text("10", {thing_json("c", "3")}));
  ListOptions options;
  options.limit = 2;
  options.label_selector = "x in (y,z)";
  const auto things = run(client.list<Thing>("ns", options));
  ASSERT_TRUE(things);
  EXPECT_EQ(things->size(), 3u);
  const std::string path = "GET /apis/example.dev/v1/namespaces/ns/things";
  EXPECT_EQ(server.line(0), path + "?labelSelector=x%20in%20%28y%2Cz%29&limit=2");
  EXPECT_EQ(server.line(1),
            path + "?labelSelector=x%20in%20%28y%2Cz%29&limit=2&continue=next%20one");
}

TEST_F(ClientTest, APageThatIsTooLargeIsAskedForInSmallerOnes) {
  constexpr std::size_t total = 40;
  std::vector<std::size_t> limits;
  server.otherwise = [&](const net::HttpRequest& request) {
    const auto number = [&](const std::string& name) {
      const std::size_t at = request.target.find(name);
      return at == std::string::npos ? 0 : std::stoul(request.target.substr(at + name.size()));
    };
    const std::size_t first = number("continue="), limit = number("limit=");
    limits.push_back(limit);
    std::vector<Json> items;
    for (std::size_t i = first; i < std::min(first + limit, total); ++i) {
      items.push_back(thing_json("t" + std::to_string(i), "1"));
    }
    const bool more = first + limit < total;
    return net::HttpResponse(
        200, list_text("10", std::move(items), more ? std::to_string(first + limit) : ""));
  };
  const auto faults = std::make_shared<NetworkFaults>();
  faults->body_max = 2000;  // ten objects fit, twenty do not
  FaultySender narrow(sender, world, world.rng, faults);
  Client narrow_client(ClientDeps{narrow, world, world.rng, nullptr, {}});
  ListOptions options;
  options.limit = 40;
  const auto things = run(narrow_client.list<Thing>("ns", options));
  ASSERT_TRUE(things) << things.error().what();
  EXPECT_EQ(things->size(), total);
  EXPECT_EQ(limits, (std::vector<std::size_t>{40, 20, 10, 10, 10, 10}));
  limits.clear();
  faults->body_max = 500;
  EXPECT_EQ(run(narrow_client.list<Thing>("ns", options)).error().code(), Errc::too_large);
  EXPECT_EQ(limits, (std::vector<std::size_t>{40, 20, 10}));
}

TEST_F(ClientTest, ALongPageDoesNotKeepAllOthersWaiting) {
  std::vector<Json> page;
  for (int i = 0; i < 40; ++i) page.push_back(thing_json("t" + std::to_string(i), "1"));
  server.answer(200, list_text("10", page));
  SlowClock slow(world);
  FirstTurn others(world.executor());
  Client reader(ClientDeps{sender, slow, world.rng, nullptr, {}});
  const OnItem take = [&](const Json&, std::size_t) { others.take(); };
  EXPECT_EQ(*run(reader.list_raw(Thing::resource, "", {}, take)), "10");
  EXPECT_EQ(others.taken(), 40);
  EXPECT_EQ(others.before(), 6) << "each takes a millisecond";
}

TEST_F(ClientTest, AnExpiredContinueTokenStartsAgainWithoutPages) {
  server.answer(200, list_text("10", {thing_json("a", "1")}, "t"));
  server.refuse(410, "Expired", "too old");
  server.answer(200, list_text("20", {thing_json("a", "1"), thing_json("b", "15")}));
  const auto things = run(client.list<Thing>("ns"));
  ASSERT_TRUE(things);
  EXPECT_EQ(things->size(), 2u);
  EXPECT_EQ(server.line(2), "GET /apis/example.dev/v1/namespaces/ns/things");
}

TEST_F(ClientTest, ItemsOfBuiltInListsGetTheirKind) {
  Json item = thing_json("a", "1");
  item.erase("kind");
  item.erase("apiVersion");
  server.answer(200, list_text("10", {item}));
  std::string kind;
  const OnItem look = [&](const Json& i, std::size_t) { kind = i.value("kind", ""); };
  (void)run(client.list_raw(Thing::resource, "", {}, look));
  EXPECT_EQ(kind, "Thing");
}

TEST_F(ClientTest, ItemsComeWithoutManagedFields) {
  const std::string item =
      R"({"kind":"Thing","metadata":{"name":"a","resourceVersion":"1","managedFields":[{}]}})";
  server.answer(200, R"({"metadata":{"resourceVersion":"10"},"items":[)" + item + "]}");
  Json found;
  std::size_t length = 0;
  const OnItem look = [&](const Json& one, std::size_t bytes) { found = one, length = bytes; };
  ASSERT_TRUE(run(client.list_raw(Thing::resource, "", {}, look)));
  EXPECT_EQ(found["metadata"], Json({{"name", "a"}, {"resourceVersion", "1"}}));
  EXPECT_EQ(length, item.size());
}

TEST_F(ClientTest, AnItemThatIsNoJsonFailsTheList) {
  server.answer(200, R"({"metadata":{"resourceVersion":"1"},"items":[{"a":1},{"b":tru}]})");
  int seen = 0;
  const OnItem count = [&](const Json&, std::size_t) { ++seen; };
  const auto listed = run(client.list_raw(Thing::resource, "", {}, count));
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code(), Errc::invalid);
  EXPECT_THAT(listed.error().what(), testing::StartsWith("list of things.example.dev: "));
  EXPECT_EQ(seen, 1);
}

// --- asked to come back later ---

TEST_F(ClientTest, ComesBackWhenRetryAfterSays) {
  server.refuse(429, "TooManyRequests", "slow down", {{"Retry-After", "2"}});
  server.answer(200, dump_json(thing_json("a", "5")));
  ASSERT_TRUE(run(client.get<Thing>(a_key)));
  EXPECT_GE(server.seen_at[1] - start, 2s);
  EXPECT_LE(server.seen_at[1] - start, 2500ms);
}

TEST_F(ClientTest, GivesUpWhenRetryAfterIsBeyondItsTimeout) {
  server.refuse(503, "ServiceUnavailable", "down", {{"Retry-After", "31"}});
  EXPECT_EQ(run(client.get<Thing>(a_key)).error().code(), Errc::unavailable);
  EXPECT_EQ(server.seen.size(), 1u);
}

TEST_F(ClientTest, RetriesAreBounded) {
  for (int i = 0; i < 10; ++i) server.refuse(429, "TooManyRequests", "", {{"Retry-After", "1"}});
  EXPECT_EQ(run(client.get<Thing>(a_key)).error().code(), Errc::unavailable);
  EXPECT_EQ(server.seen.size(), 6u);
}

TEST_F(ClientTest, A429WithoutRetryAfterSurfaces) {
  server.refuse(429, "TooManyRequests", "eviction would violate a budget");
  EXPECT_EQ(run(client.get<Thing>(a_key)).error().what(), "eviction would violate a budget");
  EXPECT_EQ(server.seen.size(), 1u);
}

TEST_F(ClientTest, TheTokenBucketSpacesRequests) {
  ClientConfig limited;
  limited.qps = 10;
  limited.burst = 2;
  Client slow(ClientDeps{sender, world, world.rng, nullptr, limited});
  server.otherwise = [](const net::HttpRequest&) {
    return net::HttpResponse(200, dump_json(thing_json("a", "1")));
  };
  for (int i = 0; i < 4; ++i) (void)run(slow.get<Thing>(a_key));
  EXPECT_EQ(server.seen_at, (std::vector<TimePoint>{start, start, start + 100ms, start + 200ms}));
}

// --- credentials ---

struct RotatingToken final : Credentials {
  std::string token = "old";
  std::string fresh = "new";
  Task<Result<std::string>> bearer_token() override { co_return token; }
  void rejected() override { token = fresh; }
};

TEST_F(ClientTest, ARejectedTokenIsReadAgainOnce) {
  auto credentials = std::make_shared<RotatingToken>();
  Client authenticated(ClientDeps{sender, world, world.rng, credentials, {}});
  server.refuse(401, "Unauthorized", "no");
  server.answer(200, dump_json(thing_json("a", "5")));
  ASSERT_TRUE(run(authenticated.get<Thing>(a_key)));
  EXPECT_EQ(server.seen[0].headers.get("Authorization"), "Bearer old");
  EXPECT_EQ(server.seen[1].headers.get("Authorization"), "Bearer new");
  server.refuse(401, "Unauthorized", "no");
  EXPECT_EQ(run(authenticated.get<Thing>(a_key)).error().code(), Errc::denied);
  EXPECT_EQ(server.seen.size(), 3u);
}

/// Has a token after a while, as a credential plugin has.
struct SlowToken final : Credentials {
  SlowToken(Clock& clock, Duration takes) : clock(clock), takes(takes) {}
  Task<Result<std::string>> bearer_token() override {
    co_await clock.sleep_for(takes);
    co_return std::string("late");
  }
  Clock& clock;
  Duration takes;
};

TEST_F(ClientTest, ATokenThatComesTooLateSendsNothing) {
  for (const Duration takes : {Duration(10s), Duration(30s)}) {
    auto credentials = std::make_shared<SlowToken>(world, takes);
    ClientConfig config;
    config.timeout = 10s;
    Client waiting(ClientDeps{sender, world, world.rng, credentials, config});
    const SteadyPoint since = world.steady();
    EXPECT_EQ(run(waiting.get<Thing>(a_key)).error().code(), Errc::timeout);
    EXPECT_EQ(world.steady() - since, 10s);
    world.run_for(1min);
  }
  EXPECT_TRUE(server.seen.empty());
}

TEST_F(ClientTest, AfterARejectionTheTimeForAnotherTokenIsThatOfTheRequest) {
  struct Rotating final : Credentials {
    explicit Rotating(Clock& clock) : clock(clock) {}
    Task<Result<std::string>> bearer_token() override {
      if (was_rejected) co_await clock.sleep_for(30s);
      co_return std::string(was_rejected ? "new" : "old");
    }
    void rejected() override { was_rejected = true; }
    Clock& clock;
    bool was_rejected = false;
  };
  auto credentials = std::make_shared<Rotating>(world);
  ClientConfig config;
  config.timeout = 10s;
  Client waiting(ClientDeps{sender, world, world.rng, credentials, config});
  server.refuse(401, "Unauthorized", "no");
  const SteadyPoint since = world.steady();
  EXPECT_EQ(run(waiting.get<Thing>(a_key)).error().code(), Errc::denied);
  EXPECT_EQ(world.steady() - since, 10s);
  world.run_for(1min);
  EXPECT_EQ(server.seen.size(), 1u);
}

// --- cheap writes ---

Thing thing(const std::string& phase) {
  Thing t;
  t.metadata.ns = "ns";
  t.metadata.name = "a";
  t.metadata.resource_version = "5";
  t.color = "red";
  t.phase = phase;
  return t;
}

TEST_F(ClientTest, AStatusPatchHoldsOnlyTheDifferenceAndTheVersionItWasMadeFrom) {
  server.answer(200, dump_json(thing_json("a", "6")));
  const auto written = run(client.patch_status(thing("Pending"), thing("Running")));
  EXPECT_EQ(written->metadata.resource_version, "6");
  EXPECT_EQ(server.line(0),
            "PATCH /apis/example.dev/v1/namespaces/ns/things/a/status?fieldManager=regatta");
  EXPECT_EQ(server.seen[0].headers.get("Content-Type"), "application/merge-patch+json");
  EXPECT_EQ(server.seen[0].body,
            R"({"metadata":{"resourceVersion":"5"},"status":{"phase":"Running"}})");
}

TEST_F(ClientTest, NothingToChangeIsNoRequest) {
  const auto same = run(client.patch_status(thing("Running"), thing("Running")));
  EXPECT_EQ(same->phase, "Running");
  Thing repainted = thing("Running");
  repainted.color = "blue";
  EXPECT_TRUE(run(client.patch_status(thing("Running"), repainted)));
  EXPECT_TRUE(run(client.patch_metadata(thing("Running"), repainted)));
  EXPECT_TRUE(server.seen.empty());
}

TEST(MergePatch, IsMinimalAndNeedsNoNulls) {
  struct Case {
    const char* from;
    const char* to;
    const char* want;
  };
  for (const Case& c : {
           Case{R"({"a":1})", R"({"a":1})", "{}"},
           Case{R"({"a":1})", R"({"a":2})", R"({"a":2})"},
           Case{R"({"a":1,"b":2})", R"({"b":2})", R"({"a":null})"},
           Case{R"({"a":null})", R"({})", "{}"},
           Case{R"({"a":1})", R"({"a":null})", R"({"a":null})"},
           Case{R"({"a":{"x":1,"y":2}})", R"({"a":{"x":1,"y":3}})", R"({"a":{"y":3}})"},
           Case{R"({"a":[1,2]})", R"({"a":[1]})", R"({"a":[1]})"},
           Case{R"({"a":{"x":1}})", R"({"a":"s"})", R"({"a":"s"})"},
           Case{R"({})", R"({"a":{"x":1}})", R"({"a":{"x":1}})"},
       }) {
    const Json from = Json::parse(c.from), to = Json::parse(c.to);
    const Json patch = merge_patch_between(from, to);
    EXPECT_EQ(patch.dump(), c.want) << c.from << " -> " << c.to;
  }
}

// --- watches ---

TEST_F(ClientTest, OnlyMetadataIsAskedForWhenNothingElseIsRead) {
  server.answer(200, list_text("10", {}));
  server.answer_watch();
  ListOptions list;
  list.metadata_only = true;
  const OnItem ignore = [](const Json&, std::size_t) {};
  ASSERT_TRUE(run(client.list_raw(Thing::resource, "", list, ignore)));
  WatchOptions watch;
  watch.metadata_only = true;
  ASSERT_TRUE(run(client.watch(Thing::resource, "", watch)));
  const auto asked = [](const std::string& form) {
    return "application/json;as=" + form + ";g=meta.k8s.io;v=v1,application/json";
  };
  EXPECT_EQ(server.seen.at(0).headers.get("Accept"), asked("PartialObjectMetadataList"));
  EXPECT_EQ(server.seen.at(1).headers.get("Accept"), asked("PartialObjectMetadata"));
}

TEST_F(ClientTest, EventsSplitAndJoinAtAnyByte) {
  const std::string text = event_line("ADDED", thing_json("a", "1")) + "\n" +
                           event_line("MODIFIED", thing_json("a", "2")) + bookmark_line("9");
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    auto pushed = std::make_shared<PushStream>(world.executor());
    if (cut > 0) pushed->push(text.substr(0, cut));
    if (cut < text.size()) pushed->push(text.substr(cut));
    pushed->end();
    WatchStream stream(pushed);
    std::string versions;
    for (;;) {
      auto event = run(stream.next());
      ASSERT_TRUE(event);
      if (!*event) break;
      versions += (*event)->resource_version + " ";
    }
    EXPECT_EQ(versions, "1 2 9 ");
  }
}

TEST_F(ClientTest, AWatchIsAnsweredWith200OrNotAtAll) {
  server.answer(201, bookmark_line("9"));
  server.answer(204, "");
  server.answer(200, bookmark_line("9"));
  const auto created = run(client.watch(Thing::resource, "", {}));
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code(), Errc::unavailable);
  EXPECT_EQ(created.error().what(),
            "watch of things.example.dev: answered with status 201 instead of 200");
  EXPECT_FALSE(run(client.watch(Thing::resource, "", {})));
  auto whole = run(client.watch(Thing::resource, "", {}));
  ASSERT_TRUE(whole);
  EXPECT_EQ((**run(whole->next())).resource_version, "9");
}

TEST_F(ClientTest, AWatchThatEndsInsideAnEventWasCut) {
  auto pushed = std::make_shared<PushStream>(world.executor());
  pushed->push(R"({"type":"ADDED",)");
  pushed->end();
  WatchStream stream(pushed);
  EXPECT_EQ(run(stream.next()).error().code(), Errc::unavailable);
}

TEST_F(ClientTest, AnErrorEventIsAnError) {
  EXPECT_EQ(decode_watch_event(error_line(410, "Expired")).error().code(), Errc::gone);
  EXPECT_EQ(decode_watch_event(error_line(500, "InternalError")).error().code(), Errc::unavailable);
  EXPECT_EQ(decode_watch_event("{}").error().code(), Errc::unavailable);
  EXPECT_EQ(decode_watch_event("nonsense").error().code(), Errc::unavailable);
}

TEST_F(ClientTest, ARequestThatIsNeverAnsweredTimesOut) {
  struct Mute final : net::HttpHandler {
    Clock& clock;
    explicit Mute(Clock& clock) : clock(clock) {}
    Task<net::HttpResponse> handle(net::HttpRequest) override {
      co_await clock.sleep_for(24h);
      co_return net::HttpResponse(200, "");
    }
  } mute{world};
  net::HandlerSender to_mute(world, mute);
  Client waiting(ClientDeps{to_mute, world, world.rng, nullptr, {}});
  const auto answer = run(waiting.get<Thing>(a_key));
  EXPECT_EQ(answer.error().code(), Errc::timeout);
  EXPECT_TRUE(may_have_happened(answer.error()));
  EXPECT_EQ(world.now() - start, 30s);
}

}  // namespace
}  // namespace regatta::kube
