#include "lib/base/testing.h"
#include "lib/kube/faulty_sender.h"
#include "lib/kube/informer.h"
#include "lib/kube/kube_test.h"

// An informer behind a bad network follows a server that keeps little history. Whatever happened,
// once the faults stop its store equals the server's, and so does its index. Its handler was called
// for every key with an object that differs from the one at the previous call.
namespace regatta::kube {
namespace {

using namespace std::chrono_literals;

/// Lists and watches of Things, with a short history.
struct ThingServer final : net::HttpHandler {
  struct Event {
    int version;
    std::string line;
  };
  explicit ThingServer(sim::World& world) : world(world) {}

  Task<net::HttpResponse> handle(net::HttpRequest request) override {
    if (request.target.find("watch=1") == std::string::npos) co_return list(request.target);
    const auto at = request.target.find("resourceVersion=");
    const int from = std::stoi(request.target.substr(at + 16));
    if (from < forgotten) {
      co_return net::HttpResponse(410, R"({"kind":"Status","reason":"Expired","code":410})");
    }
    auto stream = std::make_shared<PushStream>(world.executor());
    for (const Event& event : history) {
      if (event.version > from) stream->push(event.line);
    }
    watches.push_back(stream);
    net::HttpResponse response(200, "");
    response.stream = stream;
    co_return response;
  }

  net::HttpResponse list(const std::string& target) const {
    const std::size_t at = target.find("continue=");
    const std::string after = at == std::string::npos ? "" : target.substr(at + 9);
    std::vector<Json> items;
    std::string more;
    for (const auto& [name, object] : things) {
      if (name <= after) continue;
      if (items.size() == 3 && target.find("limit=") != std::string::npos) {
        more = items.back()["metadata"]["name"].get<std::string>();
        break;
      }
      items.push_back(object);
    }
    return net::HttpResponse(200, list_text(std::to_string(version), std::move(items), more));
  }

  void publish(const char* type, Json object) {
    object["metadata"]["resourceVersion"] = std::to_string(version);
    history.push_back({version, event_line(type, object)});
    if (history.size() > 8) {
      forgotten = history.front().version;
      history.erase(history.begin());
    }
    for (auto& watch : watches) watch->push(history.back().line);
  }
  void write(const std::string& name, const std::string& color) {
    ++version;
    const bool fresh = !things.contains(name);
    things[name] = thing_json(name, std::to_string(version), color);
    publish(fresh ? "ADDED" : "MODIFIED", things[name]);
  }
  void remove(const std::string& name) {
    const auto it = things.find(name);
    if (it == things.end()) return;
    ++version;
    const Json object = it->second;
    things.erase(it);
    publish("DELETED", object);
  }
  void bookmark() {
    for (auto& watch : watches) watch->push(bookmark_line(std::to_string(version)));
  }
  std::string contents() const {
    std::string text;
    for (const auto& [name, object] : things) {
      text += name + "@" + object["metadata"]["resourceVersion"].get<std::string>() + " ";
    }
    return text;
  }

  sim::World& world;
  int version = 100;
  int forgotten = 100;
  std::map<std::string, Json> things;
  std::vector<Event> history;
  std::vector<std::shared_ptr<PushStream>> watches;
};

struct SimRun {
  explicit SimRun(std::uint64_t seed)
      : world(seed),
        server(world),
        direct(world, server),
        faulty(direct, world, world.rng, faults),
        client(ClientDeps{faulty, world, world.rng, nullptr, {}}),
        informer(InformerDeps{client, world, world.rng, world.executor(), Log()}) {
    // Swarm: many runs have only some of the faults.
    const auto sometimes = [&](double most) {
      return world.rng.chance(0.5) ? world.rng.unit() * most : 0.0;
    };
    faults->drop_before = sometimes(0.3);
    faults->lose_reply = sometimes(0.3);
    faults->too_many = sometimes(0.2);
    faults->server_error = sometimes(0.2);
    faults->gone = sometimes(0.3);
    faults->cut_watch = sometimes(0.2);
    faults->half_open_watch = sometimes(0.05);
    faults->gone_in_watch = sometimes(0.1);
    faults->delay_max = Duration(world.rng.between(0, 500));
  }

  std::string store() const {
    std::string text;
    for (const auto& t : informer.list()) {
      text += t->metadata.name + "@" + t->metadata.resource_version + " ";
    }
    return text;
  }
  std::string told_of() const {
    std::string text;
    for (const auto& [name, version] : told) text += name + "@" + version + " ";
    return text;
  }
  Task<> bookmarks() {
    for (;;) {
      co_await world.sleep_for(60s);
      server.bookmark();
    }
  }

  void go() {
    informer.add_index("color", [](const Thing& t) { return std::vector{t.color}; });
    informer.on_change([this](const api::ObjectKey& key) {
      const auto thing = informer.get(key);
      if (thing) {
        told[key.name] = thing->metadata.resource_version;
      } else {
        told.erase(key.name);
      }
    });
    scope.spawn("informer", informer.run());
    scope.spawn("bookmarks", bookmarks());
    for (int step = 0; step < 200; ++step) {
      world.run_for(Duration(world.rng.between(0, 4000)));
      const std::string name = "t" + std::to_string(world.rng.between(0, 9));
      const std::string color = world.rng.chance(0.5) ? "red" : "blue";
      if (world.rng.chance(0.3)) {
        server.remove(name);
      } else {
        server.write(name, color);
        // Now and then the writer shows the informer what it wrote.
        if (world.rng.chance(0.3)) {
          informer.observe(api::from_json<Thing>(server.things[name]).value());
        }
      }
    }
    *faults = NetworkFaults();
    world.run_for(15min);
  }
  void end() {
    scope.stop();
    world.settle();
  }

  sim::World world;
  ThingServer server;
  net::HandlerSender direct;
  std::shared_ptr<NetworkFaults> faults = std::make_shared<NetworkFaults>();
  FaultySender faulty;
  Client client;
  Informer<Thing> informer;
  std::map<std::string, std::string> told;
  TaskScope scope{world.executor()};
};

TEST(InformerSim, ConvergesOnceFaultsStop) {
  std::uint64_t resumed = 0, listed = 0;
  for (std::uint64_t seed = 1; seed <= tries(200); ++seed) {
    SimRun run(seed);
    run.go();
    ASSERT_EQ(run.store(), run.server.contents()) << "seed " << seed;
    ASSERT_EQ(run.told_of(), run.server.contents()) << "seed " << seed;
    std::size_t indexed = 0;
    for (const char* color : {"red", "blue"}) {
      for (const auto& t : run.informer.by_index("color", color)) {
        ASSERT_EQ(t->color, color) << "seed " << seed;
        ++indexed;
      }
    }
    ASSERT_EQ(indexed, run.informer.size()) << "seed " << seed;
    ASSERT_TRUE(run.informer.health().connected) << "seed " << seed;
    listed += run.informer.health().lists;
    resumed += run.informer.health().watches - run.informer.health().lists;
    run.end();
  }
  // The runs did list again and resume often enough.
  EXPECT_GT(listed, tries(400));
  EXPECT_GT(resumed, tries(400));
}

TEST(InformerSim, SameSeedSameHistory) {
  const auto history = [](std::uint64_t seed) {
    SimRun run(seed);
    run.go();
    const InformerHealth health = run.informer.health();
    run.end();
    return run.store() + std::to_string(health.events) + "/" + std::to_string(health.watches);
  };
  EXPECT_EQ(history(7), history(7));
  EXPECT_NE(history(7), history(8));
}

}  // namespace
}  // namespace regatta::kube
