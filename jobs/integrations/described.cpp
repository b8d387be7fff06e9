#include "jobs/integrations/described.h"

#include "jobs/described/kind.h"
#include "jobs/integrations/integrations.h"

#include <set>

namespace regatta::jobs {
namespace {

constexpr const char* section = "integrations.describedKinds";

}  // namespace

DescribedKinds described_kinds(const std::vector<Json>& descriptions) {
  DescribedKinds out;
  api::ErrorList errors;
  if (descriptions.size() > described_kinds_max) {
    errors.too_many(section, descriptions.size(), described_kinds_max);
    out.errors = errors.take();
    return out;
  }
  const JobKinds built_in = all_kinds();
  std::set<std::string> names;
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    const std::string at = api::at(section, i);
    auto description = read_description(descriptions[i], at, &errors);
    if (!description) continue;
    const std::string name = description->kind + "." + description->group;
    if (built_in.find(description->group, description->kind)) {
      errors.invalid(at + ".kind", api::in_quotes(name), "conflicts with a built-in integration");
    } else if (!names.insert(description->framework()).second) {
      errors.duplicate(at + ".kind", api::in_quotes(name));
    } else {
      out.kinds.push_back(described_kind(std::move(*description)));
    }
  }
  out.errors = errors.take();
  return out;
}

}  // namespace regatta::jobs
