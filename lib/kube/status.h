#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/net/http.h"

namespace regatta::kube {

/// The failure an answer stands for: the one place where an HTTP status becomes an Errc. The
/// message, reason and causes of a metav1.Status body are kept; of another body, and of one of more
/// than 64 KiB, only its beginning is. `response.status` is not 2xx.
Error error_of(const net::HttpResponse& response);

/// The failure a metav1.Status object stands for, as a watch's ERROR event carries it.
Error error_of_status_object(const Json& status);

/// The reason of the Status behind `e`, or empty.
std::string_view reason_of(const Error& e);

/// Whether a write that ended with `e` may have been applied nevertheless: it was sent and no
/// server refused it. If so, read again before deciding anything.
bool may_have_happened(const Error& e);

/// Whether the server knows the user and does not let it. That is no failure which passes by
/// itself.
bool is_forbidden(const Error& e);

/// Whether the server does not take what was written, and never will: a policy, a quota of objects,
/// a webhook, the schema. That the credentials or a certificate are no longer good, or that this
/// process may not write, is not the object's fault.
bool is_refusal(const Error& e);

}  // namespace regatta::kube
