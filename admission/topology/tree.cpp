#include "admission/topology/tree.h"

#include "lib/api/placed.h"

#include <algorithm>

namespace regatta::admission {
namespace {

constexpr std::size_t log_slack = 4;  ///< changes kept per leaf before views count everything again

std::vector<std::string> path_of(const TopologyNode& node, const std::vector<std::string>& keys) {
  std::vector<std::string> path;
  path.reserve(keys.size());
  for (const std::string& key : keys) path.push_back(node.labels.at(key));
  return path;
}

}  // namespace

void LeafLedger::note(DomainIndex leaf) {
  const std::size_t leaves = free.empty() ? 0 : free.front().size();
  if (changed.size() > leaves * log_slack + 1024) {
    first += changed.size();
    changed.clear();
  }
  changed.push_back(leaf);
}

std::optional<std::size_t> TopologyTree::level_of(const std::string& key) const {
  const auto it = std::find(level_keys.begin(), level_keys.end(), key);
  if (it == level_keys.end()) return std::nullopt;
  return static_cast<std::size_t>(it - level_keys.begin());
}

DomainIndex TopologyTree::ancestor(DomainIndex leaf, std::size_t level) const {
  for (std::size_t at = lowest(); at > level; --at) leaf = levels[at].parents[leaf];
  return leaf;
}

std::vector<std::string> TopologyTree::path(std::size_t level, DomainIndex domain) const {
  std::vector<std::string> values(level + 1);
  for (std::size_t at = level + 1; at-- > 0;) {
    values[at] = levels[at].values[domain];
    if (at > 0) domain = levels[at].parents[domain];
  }
  return values;
}

bool belongs(const api::StringMap& labels, const api::StringMap& flavor_labels,
             const std::vector<std::string>& level_keys) {
  for (const auto& [key, value] : flavor_labels) {
    const auto it = labels.find(key);
    if (it == labels.end() || it->second != value) return false;
  }
  return std::all_of(level_keys.begin(), level_keys.end(),
                     [&](const std::string& key) { return labels.contains(key); });
}

TreeLayout lay_out(const std::vector<TopologyNodePtr>& nodes,
                   const std::vector<std::string>& level_keys) {
  TreeLayout out;
  out.levels.resize(level_keys.size());
  if (level_keys.empty()) return out;
  using Members = std::vector<TopologyNodePtr>;
  std::map<std::vector<std::string>, Members> leaves;
  std::map<std::string, std::vector<std::string>> path_of_host;
  const bool by_hostname = api::lowest_is_hostname(level_keys);
  for (const TopologyNodePtr& node : nodes) {
    std::vector<std::string> path = path_of(*node, level_keys);
    if (by_hostname) path = path_of_host.try_emplace(path.back(), path).first->second;
    leaves[path].push_back(node);
  }
  const std::vector<std::string>* previous = nullptr;
  const std::size_t lowest = level_keys.size() - 1;
  for (auto& [path, members] : leaves) {
    std::size_t level = 0;
    while (previous != nullptr && level < lowest && path[level] == (*previous)[level]) ++level;
    for (; level < path.size(); ++level) {
      TopologyTree::Level& to = out.levels[level];
      to.values.push_back(path[level]);
      if (level > 0) {
        to.parents.push_back(static_cast<DomainIndex>(out.levels[level - 1].size() - 1));
      }
      if (level < lowest) {
        to.first_child.push_back(static_cast<DomainIndex>(out.levels[level + 1].size()));
      }
    }
    out.members.push_back(std::move(members));
    previous = &path;
  }
  for (std::size_t level = 0; level < lowest; ++level) {
    out.levels[level].first_child.push_back(static_cast<DomainIndex>(out.levels[level + 1].size()));
  }
  return out;
}

}  // namespace regatta::admission
