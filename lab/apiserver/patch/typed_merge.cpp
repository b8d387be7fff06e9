#include "lab/apiserver/patch/typed.h"

#include <nlohmann/json.hpp>

#include <map>
#include <set>

namespace regatta::apiserver {
namespace {

struct Item {
  std::string element;
  const Json* value;
};

std::vector<Item> items_of(const Json& list, const Schema& schema) {
  std::vector<Item> items;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Result<std::string> element = item_element(schema, list[i]);
    // An item without identity is named by its index.
    items.push_back(Item{element ? *element : "i:" + std::to_string(i), &list[i]});
  }
  return items;
}

/// Merges two lists item by item. Applied items keep their order; a live item that is not applied
/// stays before the applied item that it preceded.
class ListMerge {
 public:
  ListMerge(const Json& live, const Json& applied, const Schema& schema)
      : schema_(schema), live_(items_of(live, schema)), applied_(items_of(applied, schema)) {
    for (const Item& item : live_) ++live_count_[item.element];
    for (const Item& item : live_) live_by_element_[item.element] = item.value;
    for (const Item& item : applied_) applied_elements_.insert(item.element);
  }

  Json run() {
    std::size_t l = 0;
    std::size_t r = 0;
    while (l < live_.size() || r < applied_.size()) {
      if (l < live_.size() && !applied_elements_.contains(live_[l].element)) {
        out_.push_back(*live_[l++].value);
      } else if (l < live_.size() && live_[l].element != next_shared(r)) {
        ++l;  // it is inserted, or was, at its applied position
      } else {
        const Item& item = applied_[r++];
        if (l < live_.size() && live_[l].element == item.element) ++l;
        out_.push_back(merged(item));
      }
    }
    return std::move(out_);
  }

 private:
  /// The first applied item from `from` on that is live as well; empty when there is none.
  std::string_view next_shared(std::size_t from) const {
    for (std::size_t i = from; i < applied_.size(); ++i) {
      if (live_count_.contains(applied_[i].element)) return applied_[i].element;
    }
    return {};
  }

  Json merged(const Item& item) const {
    auto count = live_count_.find(item.element);
    if (count == live_count_.end() || count->second != 1) return *item.value;
    return merge_typed(*live_by_element_.at(item.element), *item.value, schema_.items.get());
  }

  const Schema& schema_;
  std::vector<Item> live_, applied_;
  std::map<std::string, int> live_count_;
  std::map<std::string, const Json*> live_by_element_;
  std::set<std::string> applied_elements_;
  Json out_ = Json::array();
};

}  // namespace

Json merge_typed(const Json& live, const Json& applied, const Schema* schema) {
  Shape shape = shape_of(schema, applied.is_null() ? live : applied);
  if (applied.is_null() && shape != Shape::leaf && !live.empty()) return live;
  if (shape == Shape::leaf || applied.is_null() || live.type() != applied.type()) return applied;
  if (shape != Shape::map) {
    if (applied.empty()) return live;
    return ListMerge(live, applied, *schema).run();
  }
  Json merged = live;
  for (const auto& [name, value] : applied.items()) {
    auto found = merged.find(name);
    if (found == merged.end()) {
      merged[name] = value;
    } else {
      *found = merge_typed(*found, value, member_type(schema, name).schema);
    }
  }
  return merged;
}

}  // namespace regatta::apiserver
