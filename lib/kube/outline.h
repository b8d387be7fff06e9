#pragma once

#include "lib/base/error.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace regatta::kube {

/// What the text of an object says about itself, found without reading the rest: a fraction of the
/// cost of parsing it. The views are into that text.
struct Outline {
  std::string_view ns, name, resource_version;
  /// metadata.managedFields with the comma that goes with it; empty when there is none.
  std::string_view managed_fields;
};

/// nullopt when the text is not laid out as API servers do it; it may still be a valid object. Of
/// two metadata the first one counts, of which no API server writes more than one.
std::optional<Outline> outline_of(std::string_view object);

struct EventOutline {
  std::string_view type;  ///< "ADDED"
  Outline object;
};
/// The same for one line of a watch.
std::optional<EventOutline> outline_of_event(std::string_view line);

/// What a list says of itself.
struct ListOutline {
  std::string_view metadata;  ///< an object
};
/// Hands over the text of each item of a list in its order, without a tree of the whole: that would
/// take up to seventeen times the memory of the text. Ends with the first error of `visit`.
/// `invalid` when the text is no list, or has its items twice; some items may have been handed over
/// by then. The items and the metadata may not be JSON yet, nor what else the list has.
Result<ListOutline> for_each_item(std::string_view list,
                                  const std::function<Status(std::string_view item)>& visit);

/// The text without managedFields, which are often half of it and which no typed object reads.
std::string without_managed_fields(std::string text);

}  // namespace regatta::kube
