#include "clusters/notice.h"

#include "lib/api/names.h"
#include "lib/api/own_names.h"

#include <utility>

namespace regatta::clusters {

bool set_notice(api::Conditions* conditions, std::string_view type,
                const std::optional<Notice>& notice, std::int64_t generation, TimePoint now) {
  if (!notice && !api::is_true(*conditions, type)) return false;
  api::Condition wanted;
  wanted.type = type;
  wanted.observed_generation = generation;
  wanted.status = notice ? api::ConditionStatus::True : api::ConditionStatus::False;
  wanted.reason = notice ? notice->reason : std::string(api::reasons::resolved);
  wanted.message = notice ? notice->message : "It no longer holds";
  return api::set_condition(conditions, std::move(wanted), now);
}

}  // namespace regatta::clusters
