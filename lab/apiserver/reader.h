#pragma once

#include "lab/apiserver/core.h"
#include "lab/apiserver/options.h"
#include "lab/apiserver/output.h"

namespace regatta::apiserver {

/// The limits of a list or watch.
struct Scope {
  ResourceTypePtr type;
  std::string ns;  ///< empty: across namespaces
  ListOptions options;
};

/// Waits until the store has reached `version`; a refusal when that takes too long.
Task<std::optional<Failure>> wait_for_version(Core& core, std::uint64_t version);

Task<Answer<net::HttpResponse>> get_object(Core& core, Exchange& exchange, ResourceTypePtr type,
                                           std::string ns, std::string name);
Task<Answer<net::HttpResponse>> list_objects(Core& core, Exchange& exchange, Scope scope);

/// The list of `objects` in the form that the client asked for.
Answer<net::HttpResponse> respond_list(Core& core, const Exchange& exchange,
                                       const ResourceType& type,
                                       const std::vector<StoredPtr>& objects,
                                       const Json& list_metadata);

/// Opens a watch; the body of the answer is a stream.
Answer<net::HttpResponse> watch_objects(Core& core, const Exchange& exchange, Scope scope);

}  // namespace regatta::apiserver
