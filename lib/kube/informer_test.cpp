#include "lib/kube/informer.h"

#include "lib/api/workload.h"
#include "lib/kube/catch_up.h"
#include "lib/kube/kube_test.h"
#include "lib/kube/object_limits.h"

namespace regatta::kube {
namespace {

using namespace std::chrono_literals;

struct InformerTest : KubeTest {
  InformerOptions options() {
    InformerOptions options;
    options.idle_timeout = 180s;
    return options;
  }
  InformerDeps deps() {
    Client& of = limited ? *limited : client;
    return {of, world, world.rng, world.executor(), Log()};
  }
  /// Each list is empty, and each watch has a stream of its own, which `fill` prepares.
  void answer_watches(std::function<void(const std::shared_ptr<PushStream>&)> fill) {
    server.otherwise = [this, fill](const net::HttpRequest& request) {
      if (request.target.find("watch=1") == std::string::npos) {
        return net::HttpResponse(200, page_of_list(request.target));
      }
      auto stream = std::make_shared<PushStream>(world.executor());
      fill(stream);
      net::HttpResponse response(200, "");
      response.stream = stream;
      return response;
    };
  }
  /// As many as are asked for, from where the token says.
  std::string page_of_list(const std::string& target) const {
    const auto number = [&](const std::string& name) -> std::size_t {
      const auto at = target.find(name + "=");
      return at == std::string::npos ? 0 : std::stoul(target.substr(at + name.size() + 1));
    };
    const std::size_t first = number("continue");
    const std::size_t end = std::min(listed, first + number("limit"));
    std::vector<Json> items;
    for (std::size_t i = first; i < end; ++i) {
      items.push_back(thing_json("t" + std::to_string(i), "1"));
    }
    return list_text("10", items, end < listed ? std::to_string(end) : "");
  }
  void limit(ListLimits limits) {
    ClientConfig with = config();
    with.list_limits = limits;
    limited = std::make_unique<Client>(ClientDeps{sender, world, world.rng, nullptr, with});
  }
  Task<> push_later(std::shared_ptr<PushStream> stream, std::string line) {
    co_await world.sleep_for(2s);
    stream->push(std::move(line));
  }
  Task<> end_later(std::shared_ptr<PushStream> stream, std::string last) {
    co_await world.sleep_for(2s);
    stream->push(event_line("ADDED", thing_json("a", "11")) + last);
  }

  std::size_t listed = 0;           ///< objects in the lists of answer_watches()
  std::unique_ptr<Client> limited;  ///< instead of `client`, where set

  std::unique_ptr<Informer<Thing>> informer;
  std::string changed;  ///< keys the handler got

  Informer<Thing>& begin(InformerOptions with) {
    informer = std::make_unique<Informer<Thing>>(deps(), std::move(with));
    informer->on_change([this](const api::ObjectKey& key) { changed += key.name + " "; });
    informer->add_index("color", [](const Thing& t) { return std::vector{t.color}; });
    scope.spawn("informer", informer->run());
    world.settle();
    return *informer;
  }
  Informer<Thing>& begin() { return begin(options()); }

  std::string take_changed() { return std::exchange(changed, {}); }

  std::string contents() const {
    std::string text;
    for (const auto& t : informer->list()) {
      text += t->metadata.name + "@" + t->metadata.resource_version + " ";
    }
    return text;
  }
  static std::string watch_from(const std::string& version) {
    return "watch=1&resourceVersion=" + version + "&allowWatchBookmarks=true&timeoutSeconds=";
  }
  std::size_t requests_with(const std::string& part) const {
    return std::count_if(server.seen.begin(), server.seen.end(), [&](const auto& request) {
      return request.target.find(part) != std::string::npos;
    });
  }
  static Thing thing(const std::string& name, const std::string& version) {
    return api::from_json<Thing>(thing_json(name, version, "blue")).value();
  }

  static Thing large_thing(const std::string& name, const std::string& version, std::size_t bytes) {
    return api::from_json<Thing>(thing_json(name, version, std::string(bytes, 'r'))).value();
  }

  void TearDown() override {
    KubeTest::TearDown();
    EXPECT_EQ(server.unscripted, std::vector<std::string>());
  }
};

TEST_F(InformerTest, ListsAllPagesAndWatchesFromThere) {
  server.answer(200, list_text("10", {thing_json("a", "1"), thing_json("b", "2")}, "more"));
  server.answer(200, list_text("10", {thing_json("c", "3")}));
  auto watch = server.answer_watch();
  auto& things = begin();
  EXPECT_TRUE(things.has_synced());
  EXPECT_TRUE(things.health().connected);
  EXPECT_EQ(contents(), "a@1 b@2 c@3 ");
  EXPECT_EQ(take_changed(), "a b c ");
  EXPECT_EQ(requests_with(watch_from("10")), 1u);
  watch->push(event_line("MODIFIED", thing_json("b", "11", "blue")));
  watch->push(event_line("DELETED", thing_json("a", "12")) +
              event_line("ADDED", thing_json("d", "13")));
  world.settle();
  EXPECT_EQ(contents(), "b@11 c@3 d@13 ");
  EXPECT_EQ(take_changed(), "b a d ");
  EXPECT_EQ(things.by_index("color", "blue").size(), 1u);
  EXPECT_EQ(things.keys_by_index("color", "red").size(), 2u);
  EXPECT_EQ(things.get(api::ObjectKey("ns", "a")), nullptr);
}

TEST_F(InformerTest, ACutWatchResumesAtOnceFromTheLastEventWithoutAList) {
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  auto first = server.answer_watch();
  auto second = server.answer_watch();
  auto& things = begin();
  first->push(event_line("MODIFIED", thing_json("a", "17")));
  first->cut();
  world.run_for(150ms);
  EXPECT_EQ(requests_with(watch_from("17")), 1u);
  EXPECT_EQ(things.health().lists, 1u);
  EXPECT_TRUE(things.health().connected);
  second->push(event_line("MODIFIED", thing_json("a", "18")));
  world.settle();
  EXPECT_EQ(contents(), "a@18 ");
}

TEST_F(InformerTest, ABookmarkMovesThePlaceToResumeFrom) {
  server.answer(200, list_text("10", {}));
  auto first = server.answer_watch();
  (void)server.answer_watch();
  begin();
  first->push(bookmark_line("99"));
  world.run_for(2s);
  first->end();
  world.run_for(10ms);
  EXPECT_EQ(requests_with(watch_from("99")), 1u);
  EXPECT_EQ(take_changed(), "");
}

TEST_F(InformerTest, AGoneAnswerListsAgainAndFindsWhatWasDeleted) {
  server.answer(200, list_text("10", {thing_json("a", "1"), thing_json("b", "2")}));
  auto first = server.answer_watch();
  server.refuse(410, "Expired", "too old resource version: 10 (50)");
  server.answer(200, list_text("60", {thing_json("b", "2"), thing_json("c", "55")}));
  (void)server.answer_watch();
  begin();
  take_changed();
  first->cut();
  world.run_for(3s);
  EXPECT_EQ(contents(), "b@2 c@55 ");
  EXPECT_EQ(take_changed(), "a c ");
  EXPECT_EQ(requests_with(watch_from("60")), 1u);
}

TEST_F(InformerTest, AGoneEventListsAgain) {
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  auto first = server.answer_watch();
  server.answer(200, list_text("60", {thing_json("a", "1")}));
  (void)server.answer_watch();
  begin();
  take_changed();
  first->push(error_line(410, "Expired"));
  world.run_for(150ms);
  EXPECT_EQ(informer->health().lists, 2u);
  EXPECT_EQ(take_changed(), "");
  EXPECT_TRUE(informer->health().connected);
}

TEST_F(InformerTest, ListsThatAreAlwaysTooOldBackOff) {
  server.otherwise = [](const net::HttpRequest& request) {
    return request.target.find("watch=1") == std::string::npos
               ? net::HttpResponse(200, list_text("10", {}))
               : net::HttpResponse(410, R"({"kind":"Status","reason":"Expired"})");
  };
  begin();
  world.run_for(60s);
  EXPECT_LE(informer->health().lists, 12u);
  EXPECT_FALSE(informer->health().connected);
}

TEST_F(InformerTest, OneEventBetweenAListAndA410IsNoProgress) {
  answer_watches([](auto& stream) {
    stream->push(event_line("ADDED", thing_json("a", "11")) + error_line(410, "Expired"));
  });
  begin();
  world.run_for(10min);
  EXPECT_LE(informer->health().lists, 45u);
}

TEST_F(InformerTest, A410AfterSomeSecondsOfAWatchThatWorksBacksOffToo) {
  answer_watches(
      [this](auto& stream) { scope.spawn("late", end_later(stream, error_line(410, "Expired"))); });
  begin();
  world.run_for(10min);
  EXPECT_LE(informer->health().lists, 45u);
}

TEST_F(InformerTest, OneEventBeforeACutIsNoProgress) {
  answer_watches([](auto& stream) {
    stream->push(event_line("ADDED", thing_json("a", "11")));
    stream->cut();
  });
  begin();
  world.run_for(10min);
  EXPECT_LE(informer->health().watches, 45u);
}

TEST_F(InformerTest, OneEventBeforeAnOrderlyEndIsNoProgress) {
  answer_watches([this](auto& stream) {
    stream->push(event_line("ADDED", thing_json("a", "11")));
    if (server.seen.size() < 1000) stream->end();  // a loop without a pause ends all the same
  });
  begin();
  world.run_for(10min);
  EXPECT_LE(informer->health().watches, 45u);
}

TEST_F(InformerTest, AfterAPageThatDidNotComeInTimeASmallerOneIsAskedFor) {
  limit({.pages_max = 1'000'000});
  answer_watches([](auto&) {});
  server.delay = 1min;
  auto& things = begin();
  world.run_for(35s);
  server.delay = Duration(0);
  ASSERT_TRUE(world.run_for(1min, [&] { return things.has_synced(); }));
  EXPECT_EQ(requests_with("limit=500"), 1u);
  EXPECT_EQ(requests_with("limit=250"), 1u);
  EXPECT_EQ(requests_with("limit=125"), 1u);
  things.list_anew();
  world.run_for(1s);
  things.list_anew();
  world.run_for(1s);
  EXPECT_EQ(requests_with("limit=250"), 2u) << "the page grows again";
  EXPECT_EQ(requests_with("limit=500"), 2u);
}

/// A server that was away for long is no reason to give up a list that has more pages for it.
TEST_F(InformerTest, AfterALongSilenceAListWithinTheLimitsStillComes) {
  limit({.pages_max = 4, .objects_max = 400});
  answer_watches([](auto&) {});
  server.delay = 1min;
  begin();
  world.run_for(30min);
  ASSERT_GT(requests_with("limit=10"), 5u);
  server.delay = Duration(0);
  listed = 400;
  ASSERT_TRUE(world.run_for(1min, [&] { return informer->has_synced(); }));
  EXPECT_EQ(informer->size(), 400u);
}

TEST_F(InformerTest, AfterALongSilencePagesGrowWithinTheFirstList) {
  answer_watches([](auto&) {});
  server.delay = 1min;
  begin();
  world.run_for(30min);
  ASSERT_GT(requests_with("limit=10"), 5u);
  server.seen.clear();
  server.delay = 100ms;
  listed = 3000;
  ASSERT_TRUE(world.run_for(1min, [&] { return informer->has_synced(); }));
  EXPECT_EQ(requests_with("limit="), 11u) << "10, 20, 40 and so on, up to 500";
}

/// Larger ones might not come in time.
TEST_F(InformerTest, PagesThatComeSlowlyDoNotGrow) {
  answer_watches([](auto&) {});
  server.delay = 1min;
  begin();
  world.run_for(30min);
  server.seen.clear();
  server.delay = client.config().timeout / 3;
  listed = 300;
  ASSERT_TRUE(world.run_for(30min, [&] { return informer->has_synced(); }));
  EXPECT_EQ(requests_with("limit=10"), 30u);
}

TEST_F(InformerTest, AfterALongSilenceAListBeyondTheLimitsEndsToo) {
  limit({.pages_max = 4, .objects_max = 400});
  server.delay = 1min;
  begin();
  world.run_for(30min);
  server.seen.clear();
  server.delay = Duration(0);
  server.otherwise = [](const net::HttpRequest&) {
    return net::HttpResponse(200, list_text("10", {}, "more"));
  };
  const auto is_too_large = [this] {
    return informer->health().last_error->code() == Errc::too_large;
  };
  EXPECT_TRUE(world.run_for(1min, is_too_large));
  EXPECT_EQ(server.seen.size(), 41u) << "as many pages of 10 as 400 objects need, and one";
}

TEST_F(InformerTest, AListBeyondALimitIsAskedForSeldom) {
  limit({.objects_max = 2});
  server.otherwise = [](const net::HttpRequest&) {
    return net::HttpResponse(200, list_text("10", {thing_json("a", "1")}, "more"));
  };
  begin();
  const auto lists = [this] { return server.seen.size() / 3; };  // of three pages each
  world.run_for(19s);
  EXPECT_EQ(lists(), 1u);
  world.run_for(2s);
  EXPECT_EQ(lists(), 2u) << "it may have been a mistake";
  world.run_for(10min);
  EXPECT_EQ(informer->health().last_error->code(), Errc::too_large);
  EXPECT_FALSE(informer->has_synced());
  EXPECT_EQ(lists(), 6u) << "one more after 40 s, 80 s, 160 s and 5 min";
  world.run_for(20min);
  EXPECT_EQ(lists(), 10u);
}

TEST_F(InformerTest, AWatchThatGoesBeyondALimitAgainAndAgainIsOpenedSeldom) {
  limit({.objects_max = 1});
  int watches = 0;
  answer_watches([&](const auto& stream) {
    ++watches;
    stream->push(event_line("ADDED", thing_json("a", "11")));
    stream->push(event_line("ADDED", thing_json("b", "12")));
  });
  begin();
  world.run_for(31min);
  EXPECT_EQ(watches, 10) << "at 0 s, 20 s, 60 s, 140 s and each 5 min from 300 s on";
}

TEST_F(InformerTest, AServerThatKeptToTheLimitsForLongIsAskedAgainSoon) {
  limit({.objects_max = 1});
  std::shared_ptr<PushStream> watch;
  answer_watches([&](const auto& stream) { watch = stream; });
  listed = 2;
  begin();
  world.run_for(9min);
  EXPECT_FALSE(informer->health().connected);
  listed = 0;
  world.run_for(2min);
  EXPECT_TRUE(informer->health().connected);
  world.run_for(15min);
  watch->push(event_line("ADDED", thing_json("a", "11")));
  watch->push(event_line("ADDED", thing_json("b", "12")));
  world.settle();
  EXPECT_FALSE(informer->health().connected);
  world.run_for(21s);
  EXPECT_TRUE(informer->health().connected);
}

TEST_F(InformerTest, WhatAWatchAddsCountsToo) {
  limit({.objects_max = 2});
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  auto watch = server.answer_watch();
  server.answer(200, list_text("20", {thing_json("a", "1"), thing_json("c", "13")}));
  (void)server.answer_watch();
  begin();
  watch->push(event_line("ADDED", thing_json("b", "11")));
  world.run_for(1s);
  EXPECT_TRUE(informer->health().connected);
  watch->push(event_line("ADDED", thing_json("c", "12")));
  world.run_for(1s);
  EXPECT_FALSE(informer->health().connected);
  EXPECT_EQ(informer->health().last_error->code(), Errc::too_large);
  world.run_for(25s);
  EXPECT_TRUE(informer->health().connected) << "b was deleted, and the list is within the limit";
  EXPECT_EQ(contents(), "a@1 c@13 ");
}

TEST_F(InformerTest, WhatAnObjectIsIndexedByCountsToo) {
  limit({.bytes_max = 20'000});
  server.answer(200, list_text("10", {}));
  auto watch = server.answer_watch();
  informer = std::make_unique<Informer<Thing>>(deps(), options());
  informer->add_index("letter", [](const Thing& t) {
    std::vector<std::string> letters;
    for (const char letter : t.color) letters.emplace_back(1, letter);
    return letters;
  });
  scope.spawn("informer", informer->run());
  world.settle();
  watch->push(event_line("ADDED", thing_json("a", "11", std::string(50, 'a'))));
  world.run_for(1s);
  EXPECT_TRUE(informer->health().connected);
  watch->push(event_line("MODIFIED", thing_json("a", "12", std::string(60, 'b'))));
  world.run_for(1s);
  EXPECT_TRUE(informer->health().connected) << "what it was indexed by before does not";
  watch->push(event_line("ADDED", thing_json("c", "13", std::string(50, 'c'))));
  world.run_for(1s);
  EXPECT_EQ(informer->health().last_error->code(), Errc::too_large);
}

TEST_F(InformerTest, TheBytesOfTheStoreAreLimited) {
  limit({.bytes_max = 2000});
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  auto watch = server.answer_watch();
  begin();
  // The same object again and again: what it replaces counts no more.
  for (int version = 11; version < 60; ++version) {
    watch->push(event_line("MODIFIED", thing_json("a", std::to_string(version))));
  }
  watch->push(event_line("DELETED", thing_json("a", "60")));
  watch->push(event_line("ADDED", thing_json("a", "61")));
  world.run_for(1s);
  EXPECT_TRUE(informer->health().connected);
  watch->push(event_line("ADDED", thing_json("b", "62", std::string(2000, 'r'))));
  world.run_for(1s);
  EXPECT_FALSE(informer->health().connected);
  EXPECT_EQ(informer->health().last_error->code(), Errc::too_large);
}

Json of_short_entries(const std::string& name, const std::string& version) {
  Json out = thing_json(name, version);
  out["spec"]["parts"] = Json(Json::value_t::array);
  for (int i = 0; i < 100; ++i) out["spec"]["parts"].push_back(Json::object());
  return out;
}

TEST_F(InformerTest, ShortEntriesCountForTheMemoryThatTheyTake) {
  limit({.bytes_max = 10'000});
  server.answer(200, list_text("10", {of_short_entries("a", "1")}));
  auto watch = server.answer_watch();
  begin();
  ASSERT_TRUE(informer->health().connected);
  EXPECT_GT(limited->held()->bytes, 6400u);
  watch->push(event_line("ADDED", of_short_entries("b", "11")));
  world.settle();
  EXPECT_FALSE(informer->health().connected);
  EXPECT_EQ(informer->health().last_error->what(), "more than 10000 bytes");
}

TEST(CountedBytes, AreThoseOfTheTextUnlessItHasManyShortEntries) {
  const auto counted = [](const std::string& text) { return counted_bytes(text); };
  for (
      const std::string text :
      {R"({"spec":{"a":"b","c":[1,2,3,-4.5e6],"d":{},"e":null,"f":true}})",
       R"( {"containers" : [ {"name":"main","image":"registry.example.com/team/image:v1.23"} ] } )",
       R"({"finalizers":["kueue.x-k8s.io/in-use"],"note":"[{},{},{}] \" [{},{}] \\"})", "", "{",
       "[", "\"", "]", R"({"a)", R"({"a\)", "[[[", "}}}", "[}", R"({"a":])"}) {
    EXPECT_EQ(counted(text), text.size()) << text;
  }
  EXPECT_EQ(counted("[{},{ },{}]"), 1u + 3 * 64);
  EXPECT_EQ(counted(R"({"a":[[{}],["",""]]})"), 20u + (64 - 3) + 2 * (11 - 3));
  std::string map = "{";
  for (int i = 10; i < 50; ++i) map += (i == 10 ? "\"" : ",\"") + std::to_string(i) + "\":\"\"";
  EXPECT_EQ(counted(map + "}"), 1u + 40 * 40);
  EXPECT_EQ(counted(std::string(3'000'000, '[')), 3'000'000u) << "no object nests so deep";
}

TEST_F(InformerTest, TheInformersOfAClientHoldNoMoreThanItsLimitsTogether) {
  limit({.bytes_max = 2000});
  server.answer(200, list_text("10", {thing_json("a", "1", std::string(1000, 'r'))}));
  auto watch = server.answer_watch();
  begin();
  EXPECT_TRUE(informer->health().connected);
  server.answer(200, list_text("10", {thing_json("b", "1", std::string(1000, 'r'))}));
  InformerOptions soon;
  soon.over_limit_retry = 10s;
  auto second = std::make_unique<Informer<Thing>>(deps(), soon);
  scope.spawn("second", second->run());
  world.settle();
  ASSERT_TRUE(second->health().last_error);
  EXPECT_EQ(second->health().last_error->code(), Errc::too_large);
  EXPECT_TRUE(informer->health().connected) << "the first one has what it had";
  // Once that has less, the other one may have more.
  watch->push(event_line("DELETED", thing_json("a", "11")));
  server.answer(200, list_text("12", {thing_json("b", "1", std::string(1000, 'r'))}));
  (void)server.answer_watch();
  world.run_for(15s);
  EXPECT_TRUE(second->health().connected);
  EXPECT_EQ(limited->held()->objects, 1u);
  second->observe(large_thing("b", "13", 1700));
  world.settle();
  EXPECT_GT(limited->held()->bytes, 1700u);
  EXPECT_LT(limited->held()->bytes, 2000u);
  scope.stop();
  world.settle();
  second.reset();
  informer.reset();
  EXPECT_EQ(limited->held()->objects, 0u);
  EXPECT_EQ(limited->held()->bytes, 0u);
}

TEST_F(InformerTest, AnObservedObjectThatIsTooMuchIsNotKept) {
  limit({.bytes_max = 2000});
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  (void)server.answer_watch();
  server.answer(200, list_text("20", {thing_json("a", "1"), thing_json("b", "13")}));
  (void)server.answer_watch();
  auto& things = begin();
  things.observe(large_thing("b", "11", 1000));
  world.settle();
  EXPECT_TRUE(things.health().connected);
  for (int version = 12; version < 40; ++version) {
    things.observe(large_thing("c" + std::to_string(version), std::to_string(version), 1000));
    things.observe(large_thing("b", std::to_string(version), 2000));
    world.settle();
  }
  EXPECT_EQ(contents(), "a@1 b@11 ");
  EXPECT_FALSE(things.health().connected);
  EXPECT_EQ(things.health().last_error->what(), "more than 2000 bytes");
  EXPECT_EQ(server.seen.size(), 2u) << "it is not asked for again and again";
  world.run_for(25s);
  EXPECT_TRUE(things.health().connected);
  EXPECT_EQ(contents(), "a@1 b@13 ") << "the server has no more, as its list shows";
}

TEST_F(InformerTest, AnObservedObjectCountsAlsoAfterItsEvent) {
  limit({.bytes_max = 2000});
  server.answer(200, list_text("10", {}));
  auto watch = server.answer_watch();
  auto& things = begin();
  things.observe(large_thing("a", "11", 1000));
  watch->push(event_line("ADDED", thing_json("a", "11", std::string(1000, 'r'))));
  world.settle();
  EXPECT_TRUE(things.health().connected);
  watch->push(event_line("ADDED", thing_json("b", "12", std::string(1000, 'r'))));
  world.settle();
  EXPECT_FALSE(things.health().connected);
}

TEST_F(InformerTest, TooManyObservedObjectsAreNotKept) {
  limit({.objects_max = 2});
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  (void)server.answer_watch();
  auto& things = begin();
  things.observe(thing("b", "11"));
  things.observe(thing("b", "12"));
  world.settle();
  EXPECT_TRUE(things.health().connected);
  things.observe(thing("c", "13"));
  world.settle();
  EXPECT_FALSE(things.health().connected);
  EXPECT_EQ(contents(), "a@1 b@12 ");
}

TEST_F(InformerTest, ObservedObjectsThatAreNewerThanAListCountBesidesIt) {
  limit({.bytes_max = 2000});
  server.answer(200, list_text("10", {}));
  (void)server.answer_watch();
  server.answer(200, list_text("20", {thing_json("b", "2", std::string(1000, 'r'))}));
  auto& things = begin();
  things.observe(large_thing("a", "99", 1000));
  things.list_anew();
  world.settle();
  EXPECT_FALSE(things.health().connected);
  EXPECT_EQ(things.health().last_error->code(), Errc::too_large);
}

TEST_F(InformerTest, NoAnswerBringsALongName) {
  server.answer(200, list_text("10", {}));
  (void)server.answer_watch();
  server.answer(200, list_text("20", {}));
  (void)server.answer_watch();
  auto& things = begin();
  things.observe(thing(std::string(254, 'n'), "11"));
  world.run_for(1s);
  EXPECT_EQ(things.size(), 0u);
  EXPECT_EQ(things.health().lists, 2u);
}

TEST_F(InformerTest, NoEventBringsALongName) {
  for (const char* type : {"ADDED", "DELETED"}) {
    SCOPED_TRACE(type);
    server.answer(200, list_text("10", {}));
    auto watch = server.answer_watch();
    server.answer(200, list_text("20", {}));
    (void)server.answer_watch();
    auto& things = begin();
    Json longest = thing_json(std::string(253, 'n'), "11");
    longest["spec"]["color"] = 7;
    watch->push(event_line(type, longest));
    world.settle();
    EXPECT_EQ(things.health().events, 1u);
    EXPECT_EQ(things.health().lists, 1u) << "it cannot be decoded, and is heard";
    const std::string name(254, 'n');
    Json object = thing_json(name, "12");
    object["spec"]["color"] = 7;
    watch->push(event_line(type, object));
    world.run_for(1s);
    EXPECT_EQ(things.undecodable().size(), 0u);
    EXPECT_EQ(things.absence(api::ObjectKey("ns", name)), Absence::unseen);
    EXPECT_EQ(things.health().lists, 2u) << "what the watch has to tell is not known any more";
    things.stop();
    world.settle();
  }
}

TEST_F(InformerTest, AListWithALongNameFails) {
  Json one = thing_json("a", "1");
  one["metadata"]["namespace"] = std::string(254, 'n');
  server.otherwise = [one](const net::HttpRequest&) {
    return net::HttpResponse(200, list_text("10", {one}));
  };
  begin();
  world.run_for(1min);
  EXPECT_FALSE(informer->has_synced());
  EXPECT_EQ(
      informer->health().last_error->what(),
      "list of things.example.dev: an object with a name or namespace of more than 253 bytes");
  EXPECT_LE(server.seen.size(), 10u) << "it backs off";
}

TEST_F(InformerTest, LongNamesAgainAndAgainAreNoConnection) {
  server.otherwise = [this](const net::HttpRequest& request) {
    if (request.target.find("watch=1") == std::string::npos) {
      return net::HttpResponse(200, list_text("10", {}));
    }
    net::HttpResponse response(200, "");
    auto stream = std::make_shared<PushStream>(world.executor());
    response.stream = stream;
    scope.spawn("name",
                push_later(stream, event_line("DELETED", thing_json(std::string(300, 'n'), "11"))));
    return response;
  };
  begin();
  world.run_for(1min);
  EXPECT_GT(informer->health().failures, 3);
  EXPECT_TRUE(informer->health().last_error);
}

TEST_F(InformerTest, OfWhatCannotBeDecodedLittleIsKept) {
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  auto watch = server.answer_watch();
  const auto quote = [](const Json&) -> Result<std::shared_ptr<const Thing>> {
    return Error(Errc::invalid, "color: " + std::string(5000, 'x'));
  };
  ObjectInformer<Thing> things(deps(), Thing::resource, options(), quote);
  scope.spawn("informer", things.run());
  world.settle();
  watch->push(event_line("ADDED", thing_json("b", "11")));
  world.settle();
  EXPECT_EQ(things.undecodable().size(), 2u);
  for (const auto& [key, error] : things.undecodable()) EXPECT_EQ(error.what().size(), 1024u);
  scope.stop();
  world.settle();
}

TEST_F(InformerTest, ManyShortEventsDoNotKeepAllOthersWaiting) {
  std::string burst;
  for (int i = 0; i < 40; ++i) {
    burst += event_line("ADDED", thing_json("t" + std::to_string(i), std::to_string(11 + i)));
  }
  answer_watches([&](const auto& stream) { stream->push(burst); });
  SlowClock slow(world);
  FirstTurn others(world.executor());
  Informer<Thing> follower({client, slow, world.rng, world.executor(), Log()}, options());
  follower.on_change([&](const api::ObjectKey&) { others.take(); });
  scope.spawn("informer", follower.run());
  world.settle();
  EXPECT_EQ(others.taken(), 40);
  EXPECT_EQ(others.before(), 4) << "each takes two milliseconds";
  scope.stop();
  world.settle();
}

TEST_F(InformerTest, AnEventThatIsTooLongIsNotAskedForAgain) {
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  auto watch = server.answer_watch();
  server.answer(200, list_text("20", {thing_json("a", "13")}));
  (void)server.answer_watch();
  begin();
  watch->push(event_line("MODIFIED", thing_json("a", "11", std::string(object_bytes_max, 'r'))));
  world.run_for(1s);
  EXPECT_FALSE(informer->health().connected);
  EXPECT_EQ(informer->health().last_error->code(), Errc::too_large);
  world.run_for(25s);
  EXPECT_TRUE(informer->health().connected) << "the object is shorter by now, as a list shows";
  EXPECT_EQ(contents(), "a@13 ");
}

TEST_F(InformerTest, ASilentWatchIsTakenForDead) {
  server.answer(200, list_text("10", {}));
  auto first = server.answer_watch();
  auto second = server.answer_watch();
  auto& things = begin();
  world.run_for(100s);
  first->push(bookmark_line("20"));
  world.run_for(170s);
  EXPECT_TRUE(things.health().connected);
  world.run_for(11s);
  EXPECT_EQ(requests_with(watch_from("20")), 1u);
  EXPECT_EQ(things.health().watches, 2u);
  second->push(bookmark_line("21"));
  world.run_for(1s);
  EXPECT_TRUE(things.health().connected);
}

TEST_F(InformerTest, ASecondSilentWatchDoubtsTheVersionItself) {
  server.answer(200, list_text("1000", {thing_json("a", "999")}));
  (void)server.answer_watch();
  (void)server.answer_watch();
  server.answer(200, list_text("7", {thing_json("a", "5")}));
  (void)server.answer_watch();
  begin();
  world.run_for(365s);
  EXPECT_EQ(informer->health().lists, 2u);
  EXPECT_EQ(requests_with(watch_from("7")), 1u);
}

TEST_F(InformerTest, AnUnreachableServerIsRetriedWithBackoffAndTheStoreStays) {
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  auto first = server.answer_watch();
  auto& things = begin();
  server.otherwise = [](const net::HttpRequest&) { return net::HttpResponse(503, "down"); };
  int health_changes = 0;
  things.on_health([&] { ++health_changes; });
  first->cut();
  world.run_for(120s);
  EXPECT_FALSE(things.health().connected);
  EXPECT_EQ(things.health().last_error->code(), Errc::unavailable);
  EXPECT_TRUE(things.has_synced());
  EXPECT_EQ(contents(), "a@1 ");
  EXPECT_EQ(health_changes, 1);
  EXPECT_LE(server.seen.size(), 14u);
}

TEST_F(InformerTest, AnObjectThatCannotBeDecodedIsKeptOutAndReported) {
  Json broken = thing_json("b", "2");
  broken["spec"]["color"] = 7;
  server.answer(200, list_text("10", {thing_json("a", "1"), broken}));
  auto watch = server.answer_watch();
  auto& things = begin();
  EXPECT_EQ(contents(), "a@1 ");
  EXPECT_EQ(things.health().decode_failures, 1u);
  ASSERT_TRUE(things.undecodable().contains(api::ObjectKey("ns", "b")));
  Json worse = thing_json("a", "11");
  worse["spec"]["color"] = 7;
  watch->push(event_line("MODIFIED", worse));
  watch->push(event_line("MODIFIED", thing_json("b", "12")));
  world.settle();
  EXPECT_EQ(contents(), "a@1 b@12 ") << "the last readable version stays";
  EXPECT_TRUE(things.undecodable().contains(api::ObjectKey("ns", "a")));
  EXPECT_FALSE(things.undecodable().contains(api::ObjectKey("ns", "b")));
}

TEST_F(InformerTest, APartOfAnObjectThatCannotBeDecodedMayBeKept) {
  const auto broken = [](const char* name, const char* version) {
    Json thing = thing_json(name, version);
    thing["spec"]["color"] = 7;
    return thing;
  };
  server.answer(200, list_text("10", {thing_json("a", "1"), broken("b", "2"), broken("x", "3")}));
  auto watch = server.answer_watch();
  informer = std::make_unique<Informer<Thing>>(deps(), options());
  using Part = Result<std::shared_ptr<const Thing>>;
  informer->keep_part([](const Json& value, const Thing* stored) -> Part {
    Json known = value;
    known["spec"]["color"] = "some";
    known["metadata"]["resourceVersion"] = "1";
    const auto name = known["metadata"]["name"].get<std::string>();
    if (name == "x" || (name != "d" && stored)) return Error(Errc::not_found, "nothing of it");
    return std::make_shared<const Thing>(*api::from_json<Thing>(known));
  });
  scope.spawn("informer", informer->run());
  world.settle();
  EXPECT_EQ(contents(), "a@1 b@1 ");
  EXPECT_TRUE(informer->unreadable(api::ObjectKey("ns", "b")));
  watch->push(event_line("ADDED", broken("c", "11")));
  watch->push(event_line("MODIFIED", broken("a", "12")));
  watch->push(event_line("MODIFIED", broken("b", "13")));
  world.settle();
  EXPECT_EQ(contents(), "a@1 b@1 c@1 ");
  EXPECT_NE(informer->get(api::ObjectKey("ns", "a"))->color, "some") << "the older version stays";
  EXPECT_TRUE(informer->unreadable(api::ObjectKey("ns", "c")));
  watch->push(event_line("MODIFIED", thing_json("b", "14")));
  watch->push(event_line("DELETED", broken("c", "15")));
  world.settle();
  EXPECT_EQ(contents(), "a@1 b@14 ");
  EXPECT_FALSE(informer->unreadable(api::ObjectKey("ns", "b")));
  // A part may take the place of what was stored, also when a list brings it.
  watch->push(event_line("ADDED", thing_json("d", "16")));
  world.settle();
  server.answer(200, list_text("20", {thing_json("a", "1"), broken("d", "17")}));
  (void)server.answer_watch();
  informer->list_anew();
  world.settle();
  EXPECT_EQ(contents(), "a@1 d@1 ");
  EXPECT_EQ(informer->get(api::ObjectKey("ns", "d"))->color, "some");
  EXPECT_TRUE(informer->unreadable(api::ObjectKey("ns", "d")));
}

TEST_F(InformerTest, OwnWritesAreSeenAtOnceAndOnlyOnce) {
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  auto watch = server.answer_watch();
  auto& things = begin();
  take_changed();
  things.observe(thing("a", "12"));
  EXPECT_EQ(contents(), "a@12 ");
  EXPECT_EQ(take_changed(), "a ");
  watch->push(event_line("MODIFIED", thing_json("a", "11")));
  watch->push(event_line("MODIFIED", thing_json("a", "12")));
  world.settle();
  EXPECT_EQ(contents(), "a@12 ") << "an event from before the write changes nothing";
  EXPECT_EQ(take_changed(), "");
}

TEST_F(InformerTest, ALateWriteAnswerDoesNotBringADeletedObjectBack) {
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  auto watch = server.answer_watch();
  auto& things = begin();
  watch->push(event_line("MODIFIED", thing_json("a", "11")) +
              event_line("DELETED", thing_json("a", "12")));
  world.settle();
  things.observe(thing("a", "11"));
  EXPECT_EQ(contents(), "");
}

TEST_F(InformerTest, OwnWritesAreSeenWhileTheListIsMadeAnew) {
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  auto first = server.answer_watch();
  server.otherwise = [](const net::HttpRequest&) { return net::HttpResponse(503, "down"); };
  auto& things = begin();
  first->push(error_line(410, "Expired"));
  world.run_for(1s);
  things.observe(thing("a", "12"));
  things.observe(thing("unheard-of", "13"));
  EXPECT_EQ(contents(), "a@12 ");
}

TEST_F(InformerTest, AnObservedCreationSurvivesAnOlderListAndADeleteOfItsPredecessor) {
  server.answer(200, list_text("10", {}));
  auto first = server.answer_watch();
  server.answer(200, list_text("15", {}));
  auto second = server.answer_watch();
  auto& things = begin();
  things.observe(thing("n", "20"));
  first->push(error_line(410, "Expired"));
  world.run_for(1s);
  EXPECT_EQ(contents(), "n@20 ");
  second->push(event_line("DELETED", thing_json("n", "16")));
  world.settle();
  EXPECT_EQ(contents(), "n@20 ");
  second->push(event_line("DELETED", thing_json("n", "21")));
  world.settle();
  EXPECT_EQ(contents(), "");
}

TEST_F(InformerTest, AWatchCanBringTheList) {
  InformerOptions with = options();
  with.watch_list = true;
  auto watch = server.answer_watch();
  auto& things = begin(with);
  watch->push(event_line("ADDED", thing_json("a", "1")) +
              event_line("ADDED", thing_json("b", "2")));
  world.settle();
  EXPECT_FALSE(things.has_synced());
  Json end = {
      {"kind", "Thing"},
      {"metadata",
       {{"resourceVersion", "10"}, {"annotations", {{"k8s.io/initial-events-end", "true"}}}}}};
  watch->push(event_line("BOOKMARK", end) + event_line("ADDED", thing_json("c", "11")));
  world.settle();
  EXPECT_TRUE(things.has_synced());
  EXPECT_EQ(contents(), "a@1 b@2 c@11 ");
  EXPECT_EQ(requests_with("sendInitialEvents=true&resourceVersionMatch=NotOlderThan"), 1u);
}

TEST_F(InformerTest, AServerWithoutWatchListsIsListed) {
  InformerOptions with = options();
  with.watch_list = true;
  server.refuse(422, "Invalid", "sendInitialEvents: Forbidden");
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  (void)server.answer_watch();
  begin(with);
  world.run_for(1s);
  EXPECT_EQ(contents(), "a@1 ");
}

TEST_F(InformerTest, WaitersWakeWhenTheStoreIsComplete) {
  server.refuse(503, "ServiceUnavailable", "not yet");
  server.answer(200, list_text("10", {}));
  (void)server.answer_watch();
  bool woke = false;
  informer = std::make_unique<Informer<Thing>>(deps(), options());
  auto waiting = [&]() -> Task<> {
    co_await informer->wait_synced();
    woke = true;
  };
  scope.spawn("waiter", waiting());
  world.settle();
  EXPECT_FALSE(woke);
  scope.spawn("informer", informer->run());
  world.run_for(5s);
  EXPECT_TRUE(woke);
}

TEST_F(InformerTest, TransitionsShowBothSides) {
  server.answer(200, list_text("10", {thing_json("a", "1", "red")}));
  auto watch = server.answer_watch();
  informer = std::make_unique<Informer<Thing>>(deps(), options());
  std::string seen;
  using Ptr = Informer<Thing>::Ptr;
  informer->on_transition([&](const api::ObjectKey&, const Ptr& before, const Ptr& after) {
    seen += (before ? before->color : "-") + ">" + (after ? after->color : "-") + " ";
  });
  scope.spawn("informer", informer->run());
  world.settle();
  watch->push(event_line("MODIFIED", thing_json("a", "11", "blue")) +
              event_line("DELETED", thing_json("a", "12", "blue")));
  world.settle();
  EXPECT_EQ(seen, "->red red>blue blue>- ");
}

// --- what is known about objects that the store lacks ---

TEST_F(InformerTest, ADeletionThatWasSeenDiffersFromAnObjectThatWasNeverSeen) {
  server.answer(200, list_text("10", {thing_json("a", "1"), thing_json("b", "2")}));
  auto watch = server.answer_watch();
  server.answer(200, list_text("60", {}));
  (void)server.answer_watch();
  auto& things = begin();
  const auto absence = [&](const char* name) { return things.absence(api::ObjectKey("ns", name)); };
  watch->push(event_line("DELETED", thing_json("a", "11")));
  world.settle();
  EXPECT_EQ(absence("a"), Absence::deleted);
  EXPECT_EQ(absence("never"), Absence::unseen);
  things.list_anew();
  world.settle();
  EXPECT_EQ(absence("b"), Absence::listed);
  things.observe_absent(api::ObjectKey("ns", "never"), nullptr);
  EXPECT_EQ(absence("never"), Absence::read);
  things.may_appear(api::ObjectKey("ns", "a"));
  EXPECT_EQ(absence("a"), Absence::unseen) << "it may have been created";
}

TEST_F(InformerTest, AnOnlyWriterKnowsFromOneListWhichObjectsThereAreNot) {
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  (void)server.answer_watch();
  server.answer(200, list_text("60", {thing_json("a", "1")}));
  auto watch = server.answer_watch();
  auto& things = begin();
  const auto absence = [&](const char* name) { return things.absence(api::ObjectKey("ns", name)); };
  server.delay = 1s;
  scope.spawn("vouch", things.vouch());
  world.run_for(500ms);
  EXPECT_EQ(absence("never"), Absence::unseen) << "the list has to come first";
  world.run_for(2s);
  server.delay = Duration(0);
  EXPECT_EQ(absence("never"), Absence::listed);
  things.may_appear(api::ObjectKey("ns", "b"));
  EXPECT_EQ(absence("b"), Absence::unseen) << "it may have been created";
  EXPECT_EQ(absence("never"), Absence::listed);
  things.observe(thing("b", "61"));
  watch->push(event_line("DELETED", thing_json("b", "62")));
  world.settle();
  EXPECT_EQ(absence("b"), Absence::deleted);
}

TEST_F(InformerTest, OnlySoManyObjectsThatWentAreRemembered) {
  server.answer(200, list_text("10", {}));
  auto watch = server.answer_watch();
  InformerOptions few = options();
  few.absent_max = 2;
  auto& things = begin(few);
  for (const char* name : {"a", "b", "c"}) {
    watch->push(event_line("DELETED", thing_json(name, "11")));
  }
  world.settle();
  EXPECT_EQ(things.absence(api::ObjectKey("ns", "a")), Absence::unseen);
  EXPECT_EQ(things.absence(api::ObjectKey("ns", "c")), Absence::deleted);
}

TEST_F(InformerTest, AnAnswerThatThereIsNoneDoesNotUndoALaterWrite) {
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  (void)server.answer_watch();
  auto& things = begin();
  const api::ObjectKey key("ns", "a");
  const auto before = things.get(key);
  things.observe(thing("a", "11"));
  things.observe_absent(key, before);
  EXPECT_EQ(contents(), "a@11 ");
  take_changed();
  things.observe_absent(key, things.get(key));
  EXPECT_EQ(contents(), "");
  EXPECT_EQ(take_changed(), "a ");
}

TEST_F(InformerTest, AnObjectThatCannotBeDecodedIsUnreadableUntilItCanBe) {
  Json bad = thing_json("a", "1");
  bad["spec"]["color"] = 7;
  server.answer(200, list_text("10", {bad}));
  auto watch = server.answer_watch();
  auto& things = begin();
  const api::ObjectKey key("ns", "a");
  EXPECT_TRUE(things.unreadable(key));
  EXPECT_EQ(things.get(key), nullptr);
  watch->push(event_line("MODIFIED", thing_json("a", "11")));
  world.settle();
  EXPECT_FALSE(things.unreadable(key));
  things.observe_unreadable(key, Error(Errc::invalid, "spec.color: expected a string"));
  EXPECT_TRUE(things.unreadable(key));
  EXPECT_NE(things.get(key), nullptr) << "the older version stays";
}

// --- being as new as the server ---

TEST_F(InformerTest, CatchingUpPassesOverAWatchThatSaysNothing) {
  server.answer(200, list_text("10", {thing_json("a", "1"), thing_json("b", "2")}));
  (void)server.answer_watch();  // half open: it never says that b is gone
  server.answer(200, list_text("60", {thing_json("a", "55")}));
  auto second = server.answer_watch();
  auto& things = begin();
  bool caught_up = false;
  const auto follow = [](Informer<Thing>* things, bool* done) -> Task<> {
    co_await things->catch_up();
    *done = true;
  };
  scope.spawn("catch up", follow(&things, &caught_up));
  world.settle();
  EXPECT_TRUE(caught_up);
  EXPECT_EQ(contents(), "a@55 ");
  EXPECT_EQ(things.health().failures, 0);
  EXPECT_TRUE(things.health().connected);
  second->push(event_line("MODIFIED", thing_json("a", "61")));
  world.settle();
  EXPECT_EQ(contents(), "a@61 ") << "it follows the server from there";
}

TEST_F(InformerTest, CatchingUpWaitsForAListThatWasBegunLater) {
  server.answer(200, list_text("10", {}));
  (void)server.answer_watch();
  for (int i = 0; i < 3; ++i) server.refuse(503, "ServiceUnavailable", "not now");
  server.answer(200, list_text("60", {thing_json("a", "55")}));
  (void)server.answer_watch();
  auto& things = begin();
  bool caught_up = false;
  const auto follow = [](Informer<Thing>* things, bool* done) -> Task<> {
    co_await things->catch_up();
    *done = true;
  };
  scope.spawn("catch up", follow(&things, &caught_up));
  world.settle();
  EXPECT_FALSE(caught_up);
  world.run_for(1min);
  EXPECT_TRUE(caught_up);
  EXPECT_EQ(contents(), "a@55 ");
}

/// How catching up within a minute ends; nothing while it goes on.
struct InformerThatCatchesUp : InformerTest {
  void catch_up() {
    all.add(*informer);
    scope.spawn("catch up", run());
    world.settle();
  }
  Task<> run() { ended = co_await all.run(world, 1min); }

  CatchUp all;
  std::optional<Status> ended;
};

TEST_F(InformerThatCatchesUp, GivesUpWithTheReasonsWhenTheServerGoesOnRefusing) {
  answer_watches([](const auto&) {});
  begin();
  for (int i = 0; i < 60; ++i) server.refuse(500, "InternalError", "no conversion");
  catch_up();
  world.run_for(50s);
  EXPECT_FALSE(ended);
  world.run_for(20s);
  ASSERT_TRUE(ended && !*ended);
  EXPECT_EQ(ended->error().code(), Errc::unavailable);
  EXPECT_TRUE(
      ended->error().what().starts_with("not everything can be listed: things.example.dev: "));
  EXPECT_TRUE(ended->error().what().ends_with("no conversion")) << ended->error().what();
}

TEST_F(InformerThatCatchesUp, WaitsForAListThatTakesLong) {
  answer_watches([](const auto&) {});
  begin();
  server.refuse(500, "InternalError", "not yet");
  int pages = 0;
  const auto stream = std::make_shared<PushStream>(world.executor());
  server.delay = 10s;
  server.otherwise = [&](const net::HttpRequest& request) {
    const bool watch = request.target.find("watch=1") != std::string::npos;
    net::HttpResponse answer(200, watch ? "" : list_text("60", {}, ++pages < 12 ? "more" : ""));
    if (watch) answer.stream = stream;
    return answer;
  };
  catch_up();
  world.run_for(120s);
  EXPECT_FALSE(ended);
  world.run_for(20s);
  EXPECT_TRUE(ended && *ended);
}

TEST_F(InformerTest, AServerThatWasRestoredFromABackupIsBelieved) {
  server.answer(200, list_text("90", {thing_json("a", "80"), thing_json("b", "85")}));
  (void)server.answer_watch();
  server.answer(200, list_text("50", {thing_json("a", "40"), thing_json("c", "45")}));
  (void)server.answer_watch();
  auto& things = begin();
  things.list_anew();
  world.settle();
  EXPECT_EQ(contents(), "a@40 c@45 ");
  EXPECT_EQ(things.absence(api::ObjectKey("ns", "b")), Absence::listed);
}

// Otherwise what comes from now on would be taken for older than what is known.
TEST_F(InformerTest, AWatchWhoseVersionsGoBackIsFollowedByAList) {
  for (const char* type : {"MODIFIED", "BOOKMARK"}) {
    SCOPED_TRACE(type);
    server.answer(200, list_text("10", {thing_json("a", "1")}));
    auto watch = server.answer_watch();
    server.answer(200, list_text("12", {thing_json("a", "12")}));
    auto second = server.answer_watch();
    auto& things = begin();
    watch->push(event_line("MODIFIED", thing_json("a", "9911")));
    world.settle();
    EXPECT_EQ(contents(), "a@9911 ");
    watch->push(event_line(type, thing_json("a", "12")));
    world.run_for(1s);
    EXPECT_EQ(contents(), "a@12 ");
    second->push(event_line("MODIFIED", thing_json("a", "13")));
    world.settle();
    EXPECT_EQ(contents(), "a@13 ");
    things.stop();
    world.settle();
  }
}

TEST_F(InformerTest, AVersionThatWasNeverTrueIsForgotten) {
  server.answer(200, list_text("10", {thing_json("a", "9911")}));
  auto watch = server.answer_watch();
  auto& things = begin();
  watch->push(event_line("MODIFIED", thing_json("a", "11")));
  world.settle();
  EXPECT_EQ(contents(), "a@11 ") << "no object is newer than its list";
  things.observe(thing("a", "9912"));
  watch->push(event_line("MODIFIED", thing_json("a", "12")));
  world.settle();
  EXPECT_EQ(contents(), "a@9912 ");
  for (const char* version : {"13", "14"}) {
    server.answer(200, list_text(version, {thing_json("a", version)}));
    watch = server.answer_watch();
    things.list_anew();
    world.settle();
    EXPECT_EQ(contents(), version == std::string("13") ? "a@9912 " : "a@14 ");
  }
}

TEST_F(InformerTest, AnotherObjectOfTheSameVersionIsBelieved) {
  Json false_one = thing_json("a", "5"), true_one = thing_json("a", "5");
  false_one["metadata"]["uid"] = "never";
  true_one["metadata"]["uid"] = "u1";
  server.answer(200, list_text("10", {false_one}));
  (void)server.answer_watch();
  server.answer(200, list_text("10", {true_one}));
  (void)server.answer_watch();
  auto& things = begin();
  (void)take_changed();
  things.list_anew();
  world.settle();
  EXPECT_EQ(things.get(api::ObjectKey("ns", "a"))->metadata.uid, "u1");
  EXPECT_EQ(take_changed(), "a a ") << "one went, and another one came";
}

// A restored server reaches its old versions with other writes.
TEST_F(InformerTest, OfTwoContentsOfOneVersionTheListedOneIsBelieved) {
  server.answer(200, list_text("10", {thing_json("a", "5", "blue"), thing_json("b", "6")}));
  (void)server.answer_watch();
  server.answer(200, list_text("10", {thing_json("a", "5"), thing_json("b", "6")}));
  (void)server.answer_watch();
  auto& things = begin();
  (void)take_changed();
  things.list_anew();
  world.settle();
  EXPECT_EQ(things.get(api::ObjectKey("ns", "a"))->color, "red");
  EXPECT_EQ(take_changed(), "a ");
}

// As `etcdutl snapshot restore --bump-revision` does it, or when writes came before the list.
TEST_F(InformerTest, ARestoredServerWhoseVersionsGoOnIsBelieved) {
  server.answer(200, list_text("90", {thing_json("a", "80"), thing_json("b", "85")}));
  (void)server.answer_watch();
  server.answer(200, list_text("1090", {thing_json("a", "40"), thing_json("c", "45")}));
  (void)server.answer_watch();
  auto& things = begin();
  things.list_anew();
  world.settle();
  EXPECT_EQ(contents(), "a@40 c@45 ");
}

TEST_F(InformerTest, AfterALossAFollowerThatMustBeCurrentListsAnew) {
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  auto first = server.answer_watch();
  for (int i = 0; i < 2; ++i) server.refuse(500, "InternalError", "no");
  server.answer(200, list_text("60", {thing_json("a", "55")}));
  (void)server.answer_watch();
  InformerOptions current = options();
  current.list_after_loss = true;
  begin(current);
  first->cut();
  world.run_for(1min);
  EXPECT_EQ(contents(), "a@55 ");
  EXPECT_TRUE(informer->health().connected);
}

TEST_F(InformerTest, AResourceThatIsNotServedIsAskedForUntilItIs) {
  server.otherwise = [](const net::HttpRequest&) { return net::HttpResponse(404, "not found"); };
  InformerOptions may_lack = options();
  may_lack.absent_retry = 2min;
  begin(may_lack);
  world.run_for(20min);
  EXPECT_TRUE(informer->has_synced()) << "there are no objects of a kind that there is not";
  EXPECT_FALSE(informer->health().served);
  EXPECT_FALSE(informer->health().last_error);
  EXPECT_LE(server.seen.size(), 18u) << "after a second at first, after two minutes in the end";
  bool caught_up = false;
  scope.spawn("catch up", [](Informer<Thing>* things, bool* done) -> Task<> {
    co_await things->catch_up();
    *done = true;
  }(informer.get(), &caught_up));
  world.settle();
  EXPECT_TRUE(caught_up);

  server.otherwise = nullptr;
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  (void)server.answer_watch();
  world.run_for(2min);
  EXPECT_TRUE(informer->health().served);
  EXPECT_EQ(contents(), "a@1 ");
}

TEST_F(InformerTest, ObjectsAreKeptWhenTheServerSaysThatTheirKindIsGone) {
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  auto first = server.answer_watch();
  InformerOptions may_lack = options();
  may_lack.absent_retry = 2min;
  begin(may_lack);
  server.otherwise = [](const net::HttpRequest&) { return net::HttpResponse(404, "not found"); };
  first->cut();
  world.run_for(10min);
  EXPECT_EQ(contents(), "a@1 ");
  EXPECT_TRUE(informer->health().served);
  EXPECT_EQ(informer->health().last_error->code(), Errc::not_found);
}

struct RestingInformerTest : InformerTest {
  void begin_resting(const std::string& first_list) {
    InformerOptions may_rest = options();
    may_rest.rest = 10min;
    server.answer(200, first_list);
    begin(may_rest);
  }
  std::size_t watches() const { return requests_with("watch=1"); }
};

TEST_F(RestingInformerTest, AResourceWithoutObjectsIsListedNowAndThenAndNotWatched) {
  server.otherwise = [](const net::HttpRequest&) {
    return net::HttpResponse(200, list_text("10", {}));
  };
  begin_resting(list_text("10", {}));
  EXPECT_TRUE(informer->has_synced());
  EXPECT_TRUE(informer->health().resting);
  EXPECT_FALSE(informer->health().last_error);
  world.run_for(10s);
  EXPECT_EQ(server.seen.size(), 2u) << "a write of another process may arrive late";
  world.run_for(60min);
  EXPECT_EQ(watches(), 0u);
  EXPECT_GE(server.seen.size(), 10u);
  EXPECT_LE(server.seen.size(), 20u) << "after ten minutes in the end";
}

TEST_F(RestingInformerTest, AnObjectThatIsExpectedIsWatchedFor) {
  begin_resting(list_text("10", {}));
  auto watch = server.answer_watch();
  informer->may_appear(api::ObjectKey("ns", "a"));
  world.settle();
  EXPECT_EQ(requests_with(watch_from("10")), 1u) << "nothing has to be listed";
  EXPECT_FALSE(informer->health().resting);
  EXPECT_TRUE(informer->health().connected);
  informer->observe(thing("a", "11"));
  EXPECT_EQ(contents(), "a@11 ") << "the own write is seen at once";
  watch->push(event_line("DELETED", thing_json("a", "12")));
  world.settle();
  EXPECT_EQ(contents(), "");
}

TEST_F(RestingInformerTest, ItRestsAgainOnlyWhenAnObjectIsNotExpectedAnyMore) {
  begin_resting(list_text("10", {}));
  const auto watched_for_five_minutes = [this](const std::shared_ptr<PushStream>& watch) {
    for (int i = 0; i < 5; ++i) {
      world.run_for(1min);
      watch->push(bookmark_line("10"));
    }
    watch->end();
    world.run_for(1s);
  };
  auto first = server.answer_watch();
  auto second = server.answer_watch();
  informer->rouse();
  watched_for_five_minutes(first);
  EXPECT_EQ(watches(), 2u) << "a create may arrive late";
  watched_for_five_minutes(second);
  EXPECT_TRUE(informer->health().resting);
  EXPECT_EQ(watches(), 2u);
}

TEST_F(RestingInformerTest, WhatALaterListFindsIsWatched) {
  begin_resting(list_text("10", {}));
  server.answer(200, list_text("20", {thing_json("a", "15")}));
  (void)server.answer_watch();
  world.run_for(10s);
  EXPECT_EQ(contents(), "a@15 ");
  EXPECT_EQ(requests_with(watch_from("20")), 1u);
  EXPECT_TRUE(informer->health().connected);
}

TEST_F(RestingInformerTest, ItLooksAgainSoonWhenTheObjectsThatALookFoundAreGone) {
  begin_resting(list_text("10", {}));
  for (int i = 0; i < 4; ++i) server.answer(200, list_text("10", {}));
  server.answer(200, list_text("20", {thing_json("a", "15")}));
  auto watch = server.answer_watch();
  while (contents().empty()) world.run_for(1s);
  const std::size_t looks = server.seen.size();
  server.answer(200, list_text("30", {}));
  watch->push(event_line("DELETED", thing_json("a", "21")));
  world.run_for(2s);
  watch->end();
  world.run_for(1s);
  EXPECT_TRUE(informer->health().resting);
  world.run_for(10s);
  EXPECT_EQ(server.seen.size(), looks + 1);
}

TEST_F(RestingInformerTest, CatchingUpWakesIt) {
  begin_resting(list_text("10", {}));
  EXPECT_TRUE(informer->caught_up());
  server.answer(200, list_text("11", {}));
  informer->list_anew();
  EXPECT_FALSE(informer->caught_up());
  world.settle();
  EXPECT_TRUE(informer->caught_up());
  EXPECT_EQ(server.seen.size(), 2u);
  EXPECT_TRUE(informer->health().resting);
}

TEST_F(RestingInformerTest, OneListThatFailsIsNoLossAndManyAre) {
  begin_resting(list_text("10", {}));
  server.otherwise = [](const net::HttpRequest&) {
    return net::HttpResponse(500, R"({"kind": "Status", "reason": "InternalError", "code": 500})");
  };
  while (server.seen.size() < 2) world.run_for(50ms);
  EXPECT_FALSE(informer->health().last_error);
  EXPECT_TRUE(informer->health().resting);
  world.run_for(10s);
  EXPECT_TRUE(informer->health().last_error);
  EXPECT_FALSE(informer->health().resting);
  server.otherwise = [](const net::HttpRequest&) {
    return net::HttpResponse(200, list_text("10", {}));
  };
  world.run_for(1min);
  EXPECT_FALSE(informer->health().last_error);
  EXPECT_TRUE(informer->health().resting);
}

TEST_F(RestingInformerTest, NoConnectionIsKeptForItsLooks) {
  server.otherwise = [](const net::HttpRequest&) {
    return net::HttpResponse(200, list_text("10", {}));
  };
  begin_resting(list_text("10", {}));
  world.run_for(10s);
  EXPECT_EQ(sender.were_last, (std::vector<bool>{false, true}));
}

TEST_F(RestingInformerTest, AnObservedObjectThatIsTooMuchEndsTheRest) {
  limit({.bytes_max = 2000});
  begin_resting(list_text("10", {}));
  ASSERT_TRUE(informer->health().resting);
  informer->observe(large_thing("a", "99", 2000));
  world.settle();
  EXPECT_EQ(informer->size(), 0u);
  EXPECT_FALSE(informer->health().resting);
  EXPECT_EQ(informer->health().last_error->code(), Errc::too_large);
}

TEST_F(RestingInformerTest, ItCanBeStopped) {
  begin_resting(list_text("10", {}));
  informer->stop();
  world.settle();
  EXPECT_EQ(scope.size(), 0u);
}

TEST_F(InformerTest, OneThatWatchesCanBeStopped) {
  server.answer(200, list_text("10", {thing_json("a", "1")}));
  auto watch = server.answer_watch();
  begin().stop();
  world.settle();
  EXPECT_EQ(scope.size(), 0u);
  EXPECT_FALSE(informer->health().connected);
  EXPECT_EQ(contents(), "a@1 ");
}

TEST_F(InformerTest, OneThatWaitsForItsNextTryCanBeStopped) {
  server.otherwise = [](const net::HttpRequest&) { return net::HttpResponse(500, "no"); };
  begin();
  world.run_for(1min);
  const std::size_t requests = server.seen.size();
  informer->stop();
  world.settle();
  EXPECT_EQ(scope.size(), 0u);
  EXPECT_EQ(server.seen.size(), requests);
}

struct ForbiddenInformerTest : InformerTest, testing::WithParamInterface<bool> {};

TEST_P(ForbiddenInformerTest, AResourceThatMayNotBeReadCountsAsAbsentWhereThatIsWanted) {
  server.otherwise = [](const net::HttpRequest&) {
    return net::HttpResponse(403, R"({"kind": "Status", "reason": "Forbidden", "code": 403})");
  };
  InformerOptions may_lack = options();
  may_lack.absent_retry = 2min;
  may_lack.forbidden_is_absent = GetParam();
  begin(may_lack);
  EXPECT_EQ(informer->has_synced(), GetParam());
  EXPECT_EQ(informer->health().served, !GetParam());
}

INSTANTIATE_TEST_SUITE_P(Wanted, ForbiddenInformerTest, testing::Bool());

TEST(TextBytes, CountAllThatAWorkloadHolds) {
  const Json condition = {
      {"type", "Admitted"},      {"status", "True"},
      {"reason", "Admitted"},    {"message", std::string(1000, 'm')},
      {"observedGeneration", 1}, {"lastTransitionTime", "2026-01-01T00:00:00Z"}};
  const Json object = {
      {"apiVersion", "kueue.x-k8s.io/v1beta2"},
      {"kind", "Workload"},
      {"metadata",
       {{"namespace", "ns"}, {"name", "a"}, {"annotations", {{"a", std::string(2000, 'a')}}}}},
      {"spec", {{"queueName", "q"}, {"unknown", std::string(3000, 'u')}}},
      {"status", {{"conditions", {condition}}}}};
  const auto workload = api::from_json<api::Workload>(object);
  ASSERT_TRUE(workload);
  EXPECT_NEAR(text_bytes(*workload), dump_json(object).size(), 100);
  api::Workload made;  // without the text of its spec
  made.spec.queue_name = std::string(4000, 'q');
  EXPECT_GT(text_bytes(made), 4000u);
}

TEST(ResourceVersions, CompareAsNumbersOrNotAtAll) {
  EXPECT_EQ(is_older_version("9", "10"), true);
  EXPECT_EQ(is_older_version("10", "9"), false);
  EXPECT_EQ(is_older_version("10", "10"), false);
  EXPECT_EQ(is_older_version("0010", "11"), true);
  EXPECT_EQ(is_older_version("99999999999999999998", "99999999999999999999"), true);
  EXPECT_EQ(is_older_version("", "1"), std::nullopt);
  EXPECT_EQ(is_older_version("abc", "1"), std::nullopt);
}

}  // namespace
}  // namespace regatta::kube
