#include "whatif/explain/words.h"

#include "lib/base/human.h"

namespace regatta::whatif {

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string listed(const std::vector<std::string>& names, std::size_t at_most) {
  const std::size_t shown = std::min(names.size(), at_most);
  const std::size_t others = names.size() - shown;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == shown && others == 0;
    text += (i == 0 ? "" : last ? " and " : ", ") + names[i];
  }
  if (others > 0) text += " and " + counted(others, "other");
  return text;
}

std::string amount_of(const std::string& resource, admission::Amount amount) {
  const std::string text =
      amount == admission::unlimited ? "unlimited" : admission::format_amount(resource, amount);
  return text + " " + resource;
}

std::string relative(TimePoint time, TimePoint now) {
  return time > now ? "in " + human_duration(time - now) : human_duration(now - time) + " ago";
}

std::string holder_text(const admission::Holder& holder, TimePoint now) {
  return holder.key.str() + " (in ClusterQueue " + holder.cluster_queue +
         (holder.evicted ? ", on its way out" : "") + ", holds it for " +
         human_duration(now - holder.since) + ")";
}

std::string_view text_of(api::WithinQueuePolicy policy) {
  switch (policy) {
    case api::WithinQueuePolicy::Never:
      return "Never";
    case api::WithinQueuePolicy::LowerPriority:
      return "LowerPriority";
    case api::WithinQueuePolicy::LowerOrNewerEqualPriority:
      return "LowerOrNewerEqualPriority";
  }
  return {};
}

std::string_view text_of(api::ReclaimPolicy policy) {
  switch (policy) {
    case api::ReclaimPolicy::Never:
      return "Never";
    case api::ReclaimPolicy::LowerPriority:
      return "LowerPriority";
    case api::ReclaimPolicy::Any:
      return "Any";
  }
  return {};
}

std::string_view text_of(api::BorrowPolicy policy) {
  return policy == api::BorrowPolicy::Never ? "Never" : "LowerPriority";
}

}  // namespace regatta::whatif
