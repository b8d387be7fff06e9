#include "visibility/summary.h"

#include "lib/base/clock.h"
#include "lib/base/json.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::visibility {
namespace {

/// Names mostly need no escapes.
void append_text(std::string* out, std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
  });
  if (!plain) {
    *out += dump_json(Json(text));
    return;
  }
  *out += '"';
  *out += text;
  *out += '"';
}

/// A member of an object; the name brings its comma and colon.
void append_member(std::string* out, std::string_view name, std::string_view text) {
  *out += name;
  append_text(out, text);
}
void append_member(std::string* out, std::string_view name, std::int64_t number) {
  *out += name;
  *out += std::to_string(number);
}

void append_metadata(std::string* out, const api::ObjectMeta& metadata) {
  append_member(out, "{\"name\":", metadata.name);
  append_member(out, ",\"namespace\":", metadata.ns);
  if (metadata.creation_timestamp) {
    append_member(out, ",\"creationTimestamp\":", format_rfc3339(*metadata.creation_timestamp));
  }
  const char* before = ",\"ownerReferences\":[{\"apiVersion\":";
  for (const api::OwnerReference& owner : metadata.owner_references) {
    append_member(out, before, owner.api_version);
    append_member(out, ",\"kind\":", owner.kind);
    append_member(out, ",\"name\":", owner.name);
    append_member(out, ",\"uid\":", owner.uid);
    *out += '}';
    before = ",{\"apiVersion\":";
  }
  *out += metadata.owner_references.empty() ? "}" : "]}";
}

}  // namespace

std::string summary_text(std::string_view version,
                         const std::vector<admission::PendingPlace>& places, const Source& source) {
  constexpr std::size_t item_bytes = 220;
  std::string out = "{\"kind\":\"PendingWorkloadsSummary\",\"apiVersion\":\"" + std::string(group) +
                    "/" + std::string(version) + "\",\"metadata\":{},\"items\":[";
  out.reserve(out.size() + places.size() * item_bytes);
  const char* before = "{\"metadata\":";
  for (const admission::PendingPlace& place : places) {
    const admission::WorkloadEntry& entry = source.queues.workloads()[place.id];
    const auto seen = source.find(entry.key);
    if (!seen) continue;
    out += before;
    append_metadata(&out, *seen->metadata);
    append_member(&out, ",\"priority\":", seen->priority);
    append_member(&out,
                  ",\"localQueueName\":", source.queues.local_queue(entry.local_queue).key.name);
    append_member(
        &out, ",\"positionInClusterQueue\":", static_cast<std::int64_t>(place.in_cluster_queue));
    append_member(&out,
                  ",\"positionInLocalQueue\":", static_cast<std::int64_t>(place.in_local_queue));
    out += '}';
    before = ",{\"metadata\":";
  }
  return out + "]}";
}

}  // namespace regatta::visibility
