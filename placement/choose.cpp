#include "placement/choose.h"

#include "lib/base/contains.h"

#include <algorithm>

namespace regatta::placement {
namespace {

const Member* member_named(const std::string& name, const std::vector<Member>& members) {
  const auto find = [&](std::string Member::* part) -> const Member* {
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](const Member& member) { return member.*part == name; });
    return found == members.end() ? nullptr : &*found;
  };
  if (const Member* found = find(&Member::managed_cluster)) return found;
  if (const Member* found = find(&Member::profile)) return found;
  const Member* found = find(&Member::name);
  // A member that stands for another cluster does not stand for the one whose name it has.
  return found && found->managed_cluster.empty() ? found : nullptr;
}

}  // namespace

std::vector<std::string> members_named(const std::vector<std::string>& decided,
                                       const std::vector<Member>& members,
                                       std::vector<std::string>* unknown) {
  std::vector<std::string> out;
  for (const std::string& name : decided) {
    const Member* member = name.empty() ? nullptr : member_named(name, members);
    if (!member) {
      unknown->push_back(name);
    } else if (!contains(out, member->name)) {
      out.push_back(member->name);
    }
  }
  return out;
}

Chosen choose(const ChooseInput& input, TimePoint now, const ChooseConfig& config) {
  Chosen out;
  std::vector<std::string> able;
  for (const std::string& name : input.decided) {
    const bool held = contains(input.nominated, name);
    if (!input.listed.contains(name)) {
      out.why_not.push_back(name + " is not in the MultiKueueConfig");
    } else if (!held && !input.connected.contains(name)) {
      out.why_not.push_back(name + " is not connected");
    } else {
      able.push_back(name);
    }
  }
  const std::size_t places = std::clamp<std::size_t>(config.at_once, 1, nominated_max);
  if (able.size() > places) {
    const Duration elapsed = std::max(Duration(0), now - input.quota_reserved_at);
    const auto round = static_cast<std::size_t>(elapsed / config.round);
    const std::size_t pages = (able.size() + places - 1) / places;
    const std::size_t first = (round % pages) * places;
    std::rotate(able.begin(), able.begin() + static_cast<std::ptrdiff_t>(first), able.end());
    able.resize(std::min(places, able.size() - first));
    out.look_again = static_cast<std::int64_t>(round + 1) * config.round - elapsed;
  }
  for (const std::string& name : able) {
    if (contains(input.nominated, name) || !input.full.contains(name)) {
      out.clusters.push_back(name);
    } else {
      out.waits_for.push_back(name);
      out.why_not.push_back(name + " has enough workloads on their way to it");
    }
  }
  if (out.clusters.empty()) out.clusters = input.nominated;
  return out;
}

}  // namespace regatta::placement
