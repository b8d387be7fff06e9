#pragma once

#include "lab/apiserver/auth.h"
#include "lab/apiserver/output.h"

namespace regatta::apiserver {

/// A strategy without rules, for kinds that are never stored.
std::shared_ptr<const Strategy> plain_strategy();

/// Registers the kinds that are only ever created: access and token reviews.
void add_review_types(Registry& registry);

/// The answer to the creation of a review; null when the type is not a review.
std::optional<Answer<net::HttpResponse>> review(Core& core, const Authenticator& tokens,
                                                const Authorizer& authorizer, Exchange& exchange);

}  // namespace regatta::apiserver
