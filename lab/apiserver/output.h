#pragma once

#include "lab/apiserver/core.h"
#include "lab/apiserver/negotiate.h"
#include "lib/net/http.h"

#include <string>
#include <vector>

namespace regatta::apiserver {

/// A request on its way to an answer; collects warnings.
struct Exchange {
  const net::HttpRequest& request;
  RequestInfo info;
  UserInfo user;
  Form form;
  std::vector<std::string> warnings;
};

/// The text of one stored object in the version of `type`.
std::string text_of(const Stored& object, const ResourceType& type);
/// The object in the version of `type`.
Json in_version(const Json& stored, const ResourceType& type);

net::HttpResponse respond_json(const Exchange& exchange, unsigned status, std::string json_text);
net::HttpResponse respond_json(const Exchange& exchange, unsigned status, const Json& value);
net::HttpResponse respond_failure(const Exchange& exchange, const Failure& failure);
net::HttpResponse respond_text(unsigned status, std::string text);

/// One object in the form that the client asked for: itself, a Table of one row, or its metadata.
Answer<net::HttpResponse> respond_object(const Exchange& exchange, unsigned status,
                                         const Json& object, const ResourceType& type,
                                         TimePoint now);

/// PartialObjectMetadata of `object`.
Json partial_metadata(const Json& object, const std::string& version);
/// A Table. Its `columns` are null after the first event of a watch.
Answer<Json> table_of(const std::vector<const Json*>& objects, const ResourceType& type,
                      const Json& list_metadata, const Exchange& exchange, bool with_columns,
                      TimePoint now);

}  // namespace regatta::apiserver
