#include "lab/apiserver/patch/patch_object.h"
#include "lab/apiserver/patch/test_support.h"
#include "lab/apiserver/patch/typed.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace regatta::apiserver {
namespace {

using testing::widget_writer;

constexpr int rounds = 300;

std::uint64_t first_seed() {
  const char* given = std::getenv("REGATTA_SEED");
  return given ? std::strtoull(given, nullptr, 10) : 1;
}

/// Random objects that mostly fit the widget's schema, and random patches that mostly do not.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed * 2654435769U + 1) {}

  std::size_t below(std::size_t limit) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::size_t>(state_ >> 33) % limit;
  }
  bool chance(std::size_t percent) { return below(100) < percent; }
  std::string letter() { return std::string(1, static_cast<char>('a' + below(4))); }

  Json widget() {
    Json spec = Json::object();
    if (chance(60)) spec["size"] = below(3);
    if (chance(40)) spec["color"] = letter();
    if (chance(30)) spec["atomic"] = Json::array({letter(), letter()});
    if (chance(60)) spec["tags"] = subset();
    if (chance(40)) spec["limits"][letter()] = letter();
    if (chance(30)) spec["free"][letter()] = anything(2);
    if (chance(60)) spec["parts"] = parts();
    Json object = {{"apiVersion", "example.dev/v1"},
                   {"kind", "Widget"},
                   {"metadata", {{"name", "w"}}},
                   {"spec", spec}};
    if (chance(30)) object["metadata"]["labels"][letter()] = letter();
    if (chance(20)) object["metadata"]["finalizers"] = subset();
    return object;
  }

  Json anything(int depth) {
    static const char* names[] = {"spec",
                                  "metadata",
                                  "parts",
                                  "name",
                                  "$patch",
                                  "tags",
                                  "free",
                                  "labels",
                                  "$retainKeys",
                                  "$setElementOrder/parts",
                                  "finalizers",
                                  "managedFields",
                                  "$deleteFromPrimitiveList/tags"};
    switch (below(depth > 0 ? 8 : 5)) {
      case 0:
        return nullptr;
      case 1:
        return below(5);
      case 2:
        return chance(50) ? "delete" : letter();
      case 3:
        return chance(50);
      case 4:
        return 1.5;
      case 5: {
        Json list = Json::array();
        for (std::size_t i = below(3); i > 0; --i) list.push_back(anything(depth - 1));
        return list;
      }
      default: {
        Json map = Json::object();
        for (std::size_t i = below(4); i > 0; --i) {
          map[chance(70) ? names[below(std::size(names))] : letter()] = anything(depth - 1);
        }
        return map;
      }
    }
  }

  Json operations() {
    static const char* names[] = {"add", "remove", "replace", "test", "move", "copy", "frob"};
    Json list = Json::array();
    for (std::size_t i = 1 + below(4); i > 0; --i) {
      list.push_back({{"op", names[below(std::size(names))]},
                      {"path", pointer()},
                      {"from", pointer()},
                      {"value", anything(2)}});
    }
    return list;
  }

 private:
  Json subset() {
    Json list = Json::array();
    for (char c = 'a'; c < 'e'; ++c) {
      if (chance(50)) list.insert(chance(50) ? list.begin() : list.end(), std::string(1, c));
    }
    return list;
  }

  Json parts() {
    Json list = Json::array();
    for (const Json& name : subset()) {
      Json part = {{"name", name}};
      if (chance(50)) part["count"] = below(3);
      list.push_back(part);
    }
    return list;
  }

  std::string pointer() {
    static const char* tokens[] = {"/spec", "/parts", "/0",        "/-",
                                   "/name", "/tags",  "/metadata", "/a"};
    std::string text;
    for (std::size_t i = below(4); i > 0; --i) text += tokens[below(std::size(tokens))];
    return text;
  }

  std::uint64_t state_;
};

ApplyOptions apply_options(Generator& random, bool force) {
  const std::string manager = random.letter();
  ApplyOptions options{widget_writer(manager), "example.dev", "Widget", force};
  return options;
}

void check_entries(const Json& object) {
  ManagedEntries entries = managed_entries_of(object);
  if (entries.empty()) return;
  Json encoded = encode_managed_fields(entries);
  ASSERT_EQ(encoded, object["metadata"]["managedFields"]);
  Result<ManagedEntries> decoded = decode_managed_fields(encoded);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(encode_managed_fields(*decoded), encoded);
}

TEST(PatchFuzz, HistoriesOfWritesKeepTheirInvariants) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + rounds; ++seed) {
    SCOPED_TRACE("REGATTA_SEED=" + std::to_string(seed));
    Generator random(seed);
    Json live = Json::object();
    for (int step = 0; step < 8; ++step) {
      if (random.chance(50)) {
        ApplyOptions options = apply_options(random, true);
        Json wanted = random.widget();
        PatchAnswer<Json> once = apply(live, wanted, options);
        ASSERT_TRUE(once) << once.error().message;
        // The applied fields are there, and applying them again changes nothing.
        EXPECT_TRUE(
            compare(*once, merge_typed(*once, wanted, options.writer.schema), options.writer.schema)
                .empty());
        PatchAnswer<Json> twice = apply(*once, wanted, options);
        ASSERT_TRUE(twice);
        EXPECT_EQ(*twice, *once);
        live = *once;
      } else {
        Json object = random.widget();
        track_write(&object, live, widget_writer(random.letter()));
        live = object;
      }
      live["metadata"]["uid"] = "u";
      check_entries(live);
      if (HasFailure()) return;
    }
  }
}

TEST(PatchFuzz, NoPatchCrashes) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + rounds; ++seed) {
    SCOPED_TRACE("REGATTA_SEED=" + std::to_string(seed));
    Generator random(seed);
    Json live = random.widget();
    live["metadata"]["uid"] = "u";
    PatchRequest request;
    request.writer = widget_writer("fuzz");
    request.group = "example.dev";
    request.kind = "Widget";
    request.custom = true;
    request.object_meta = object_meta_schema();
    request.force = true;
    for (PatchType type :
         {PatchType::json, PatchType::merge, PatchType::strategic, PatchType::apply}) {
      request.type = type;
      Json patch = type == PatchType::json ? random.operations() : random.anything(4);
      if (type == PatchType::apply && patch.is_object()) {
        patch["apiVersion"] = "example.dev/v1";
        patch["kind"] = "Widget";
      }
      std::string body = dump_json(patch);
      request.body = body;
      PatchAnswer<Patched> patched = patch_object(request, &live);
      if (patched) check_entries(patched->object);
      Json pod = random.anything(4);
      (void)strategic_merge(random.anything(3), pod, builtin_type("io.k8s.api.core.v1.PodSpec"));
      if (HasFailure()) return;
    }
  }
}

TEST(PatchFuzz, TruncatedBodiesAreRefusedNotRead) {
  Generator random(first_seed());
  for (int i = 0; i < rounds; ++i) {
    std::string body = dump_json(random.widget());
    body.resize(random.below(body.size()));
    EXPECT_FALSE(go_json_error(body).empty());
    const BodyKind widget{"Widget", testing::widget_schema(), true, object_meta_schema()};
    (void)check_body(body, widget, Json());
  }
}

}  // namespace
}  // namespace regatta::apiserver
