#include "lab/apiserver/store.h"

#include "lab/apiserver/text.h"
#include "lib/base/check.h"

#include <boost/asio/post.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace regatta::apiserver {

Stored::Stored(std::string ns, std::string name, std::uint64_t version, Json value)
    : ns_(std::move(ns)),
      name_(std::move(name)),
      version_(version),
      value_(std::make_unique<const Json>(std::move(value))) {}

Stored::~Stored() = default;

const std::string& Stored::members() const {
  if (members_.empty()) members_ = members_text(*value_, &metadata_bytes_);
  return members_;
}

std::string Stored::metadata_member() const {
  return members().substr(0, metadata_bytes_) + "}";
}

std::string store_key(std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(ns.size() + name.size() + 1);
  if (!ns.empty()) key.append(ns).append("/");
  key.append(name);
  return key;
}

Shelf::Shelf(Executor executor, std::string name, std::uint64_t floor, std::size_t history_max)
    : name_(std::move(name)),
      floor_(floor),
      last_version_(floor),
      history_max_(history_max),
      changed_(executor) {}

StoredPtr Shelf::find(std::string_view ns, std::string_view name) const {
  const auto found = objects_.find(store_key(ns, name));
  return found == objects_.end() ? nullptr : found->second;
}

std::optional<Shelf::Objects> Shelf::changed_since(std::uint64_t version) const {
  if (version < floor_) return std::nullopt;
  Objects before;
  for (std::uint64_t i = change_after(version); i < end_change(); ++i) {
    const Change& later = change(i);
    // The first change tells what was there.
    before.try_emplace(store_key(later.object->ns(), later.object->name()), later.previous);
  }
  return before;
}

std::uint64_t Shelf::change_after(std::uint64_t version) const {
  const auto found =
      std::upper_bound(history_.begin(), history_.end(), version,
                       [](std::uint64_t v, const Change& change) { return v < change.version; });
  return first_change_ + static_cast<std::uint64_t>(found - history_.begin());
}

void Shelf::close() {
  closed_ = true;
  changed_.notify_all();
}

void Shelf::forget(std::uint64_t current) {
  first_change_ = end_change();
  history_.clear();
  floor_ = current;
}

void Shelf::apply(Change change) {
  const std::string key = store_key(change.object->ns(), change.object->name());
  if (change.type == ChangeType::deleted) {
    objects_.erase(key);
  } else {
    objects_[key] = change.object;
  }
  last_version_ = change.version;
  history_.push_back(std::move(change));
  if (history_.size() > history_max_) {
    floor_ = history_.front().version;
    history_.pop_front();
    ++first_change_;
  }
}

void Shelf::go_back(Objects objects, std::uint64_t version) {
  objects_ = std::move(objects);
  forget(version);
  ++first_change_;  // so that a watch which has seen everything ends too
  last_version_ = version;
}

Store::Store(Executor executor, std::size_t history_max, std::unique_ptr<Journal> journal)
    : executor_(executor),
      history_max_(history_max),
      journal_(std::move(journal)),
      flushed_(executor) {}

Store::~Store() {
  *alive_ = false;
}

Shelf& Store::shelf(const std::string& name) {
  auto& slot = shelves_[name];
  if (!slot) slot = std::make_unique<Shelf>(executor_, name, version_, history_max_);
  return *slot;
}

Shelf* Store::find_shelf(std::string_view name) {
  const auto found = shelves_.find(name);
  return found == shelves_.end() ? nullptr : found->second.get();
}

void Store::drop_shelf(const std::string& name) {
  const auto found = shelves_.find(name);
  if (found == shelves_.end()) return;
  for (const auto& [key, object] : found->second->objects()) {
    record(*found->second, key, nullptr);
  }
  found->second->close();
  dropped_.push_back(std::move(found->second));  // watches still hold references to it
  shelves_.erase(found);
}

std::vector<Shelf*> Store::shelves() {
  std::vector<Shelf*> all;
  for (auto& [name, shelf] : shelves_) all.push_back(shelf.get());
  return all;
}

StoredPtr Store::put(Shelf& shelf, std::string ns, std::string name, Json value) {
  ++version_;
  value["metadata"]["resourceVersion"] = std::to_string(version_);
  Change change;
  change.version = version_;
  change.previous = shelf.find(ns, name);
  change.type = change.previous ? ChangeType::modified : ChangeType::added;
  change.object =
      std::make_shared<Stored>(std::move(ns), std::move(name), version_, std::move(value));
  StoredPtr stored = change.object;
  record(shelf, store_key(stored->ns(), stored->name()), stored.get());
  if (on_change) on_change(shelf, change);
  shelf.apply(std::move(change));
  if (!journal_) shelf.changed_.notify_all();
  return stored;
}

StoredPtr Store::erase(Shelf& shelf, const Stored& current, Json last) {
  ++version_;
  last["metadata"]["resourceVersion"] = std::to_string(version_);
  Change change;
  change.version = version_;
  change.type = ChangeType::deleted;
  change.previous = shelf.find(current.ns(), current.name());
  REGATTA_CHECK(change.previous,
                "removing " + current.ns() + "/" + current.name() + ", which is not stored");
  change.object = std::make_shared<Stored>(current.ns(), current.name(), version_, std::move(last));
  StoredPtr stored = change.object;
  record(shelf, store_key(stored->ns(), stored->name()), nullptr);
  if (on_change) on_change(shelf, change);
  shelf.apply(std::move(change));
  if (!journal_) shelf.changed_.notify_all();
  return stored;
}

void Store::record(const Shelf& shelf, const std::string& key, const Stored* object) {
  if (!journal_) return;
  unwritten_.push_back({shelf.name(), key, version_, object ? dump_json(object->value()) : ""});
  if (flush_posted_) return;
  flush_posted_ = true;
  asio::post(executor_, [this, alive = alive_] {
    if (*alive) flush();
  });
}

void Store::flush() {
  flush_posted_ = false;
  const Status written = journal_->append(unwritten_);
  if (!written) {
    std::cerr << "apiserver: cannot write to the data directory: " << written.error().what()
              << "\n";
    std::abort();  // an answer must not promise what is not on disk
  }
  unwritten_.clear();
  flushed_.notify_all();
  for (auto& [name, shelf] : shelves_) shelf->changed_.notify_all();
}

Task<> Store::durable() {
  while (journal_ && !unwritten_.empty()) co_await flushed_.wait();
}

Status Store::restore() {
  if (!journal_) return ok();
  std::uint64_t highest = 0;
  const Status loaded = journal_->load(
      [this](JournalEntry entry) {
        Result<Json> value = parse_json(entry.text);
        if (!value || !value->is_object()) return;
        const std::size_t slash = entry.key.find('/');
        std::string ns = slash == std::string::npos ? "" : entry.key.substr(0, slash);
        std::string name = slash == std::string::npos ? entry.key : entry.key.substr(slash + 1);
        Shelf& home = shelf(entry.shelf);
        home.objects_[entry.key] = std::make_shared<Stored>(std::move(ns), std::move(name),
                                                            entry.version, std::move(*value));
      },
      &highest);
  if (!loaded) return loaded;
  version_ = std::max(version_, highest);
  compact();
  return ok();
}

void Store::compact() {
  for (auto& [name, shelf] : shelves_) {
    shelf->forget(version_);
    shelf->last_version_ = version_;
    shelf->changed_.notify_all();
  }
}

Store::Snapshot Store::snapshot() const {
  Snapshot out;
  out.version = version_;
  for (const auto& [name, shelf] : shelves_) out.objects[name] = shelf->objects();
  return out;
}

void Store::go_back(const Snapshot& snapshot, Versions versions) {
  REGATTA_CHECK(!journal_, "a store with a journal cannot go back");
  version_ = versions == Versions::go_on ? version_ + 1000 : snapshot.version;
  for (auto& [name, shelf] : shelves_) {
    const auto found = snapshot.objects.find(name);
    shelf->go_back(found == snapshot.objects.end() ? Shelf::Objects() : found->second, version_);
    shelf->changed_.notify_all();
  }
}

}  // namespace regatta::apiserver
