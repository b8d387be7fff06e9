#pragma once

#include "lib/api/field_errors.h"
#include "lib/api/quantity.h"
#include "lib/base/json.h"

#include <string>

// Rules of fields that several kinds share. `path` is where the field is.
namespace regatta::webhooks {

constexpr std::string_view negative = "must be greater than or equal to 0";
constexpr std::string_view immutable = "field is immutable";

/// The quantity that read_shaped() has read; 0 when there is none.
api::Quantity quantity_of(const Json* value);

void check_not_negative(const api::Quantity& quantity, const std::string& path,
                        api::ErrorList* errors);
void check_label_name(const std::string& key, const std::string& path, api::ErrorList* errors);
void check_labels(const Json& parent, const std::string& name, const std::string& path,
                  api::ErrorList* errors);
void check_annotations(const Json& parent, const std::string& name, const std::string& path,
                       api::ErrorList* errors);
void check_selector(const Json& selector, const std::string& path, api::ErrorList* errors);
void check_tolerations(const Json& parent, const std::string& path, api::ErrorList* errors);
void check_conditions(const Json& status, const std::string& path, api::ErrorList* errors);
/// spec.fairSharing
void check_weight(const Json& spec, api::ErrorList* errors);

constexpr std::size_t annotation_bytes_max = 256 * 1024;
constexpr std::size_t condition_reason_max = 1024;
constexpr std::size_t condition_message_max = 32 * 1024;

}  // namespace regatta::webhooks
