#include "lab/servers/controllers.h"
#include "lib/api/yaml.h"
#include "lib/base/json_access.h"
#include "lib/kube/in_cluster.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <utility>

namespace regatta::lab {
namespace {

constexpr std::size_t file_bytes_max = 1u << 20;
constexpr const char* accelerator = "cloud.regatta.dev/accelerator";

NodeGroup gpu_nodes(const std::string& model, const char* product, int count, int gpus, int cpu) {
  NodeGroup group;
  group.name = model;
  group.count = count;
  group.gpus = gpus;
  group.gpu_product = product;
  group.cpu = cpu;
  group.memory_gib = cpu * 5;
  group.labels[accelerator] = "nvidia-" + model;
  return group;
}

NodeGroup cpu_nodes() {
  NodeGroup group;
  group.name = "cpu";
  group.count = 4;
  group.cpu = 16;
  group.memory_gib = 80;
  group.labels["cloud.regatta.dev/pool"] = "general";
  return group;
}

Result<std::int64_t> number_at(const Json& group, const char* name, std::int64_t otherwise) {
  const auto it = group.find(name);
  if (it == group.end()) return otherwise;
  if (!it->is_number_integer() || it->get<std::int64_t>() < 0) {
    return Error(Errc::invalid, std::string(name) + ": expected a whole number of 0 or more");
  }
  return it->get<std::int64_t>();
}

Result<NodeGroup> read_group(const Json& given) {
  NodeGroup group;
  if (!given.is_object() || text_at(given, "name").empty()) {
    return Error(Errc::invalid, "expected an object with a name");
  }
  group.name = text_at(given, "name");
  group.gpu_product = text_at(given, "gpuProduct");
  const auto count = number_at(given, "count", group.count);
  const auto cpu = number_at(given, "cpu", group.cpu);
  const auto memory = number_at(given, "memoryGiB", group.memory_gib);
  const auto gpus = number_at(given, "gpus", group.gpus);
  for (const auto* number : {&count, &cpu, &memory, &gpus}) {
    if (!*number) return number->error();
  }
  if (*count > fleet_nodes_max) return Error(Errc::invalid, "count: too many nodes");
  group.count = static_cast<int>(*count);
  group.cpu = *cpu;
  group.memory_gib = *memory;
  group.gpus = *gpus;
  if (const auto labels = given.find("labels"); labels != given.end() && labels->is_object()) {
    for (const auto& [key, value] : labels->items()) {
      if (value.is_string()) group.labels[key] = value.get<std::string>();
    }
  }
  return group;
}

Result<std::optional<Fleet>> read_fleet_file(const std::string& path) {
  const auto text = kube::read_small_file(path, file_bytes_max);
  if (!text) return text.error().within("the fleet's file");
  const auto groups = api::parse_yaml(*text);
  if (!groups) return groups.error().within(path);
  if (!groups->is_array()) return Error(Errc::invalid, path + ": expected a list of node groups");
  Fleet fleet;
  for (const Json& given : *groups) {
    auto group = read_group(given);
    if (!group) {
      return group.error().within(path + "[" + std::to_string(fleet.size()) + "]");
    }
    fleet.push_back(std::move(*group));
  }
  return std::optional<Fleet>(std::move(fleet));
}

}  // namespace

Result<std::optional<Fleet>> find_fleet(const std::string& what) {
  if (what.empty() || what == "none") return std::optional<Fleet>();
  if (what == "a100") return std::optional<Fleet>({gpu_nodes("a100", "NVIDIA-A100", 2, 4, 48)});
  if (what == "h100") return std::optional<Fleet>({gpu_nodes("h100", "NVIDIA-H100", 1, 4, 80)});
  if (what == "cpu") return std::optional<Fleet>({cpu_nodes()});
  std::error_code ignored;
  if (std::filesystem::exists(what, ignored)) return read_fleet_file(what);
  auto fleet = parse_fleet(what);
  if (fleet) return std::optional<Fleet>(std::move(*fleet));
  return Error(Errc::invalid, "unknown fleet \"" + what +
                                  "\": write a100, h100, cpu, none, a form like 4xH100,2xCPU, or "
                                  "the path of a YAML file");
}

}  // namespace regatta::lab
