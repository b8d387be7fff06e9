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
  std::string_view api_version;     ///< empty when it does not stand before the metadata
  std::string_view after_metadata;  ///< the rest of the text
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

/// A member of an object's text.
struct MemberText {
  std::string_view whole;  ///< with the comma before it
  std::string_view value;
};
/// The spec, if it stands right behind the metadata, as in all custom resources of API servers.
std::optional<MemberText> spec_after(const Outline& object);

/// Finds the items of a list one by one, without a tree of the whole: that would take up to
/// seventeen times the memory of the text, and all the time at once. `list` outlives it.
class ListItems {
 public:
  explicit ListItems(std::string_view list) : list_(list) {}
  /// The text of the next item, or nullopt after the last one. `invalid` when the text is no list,
  /// or has its items twice; items may have been found by then. After either it is not called
  /// again. The items and the metadata may not be JSON yet, nor what else the list has.
  Result<std::optional<std::string_view>> next();
  /// The list's own, after the last item.
  std::string_view metadata() const { return metadata_; }

 private:
  enum class Found { item, end, nonsense };
  enum class Place { begin, first_item, later_item, after_member };

  Found find_next(std::string_view* item);
  template <class Reader>
  Found walk(Reader& walker, std::string_view* item);
  template <class Reader>
  bool read_member(Reader& walker);

  std::string_view list_, metadata_;
  std::size_t at_ = 0;
  Place place_ = Place::begin;
  bool with_items_ = false;
};

/// What a list says of itself.
struct ListOutline {
  std::string_view metadata;  ///< an object
};
/// Hands over the text of each item of a list in its order, as ListItems finds them. Ends with the
/// first error of `visit`.
Result<ListOutline> for_each_item(std::string_view list,
                                  const std::function<Status(std::string_view item)>& visit);

/// Erases a part of `text`, into which it points unless it is empty.
void cut(std::string_view part, std::string* text);

/// The text without managedFields, which are often half of it and which no typed object reads.
std::string without_managed_fields(std::string text);

}  // namespace regatta::kube
