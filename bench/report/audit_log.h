#pragma once

#include "bench/report/requests.h"
#include "lib/base/error.h"

#include <string>
#include <string_view>

namespace regatta::bench {

/// The users of a cluster with a kube-apiserver, which its audit log tells apart.
namespace users {
inline constexpr const char* bench = "admin";  ///< the measuring process
inline constexpr const char* hub = "hub";      ///< the hub's manager, on a worker
inline constexpr const char* manager = "manager";
inline constexpr const char* nodes = "nodes";
}  // namespace users

/// What kube-apiserver logs: one line for each answered request for objects, but for those of the
/// measuring process and of the server itself.
std::string audit_policy();

/// The requests in the text of such a log, which begins with a line. A last line without its end is
/// not counted. `invalid` names a line that is not an audit event.
Result<Requests> read_audit_log(std::string cluster, std::string_view text);

}  // namespace regatta::bench
