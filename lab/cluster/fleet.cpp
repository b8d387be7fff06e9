#include "lab/cluster/fleet.h"

#include "lib/api/core.h"
#include "lib/base/lower_case.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace regatta::lab {

namespace {

constexpr int gpus_per_node = 8;
constexpr std::int64_t cpus_per_gpu = 12;
constexpr std::int64_t gib_per_gpu = 128;

Error malformed(std::string_view part) {
  return Error(Errc::invalid, "fleet \"" + std::string(part) +
                                  "\": expected a number, 'x' and a GPU model or CPU, as in "
                                  "8xA100 or 2xCPU");
}

NodeGroup gpu_group(std::string name, std::string_view model, int nodes, int gpus) {
  NodeGroup group;
  group.name = std::move(name);
  group.count = nodes;
  group.gpus = gpus;
  group.gpu_product = model;
  group.cpu = cpus_per_gpu * gpus;
  group.memory_gib = gib_per_gpu * gpus;
  return group;
}

Status add_part(std::string_view part, Fleet* fleet) {
  const std::size_t x = part.find('x');
  if (x == std::string_view::npos) return malformed(part);
  const std::string_view model = part.substr(x + 1);
  int count = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + x, count);
  const bool plain = std::all_of(model.begin(), model.end(),
                                 [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
  if (error != std::errc() || end != part.data() + x || count < 1 || model.empty() || !plain ||
      count > fleet_nodes_max * gpus_per_node) {
    return malformed(part);
  }
  const std::string name = lower_case(model);
  if (name == "cpu") {
    NodeGroup group;
    group.name = name;
    group.count = count;
    fleet->push_back(std::move(group));
    return ok();
  }
  const int full = count / gpus_per_node;
  const int rest = count % gpus_per_node;
  if (full > 0) fleet->push_back(gpu_group(name, model, full, gpus_per_node));
  if (rest > 0) fleet->push_back(gpu_group(full > 0 ? name + "-part" : name, model, 1, rest));
  return ok();
}

Json resources_of(const NodeGroup& group) {
  Json out = Json::object();
  out["cpu"] = std::to_string(group.cpu);
  out["memory"] = std::to_string(group.memory_gib) + "Gi";
  out["pods"] = "110";
  if (group.gpus > 0) out["nvidia.com/gpu"] = std::to_string(group.gpus);
  return out;
}

Json labels_of(const NodeGroup& group, int index, const std::string& name) {
  Json labels = Json::object();
  const int rack = index / nodes_per_rack;
  const int block = rack / racks_per_block;
  labels[std::string(rack_label)] = group.name + "-rack-" + std::to_string(rack);
  labels[std::string(block_label)] = group.name + "-block-" + std::to_string(block);
  for (const auto& [key, value] : group.labels) labels[key] = value;
  labels["kubernetes.io/hostname"] = name;
  labels["kubernetes.io/os"] = "linux";
  labels["kubernetes.io/arch"] = "amd64";
  if (!group.gpu_product.empty()) labels["nvidia.com/gpu.product"] = group.gpu_product;
  return labels;
}

Json node_object(const NodeGroup& group, int index, TimePoint now) {
  const std::string name = group.name + "-" + std::to_string(index);
  Json node = Json::object();
  node["apiVersion"] = "v1";
  node["kind"] = "Node";
  node["metadata"]["name"] = name;
  node["metadata"]["labels"] = labels_of(group, index, name);
  Json& status = node["status"];
  status["capacity"] = resources_of(group);
  status["allocatable"] = status["capacity"];
  Json ready = Json::object();
  ready["type"] = "Ready";
  ready["status"] = "True";
  ready["reason"] = "KubeletReady";
  ready["message"] = "simulated node is ready";
  ready["lastHeartbeatTime"] = format_rfc3339(now);
  ready["lastTransitionTime"] = format_rfc3339(now);
  status["conditions"] = Json::array();
  status["conditions"].push_back(std::move(ready));
  status["nodeInfo"]["kubeletVersion"] = "v1.36.2";
  status["nodeInfo"]["osImage"] = "Regatta sandbox";
  status["nodeInfo"]["operatingSystem"] = "linux";
  status["nodeInfo"]["architecture"] = "amd64";
  return node;
}

}  // namespace

Result<Fleet> parse_fleet(std::string_view text) {
  Fleet fleet;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const Status added = add_part(text.substr(0, comma), &fleet);
    if (!added) return added.error();
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  int nodes = 0;
  for (const NodeGroup& group : fleet) nodes += group.count;
  if (nodes > fleet_nodes_max) {
    return Error(Errc::invalid, "a fleet has at most " + std::to_string(fleet_nodes_max) +
                                    " nodes, this one " + std::to_string(nodes));
  }
  return fleet;
}

std::vector<Json> node_objects(const Fleet& fleet, TimePoint now) {
  std::vector<Json> nodes;
  for (const NodeGroup& group : fleet) {
    for (int i = 0; i < group.count; ++i) {
      nodes.push_back(node_object(group, i, now));
    }
  }
  return nodes;
}

Task<Status> create_nodes(kube::Client& client, Fleet fleet, TimePoint now) {
  const std::vector<Json> nodes = node_objects(fleet, now);
  for (const Json& node : nodes) {
    const std::string name = node["metadata"]["name"].get<std::string>();
    std::string body = dump_json(node);
    const auto created = co_await client.create_raw(api::Node::resource, "", std::move(body));
    if (!created && created.error().code() != Errc::already_exists) {
      co_return created.error().within("creating node " + name);
    }
    // The server taints new nodes until they are reported ready.
    api::ObjectKey key(name);
    std::string patch = R"({"spec":{"taints":null}})";
    const auto opened = co_await client.patch_raw(api::Node::resource, std::move(key),
                                                  kube::PatchType::merge, std::move(patch));
    if (!opened) co_return opened.error().within("opening node " + name);
  }
  co_return ok();
}

}  // namespace regatta::lab
