#pragma once

#include "lab/apiserver/patch/field_set.h"
#include "lab/terms.h"
#include "lib/base/clock.h"
#include "lib/manifest/schema/schema.h"

#include <string>
#include <string_view>
#include <vector>

/// metadata.managedFields: which manager owns which fields of an object. An ordinary write owns the
/// fields that it changes. Fields that the server keeps (name, uid, generation …) have no owner.
namespace regatta::apiserver {

/// The manager of a write and its circumstances.
struct Writer {
  std::string manager;
  std::string api_version;  ///< of the request: "batch/v1"
  std::string subresource;  ///< empty: the main resource
  /// Paths ("status", "metadata.labels") that this write does not change, whatever the client
  /// sends: they get no new owner. See default_ignored_fields().
  std::vector<std::string> ignored;
  /// The schema of the whole object, with metadata typed as ObjectMeta (see complete_schema());
  /// null: untyped.
  const Schema* schema = nullptr;
  TimePoint now{};
};

/// The paths that a write to the subresource (empty: the object itself) does not change.
std::vector<std::string> default_ignored_fields(bool custom, bool has_status,
                                                std::string_view subresource);

/// The manager of a request without fieldManager: the User-Agent up to its first slash, cut to 128
/// bytes of printable characters.
std::string manager_of_user_agent(std::string_view user_agent);

/// An object of the kind as the API machinery creates it, with its empty structures. Creates are
/// compared with it.
const Json& blank_object(std::string_view group, std::string_view version, std::string_view kind);

/// Sets `object`'s managedFields for a create (`live` is blank_object(), or an empty object for
/// custom resources), an update, or a non-apply patch of `live`. To be called after defaults are
/// set and before the strategy prepares the object. The managedFields in `object` are those that
/// the client sent: `[]` and `[{}]` reset them, a valid list replaces them, and anything else is
/// replaced by those of `live`.
void track_write(Json* object, const Json& live, const Writer& writer);

/// When `object` differs from `live` only in times of managedFields, takes those of `live`, so that
/// nothing is written.
void ignore_time_only_change(Json* object, const Json& live);

/// One entry, decoded.
struct ManagedEntry {
  std::string manager;
  bool applied = false;  ///< operation Apply, else Update
  std::string api_version;
  std::string subresource;
  std::string time;  ///< RFC 3339; may be empty
  FieldSet fields;

  /// Whether both belong to the same manager: the same name, operation and subresource, and for
  /// updates the same version.
  bool same_manager(const ManagedEntry& other) const;
  friend bool operator==(const ManagedEntry&, const ManagedEntry&) = default;
};
using ManagedEntries = std::vector<ManagedEntry>;

Result<ManagedEntries> decode_managed_fields(const Json& list);
/// In the API server's order: applies first, then by time, then by name.
Json encode_managed_fields(const ManagedEntries& entries);
/// The entries of an object; empty when it has none or they cannot be read.
ManagedEntries managed_entries_of(const Json& object);
/// Replaces metadata.managedFields; removes it when `entries` is empty.
void set_managed_entries(Json* object, const ManagedEntries& entries);

/// Paths that never have an owner.
const FieldSet& unowned_fields();
/// The set of dotted paths of member names.
FieldSet field_set_of_paths(const std::vector<std::string>& dotted_paths);

/// A Scale shows the owners of its object's replicas. `replicas_path` is the path in the object, as
/// in ".spec.replicas".
Json managed_fields_of_scale(const Json& object, std::string_view replicas_path);
/// Carries the changes that a write through /scale made to the Scale's managedFields back to the
/// object; `api_version` is that of the object.
void merge_managed_fields_of_scale(Json* object, const Json& scale_entries,
                                   std::string_view replicas_path, std::string_view api_version);

}  // namespace regatta::apiserver
