#pragma once

#include "lab/terms.h"
#include "lib/base/clock.h"
#include "lib/manifest/registry.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regatta::apiserver {

/// The parts of a GET below /openapi that decide its answer.
struct OpenApiRequest {
  std::string path;  ///< /openapi/v2, /openapi/v3, /openapi/v3/apis/batch/v1 …
  std::string hash;  ///< query parameter of that name; may be empty
  std::string accept;
  std::string if_none_match;
  std::string if_modified_since;
};

struct OpenApiAnswer {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

/// The OpenAPI documents of a registry: an index of version 3 whose URLs carry hashes, one document
/// for each group version, and a version 2 document with only what clients need in order to go on
/// without it. A document is made at the first request, and again after the registry changed.
class OpenApi {
 public:
  OpenApi(const Registry& registry, const Clock& clock) : registry_(registry), clock_(clock) {}

  OpenApiAnswer answer(const OpenApiRequest& request);

 private:
  struct Document {
    std::string body;
    std::string hash;
  };
  void refresh();
  OpenApiAnswer index(const OpenApiRequest& request) const;
  OpenApiAnswer document(const OpenApiRequest& request) const;
  OpenApiAnswer swagger(const OpenApiRequest& request) const;

  const Registry& registry_;
  const Clock& clock_;
  bool made_ = false;
  std::uint64_t revision_ = 0;
  TimePoint modified_at_{};                    ///< later with every change
  std::string modified_;                       ///< RFC 1123: when the documents were made
  std::map<std::string, Document> documents_;  ///< by "api/v1", "apis/batch/v1"
  std::string index_;
};

/// The document of one group version, as JSON.
Json openapi_document(const Registry& registry, std::string_view group, std::string_view version);
/// The name of a kind in it: dev.example.v1.Widget for custom resources.
std::string openapi_name(const ResourceType& type);

}  // namespace regatta::apiserver
