#pragma once

#include "lab/apiserver/request.h"
#include "lab/terms.h"
#include "lib/manifest/failure.h"
#include "lib/manifest/fields/field_validation.h"

#include <cstdint>
#include <optional>
#include <string>

namespace regatta::apiserver {

using Validation = FieldValidation;

/// CreateOptions, UpdateOptions and PatchOptions.
struct WriteOptions {
  bool dry_run = false;
  bool force = false;
  bool force_set = false;
  std::string field_manager;
  Validation field_validation = Validation::warn;
};

/// `kind`: CreateOptions, UpdateOptions or PatchOptions, as the refusal names it.
Answer<WriteOptions> read_write_options(const Query& query, std::string_view kind);

/// The manager of a write: the fieldManager, else the User-Agent up to its first slash.
std::string manager_name(const WriteOptions& options, std::string_view user_agent);

struct DeleteOptions {
  bool dry_run = false;
  std::optional<std::int64_t> grace_period_seconds;
  std::string propagation_policy;  ///< Foreground, Background, Orphan or empty
  std::string uid;                 ///< preconditions
  std::string resource_version;
};

/// From the body if there is one, else from the query.
Answer<DeleteOptions> read_delete_options(const Query& query, const Json* body);

struct ListOptions {
  std::string label_selector;
  std::string field_selector;
  std::string resource_version;
  std::string resource_version_match;
  std::string continue_token;
  std::int64_t limit = 0;
  bool watch = false;
  bool allow_bookmarks = false;
  bool has_send_initial_events = false;
  bool send_initial_events = false;
  std::int64_t timeout_seconds = 0;
  bool from_start() const { return resource_version.empty() || resource_version == "0"; }
};

Answer<ListOptions> read_list_options(const RequestInfo& info);

/// "" and "0" are 0. The text of the error is Go's.
Result<std::uint64_t> parse_version(std::string_view text);
/// `resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`.
std::string version_error(std::string_view text);

}  // namespace regatta::apiserver
