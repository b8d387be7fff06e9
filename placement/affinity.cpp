#include "placement/affinity.h"

#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/base/limited_text.h"

#include <boost/algorithm/string/trim.hpp>

#include <algorithm>
#include <set>

namespace regatta::placement {
namespace {

/// Any user may write any of them: 256 names, each as long as a name may be, fit in.
constexpr std::size_t annotation_bytes_max = 64 * 1024, entries_max = 256;

Error unreadable(std::string_view annotation, const std::string& value, std::string_view why) {
  constexpr std::size_t shown_max = 256;  ///< of the value, and of the reason, which may quote it
  return Error(Errc::invalid, "annotation " + std::string(annotation) + " \"" +
                                  limited_text(value, shown_max) +
                                  "\": " + limited_text(std::string(why), shown_max));
}

Error too_large(std::string_view annotation, const std::string& value, std::size_t size,
                std::size_t most, std::string_view unit) {
  return unreadable(annotation, value,
                    "it has " + std::to_string(size) + " " + std::string(unit) +
                        ", and may have at most " + std::to_string(most));
}

Status check_bytes(std::string_view annotation, const std::string& value) {
  if (value.size() <= annotation_bytes_max) return ok();
  return too_large(annotation, value, value.size(), annotation_bytes_max, "bytes");
}

const std::string* text_of(const api::StringMap& annotations, std::string_view name) {
  const auto found = annotations.find(std::string(name));
  return found == annotations.end() ? nullptr : &found->second;
}

Result<std::vector<std::string>> names_in(const api::StringMap& annotations,
                                          std::string_view annotation) {
  std::vector<std::string> names;
  const std::string* value = text_of(annotations, annotation);
  if (!value) return names;
  if (const Status fits = check_bytes(annotation, *value); !fits) return fits.error();
  std::set<std::string> known;
  for (std::size_t start = 0; start <= value->size();) {
    const std::size_t end = std::min(value->find(',', start), value->size());
    std::string name = boost::algorithm::trim_copy(value->substr(start, end - start));
    if (name.empty()) return unreadable(annotation, *value, "a name is empty");
    if (known.insert(name).second) names.push_back(std::move(name));
    start = end + 1;
  }
  if (names.size() > entries_max) {
    return too_large(annotation, *value, names.size(), entries_max, "names");
  }
  return names;
}

Result<api::Selector> selector_in(const api::StringMap& annotations, std::string_view annotation) {
  const std::string* value = text_of(annotations, annotation);
  if (!value) return api::Selector();
  if (const Status fits = check_bytes(annotation, *value); !fits) return fits.error();
  auto selector = api::Selector::parse(*value);
  if (!selector) return unreadable(annotation, *value, selector.error().what());
  if (const std::size_t size = selector->requirements().size(); size > entries_max) {
    return too_large(annotation, *value, size, entries_max, "requirements");
  }
  return selector;
}

Result<bool> switch_in(const api::StringMap& annotations, std::string_view annotation) {
  const std::string* value = text_of(annotations, annotation);
  if (!value || *value == "false") return false;
  if (*value == "true") return true;
  return unreadable(annotation, *value, "write true or false");
}

}  // namespace

bool Affinity::allows(const std::string& cluster, const api::StringMap& labels) const {
  const bool named =
      required_names.empty() ||
      std::find(required_names.begin(), required_names.end(), cluster) != required_names.end();
  return named && required.matches(labels);
}

std::size_t Affinity::preference(const std::string& cluster, const api::StringMap& labels) const {
  const auto named = std::find(preferred_names.begin(), preferred_names.end(), cluster);
  if (named != preferred_names.end()) {
    return static_cast<std::size_t>(named - preferred_names.begin());
  }
  return preferred_names.size() + (preferred.matches(labels) ? 0 : 1);
}

Result<Affinity> affinity_of(const api::StringMap& annotations) {
  Affinity out;
  auto required_names = names_in(annotations, api::annotations::multikueue_cluster_names);
  if (!required_names) return required_names.error();
  auto required = selector_in(annotations, api::annotations::cluster_selector);
  if (!required) return required.error();
  auto preferred_names = names_in(annotations, api::annotations::preferred_cluster_names);
  if (!preferred_names) return preferred_names.error();
  auto preferred = selector_in(annotations, api::annotations::preferred_cluster_selector);
  if (!preferred) return preferred.error();
  const auto must_not_borrow = switch_in(annotations, api::annotations::must_not_borrow);
  if (!must_not_borrow) return must_not_borrow.error();
  const auto must_not_preempt = switch_in(annotations, api::annotations::must_not_preempt);
  if (!must_not_preempt) return must_not_preempt.error();
  out.required_names = std::move(*required_names);
  out.required = std::move(*required);
  out.preferred_names = std::move(*preferred_names);
  out.preferred = std::move(*preferred);
  out.limits = {.may_borrow = !*must_not_borrow, .may_preempt = !*must_not_preempt};
  return out;
}

}  // namespace regatta::placement
