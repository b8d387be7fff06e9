#include "lab/apiserver/patch/apply.h"

#include "lab/apiserver/patch/typed.h"
#include "lab/terms.h"
#include "lib/base/json_access.h"
#include "lib/manifest/fields/go_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace regatta::apiserver {
namespace {

constexpr const char* before_first_apply = "before-first-apply";
constexpr const char* kubectl_manager = "kubectl";
constexpr const char* last_applied_annotation = "kubectl.kubernetes.io/last-applied-configuration";

/// `apps/v1, Kind=Deployment`; the core group is `/v1, Kind=…`.
std::string kind_text(const std::string& api_version, const std::string& kind) {
  std::string prefix = api_version.find('/') == std::string::npos ? "/" : "";
  return prefix + api_version + ", Kind=" + kind;
}

std::string who(const Json& object) {
  static const Json empty = Json::object();
  const Json* metadata = object_at(object, "metadata");
  if (!metadata) metadata = &empty;
  return text_at(*metadata, "namespace") + "/" + text_at(*metadata, "name") + "; " +
         kind_text(text_at(object, "apiVersion"), text_at(object, "kind"));
}

std::string joined_errors(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return errors[0];
  std::string text = "errors:";
  for (const std::string& error : errors) text += "\n  " + error;
  return text;
}

std::string manager_text(const ManagedEntry& entry) {
  std::string text = go_quoted(entry.manager);
  if (!entry.subresource.empty()) text += " with subresource " + go_quoted(entry.subresource);
  if (!entry.applied) text += " using " + entry.api_version;
  return text;
}

struct ConflictsOf {
  const ManagedEntry* manager;
  FieldSet fields;
};

PatchFailure conflict_failure(std::vector<ConflictsOf> conflicts) {
  std::map<std::string, std::vector<std::string>> paths_by_manager;
  for (const ConflictsOf& conflict : conflicts) {
    std::vector<std::string>& paths = paths_by_manager[manager_text(*conflict.manager)];
    for (std::string& path : path_strings(conflict.fields)) paths.push_back(std::move(path));
  }
  PatchFailure failure{409, "Conflict", "", true, {}};
  for (const auto& [manager, paths] : paths_by_manager) {
    for (const std::string& path : paths) {
      failure.causes.push_back(
          FieldError{"FieldManagerConflict", path, "conflict with " + manager});
    }
  }
  const std::size_t count = failure.causes.size();
  if (count == 1) {
    failure.message = "Apply failed with 1 conflict: " + failure.causes[0].message + ": " +
                      failure.causes[0].field;
    return failure;
  }
  failure.message = "Apply failed with " + std::to_string(count) + " conflicts: ";
  bool first = true;
  for (const auto& [manager, paths] : paths_by_manager) {
    failure.message += (first ? "conflicts with " : "\nconflicts with ") + manager + ":";
    for (const std::string& path : paths) failure.message += "\n- " + path;
    first = false;
  }
  return failure;
}

/// The fields that `kubectl apply` applied to the object before it used managedFields.
FieldSet last_applied_fields(const Json& live, const ApplyOptions& options) {
  const Json* metadata = object_at(live, "metadata");
  const Json* annotations = metadata ? object_at(*metadata, "annotations") : nullptr;
  if (!annotations) return {};
  Result<Json> last = parse_json(text_at(*annotations, last_applied_annotation));
  if (!last || text_at(*last, "apiVersion") != options.writer.api_version) return {};
  return field_set_of(*last, options.writer.schema);
}

/// kubectl keeps the annotation up to date on objects that have it.
void refresh_last_applied(Json* object, const Json& live, const Json& applied,
                          const ApplyOptions& options) {
  if (options.writer.manager != kubectl_manager) return;
  const Json* metadata = object_at(live, "metadata");
  const Json* annotations = metadata ? object_at(*metadata, "annotations") : nullptr;
  if (!annotations || text_at(*annotations, last_applied_annotation).empty()) return;
  Json shown = applied;
  if (Json* own = shown.contains("metadata") ? &shown["metadata"] : nullptr) {
    if (own->is_object()) {
      own->erase("managedFields");
      auto found = own->find("annotations");
      if (found != own->end() && found->is_object()) found->erase(last_applied_annotation);
    }
  }
  (*object)["metadata"]["annotations"][last_applied_annotation] = dump_json(shown) + "\n";
}

class Application {
 public:
  Application(const Json& live, const Json& applied, const ApplyOptions& options)
      : options_(options), schema_(options.writer.schema), live_(live), applied_(applied) {
    ignored_ = field_set_of_paths(options.writer.ignored);
  }

  PatchAnswer<Json> run() {
    if (std::optional<PatchFailure> refusal = check_applied()) return *refusal;
    take_live_entries();
    if (!ignored_.empty()) applied_ = remove_fields(applied_, ignored_, schema_);
    Json merged = merge_typed(live_, applied_, schema_);
    FieldSet before = own_entry().fields;
    own_entry().fields = field_set_of(applied_, schema_);
    own_entry().api_version = options_.writer.api_version;
    merged = prune(merged, before);
    if (std::optional<PatchFailure> conflict = take_ownership(merged)) return *conflict;
    ManagedEntry& own = own_entry();
    own.fields = difference(own.fields, unowned_fields());
    if (merged != live_) own.time = format_rfc3339(options_.writer.now);
    std::erase_if(entries_, [](const ManagedEntry& entry) { return entry.fields.empty(); });
    refresh_last_applied(&merged, live_, applied_, options_);
    set_managed_entries(&merged, entries_);
    return merged;
  }

 private:
  std::optional<PatchFailure> check_applied() const {
    std::string version = text_at(applied_, "apiVersion");
    std::string kind = text_at(applied_, "kind");
    if (version != options_.writer.api_version || kind != options_.kind) {
      std::string said = version.empty() && kind.empty() ? "/, Kind=" : kind_text(version, kind);
      return bad_patch("invalid object type: " + said);
    }
    const Json* metadata = object_at(applied_, "metadata");
    if (metadata && metadata->contains("managedFields") &&
        !metadata->at("managedFields").is_null()) {
      return bad_patch("metadata.managedFields must be nil");
    }
    std::vector<std::string> errors = typing_errors(applied_, schema_);
    if (errors.empty()) return std::nullopt;
    return failed_patch("failed to create typed patch object (" + who(applied_) +
                        "): " + joined_errors(errors));
  }

  /// Reads the owners so far. An object without owners gets one for all its fields, so that the
  /// first apply does not take them silently.
  void take_live_entries() {
    entries_ = managed_entries_of(live_);
    auto metadata = live_.find("metadata");
    if (metadata != live_.end() && metadata->is_object()) metadata->erase("managedFields");
    if (entries_.empty() && !live_.empty()) {
      Writer earlier = options_.writer;
      earlier.manager = before_first_apply;
      const std::string& version = options_.writer.api_version;
      std::string_view number = std::string_view(version).substr(version.find('/') + 1);
      Json blank = blank_object(options_.group, number, options_.kind);
      Json tracked = live_;
      track_write(&tracked, blank, earlier);
      entries_ = managed_entries_of(tracked);
    }
  }

  ManagedEntry& own_entry() {
    ManagedEntry own;
    own.manager = options_.writer.manager;
    own.applied = true;
    own.subresource = options_.writer.subresource;
    for (ManagedEntry& entry : entries_) {
      if (entry.same_manager(own)) return entry;
    }
    entries_.push_back(std::move(own));
    return entries_.back();
  }

  /// Removes from `merged` the fields that this manager applied before, does not apply now, and
  /// owned alone.
  Json prune(const Json& merged, const FieldSet& before) const {
    if (before.empty()) return merged;
    FieldSet managed;
    for (const ManagedEntry& entry : entries_) managed = united(managed, entry.fields);
    managed = with_named_parents(managed, schema_);
    FieldSet last = with_named_parents(before, schema_);
    if (difference(last, managed).empty()) return merged;
    auto all_fields = [this](const Json& object) {
      return with_named_parents(field_set_of(object, schema_), schema_);
    };
    FieldSet in_merged = all_fields(merged);
    Json pruned = remove_fields(merged, last, schema_);
    FieldSet kept = united(all_fields(pruned), managed);
    pruned = remove_fields(merged, difference(in_merged, kept), schema_);
    FieldSet gone = intersection(difference(in_merged, all_fields(pruned)), last);
    // A container that is applied as empty stays although its last item is removed.
    return merge_typed(remove_fields(merged, gone, schema_), applied_, schema_);
  }

  std::optional<PatchFailure> take_ownership(const Json& merged) {
    Comparison comparison = compare(live_, merged, schema_, ignored_.empty() ? nullptr : &ignored_);
    if (comparison.empty()) return std::nullopt;
    const ManagedEntry* own = &own_entry();
    std::vector<ConflictsOf> conflicts;
    for (const ManagedEntry& entry : entries_) {
      if (&entry == own) continue;
      FieldSet both = intersection(entry.fields, comparison.changed);
      if (!both.empty()) conflicts.push_back(ConflictsOf{&entry, std::move(both)});
    }
    if (!conflicts.empty() && !options_.force && !superseded_by_kubectl(conflicts)) {
      return conflict_failure(std::move(conflicts));
    }
    for (ManagedEntry& entry : entries_) {
      if (&entry != own) entry.fields = difference(entry.fields, comparison.changed);
      entry.fields = difference(entry.fields, comparison.removed);
    }
    return std::nullopt;
  }

  /// kubectl may take over the fields that it applied from the client side before.
  bool superseded_by_kubectl(const std::vector<ConflictsOf>& conflicts) const {
    if (options_.writer.manager != kubectl_manager) return false;
    FieldSet allowed = last_applied_fields(live_, options_);
    return std::all_of(conflicts.begin(), conflicts.end(), [&](const ConflictsOf& conflict) {
      return difference(conflict.fields, allowed).empty();
    });
  }

  const ApplyOptions& options_;
  const Schema* schema_;
  Json live_, applied_;
  FieldSet ignored_;
  ManagedEntries entries_;
};

}  // namespace

PatchAnswer<Json> apply(const Json& live, const Json& applied, const ApplyOptions& options) {
  if (!applied.is_object()) return bad_patch("invalid object type: /, Kind=");
  return Application(live, applied, options).run();
}

}  // namespace regatta::apiserver
