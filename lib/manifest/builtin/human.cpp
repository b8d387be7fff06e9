#include "lib/manifest/builtin/human.h"

namespace regatta::manifest::builtin {

std::string age_of(std::string_view since, TimePoint now) {
  const Result<TimePoint> time = parse_rfc3339(since);
  if (!time) return "<unknown>";
  return human_duration(now - *time);
}

}  // namespace regatta::manifest::builtin
