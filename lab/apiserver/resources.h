#pragma once

#include "lab/apiserver/auth.h"
#include "lab/apiserver/reader.h"
#include "lab/apiserver/writer.h"

namespace regatta::apiserver {

using Reply = Answer<net::HttpResponse>;

/// Answers requests for resources: finds the type, then the verb or the subresource.
class ResourceHandler {
 public:
  ResourceHandler(Core& core, ObjectWriter& writer, Authenticator& tokens)
      : core_(core), writer_(writer), tokens_(tokens) {}

  Task<Reply> handle(Exchange& exchange);

 private:
  Task<Reply> read(Exchange& exchange, ResourceTypePtr type);
  Task<Reply> collection_delete(Exchange& exchange, ResourceTypePtr type);
  Task<Reply> create(Exchange& exchange, const ResourceTypePtr& type);
  Task<Reply> update(Exchange& exchange, const ResourceTypePtr& type);
  Task<Reply> patch(Exchange& exchange, const ResourceTypePtr& type);
  Task<Reply> remove(Exchange& exchange, const ResourceTypePtr& type);
  Task<Reply> subresource(Exchange& exchange, ResourceTypePtr type);
  Task<Reply> status(Exchange& exchange, const ResourceTypePtr& type);
  Task<Reply> written(const Exchange& exchange, const ResourceType& type, const Written& result);

  Core& core_;
  ObjectWriter& writer_;
  Authenticator& tokens_;
};

/// The type that a request is for, or the answer when there is none.
Answer<ResourceTypePtr> find_type(const Core& core, const RequestInfo& info,
                                  const std::string& method);

/// Checks that the URL and the body have the same names; sets the namespace.
std::optional<Failure> check_names(const Exchange& exchange, const ResourceType& type,
                                   Json& object);

// Subresources with handlers of their own.
Task<Reply> finalize_namespace(Core& core, ObjectWriter& writer, Exchange& exchange,
                               const ResourceTypePtr& type);
Reply pod_binding(Core& core, ObjectWriter& writer, Exchange& exchange,
                  const ResourceTypePtr& type);
Task<Reply> pod_eviction(Core& core, ObjectWriter& writer, Exchange& exchange,
                         const ResourceTypePtr& type);
/// exec, attach and portforward: refused, because nodes run nothing.
Reply pod_stream(Core& core, const Exchange& exchange, const ResourceTypePtr& type);
Reply pod_log(Core& core, Exchange& exchange, const ResourceTypePtr& type);
Task<Reply> scale(Core& core, ObjectWriter& writer, Exchange& exchange,
                  const ResourceTypePtr& type);
Reply account_token(Core& core, const Authenticator& tokens, Exchange& exchange);

/// The object after a patch of `live` (null: an apply creates it), managedFields included.
Answer<Json> patched_object(Core& core, Exchange& exchange, const ResourceType& type,
                            const Json* live, const WriteOptions& options,
                            std::string_view subresource);
/// Checks whether a kind takes this patch type; 415 if not, 400 for malformed patches.
std::optional<Failure> check_patch(const Exchange& exchange, const ResourceType& type,
                                   const WriteOptions& options);
bool is_apply(const Exchange& exchange);

}  // namespace regatta::apiserver
