#include "lab/apiserver/replay/player.h"
#include "lib/api/yaml.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace regatta::apiserver::replay {
namespace {

namespace fs = std::filesystem;

/// The recorded exchanges, or our own smaller set when they are not available.
fs::path transcripts() {
  if (const char* given = std::getenv("REGATTA_TRANSCRIPTS")) return given;
  for (const char* place : {"../shared/apiserver-transcripts"}) {
    if (fs::exists(place)) return place;
  }
  return "tests/transcripts";
}

Json load(const fs::path& file) {
  std::ifstream in(file);
  auto ordered = nlohmann::ordered_json::parse(in, nullptr, false);
  // Request bodies keep the order of their members: warnings follow it.
  const auto keep_order = [](nlohmann::ordered_json& exchange) {
    if (!exchange.contains("request") || !exchange["request"].contains("body")) return;
    auto& body = exchange["request"]["body"];
    if (body.is_structured()) body = body.dump();
  };
  for (auto& step : ordered["steps"]) {
    keep_order(step);
    if (!step.contains("exchanges")) continue;
    for (auto& exchange : step["exchanges"]) keep_order(exchange);
  }
  return Json::parse(ordered.dump());
}

struct Share {
  int matched = 0;
  int total = 0;
  int percent() const { return total == 0 ? 100 : matched * 100 / total; }
};

/// The definitions of Kueue's kinds.
std::vector<Json> kueue_definitions() {
  std::vector<Json> definitions;
  for (const auto& entry : fs::directory_iterator("charts/regatta/files/crds")) {
    std::ifstream in(entry.path());
    const std::string text(std::istreambuf_iterator<char>(in), {});
    Result<std::vector<Json>> read = api::parse_yaml_documents(text);
    if (!read) continue;
    for (Json& document : *read) {
      if (document.value("kind", "") == "CustomResourceDefinition") {
        definitions.push_back(std::move(document));
      }
    }
  }
  return definitions;
}

Share play_file(const fs::path& file, const std::vector<Json>& widgets) {
  const Json scenario = load(file);
  Share share;
  const bool list = std::getenv("REGATTA_REPLAY_LIST") != nullptr;
  for (const StepResult& step : play(scenario, widgets)) {
    ++share.total;
    if (step.difference.empty()) {
      ++share.matched;
    } else if (list) {
      std::cout << "  " << step.label << "\n      " << step.difference << "\n";
    }
  }
  return share;
}

/// Shares that must not fall, in percent of the steps of a section.
const std::map<std::string, int>& floors() {
  static const std::map<std::string, int> floors = {
      {"1-errors", 96},    {"2-crud", 92},     {"3-patch", 98},   {"4-crds", 95},
      {"5-discovery", 94}, {"6-webhooks", 94}, {"7-clients", 98}, {"own", 100}};
  return floors;
}

TEST(Replay, answers_as_recorded) {
  const fs::path root = transcripts();
  const fs::path definition = root / "4-crds/crd-create-established.json";
  Json widgets;
  if (fs::exists(definition)) {
    widgets = Json::parse(load(definition)["steps"][3]["request"]["body"].get<std::string>());
  }
  const char* only = std::getenv("REGATTA_REPLAY_ONLY");
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::map<std::string, Share> sections;
  for (const fs::path& file : files) {
    const std::string name = fs::relative(file, root).string();
    if (only && name.find(only) == std::string::npos) continue;
    const bool left_out = name.find("client-go") != std::string::npos ||
                          name.ends_with("admission-policy.json") ||
                          name.ends_with("conversion-reviews.json");
    if (left_out) continue;
    const bool own = name == "4-crds/crd-create-established.json" || widgets.is_null() ||
                     name.starts_with("5-discovery/discovery-");
    if (std::getenv("REGATTA_REPLAY_LIST")) std::cout << name << "\n";
    std::vector<Json> definitions;
    if (!own) definitions.push_back(widgets);
    if (name.find("kueue") != std::string::npos) definitions = kueue_definitions();
    const Share share = play_file(file, definitions);
    std::cout << "  " << share.matched << "/" << share.total << " " << share.percent() << "% "
              << name << std::endl;
    Share& section = sections[name.substr(0, name.find('/'))];
    section.matched += share.matched;
    section.total += share.total;
  }
  for (const auto& [name, share] : sections) {
    std::cout << name << ": " << share.matched << "/" << share.total << " " << share.percent()
              << "%\n";
    const auto floor = floors().find(name);
    if (!only && floor != floors().end()) {
      EXPECT_GE(share.percent(), floor->second) << name;
    }
  }
}

}  // namespace
}  // namespace regatta::apiserver::replay
