#pragma once

#include "lib/base/error.h"

#include <cstddef>

namespace regatta::kube {

/// The longest JSON text of one object that is taken from an API server: as an item of a list, as
/// an event of a watch or as the answer to a request. What the server itself stores is shorter:
/// etcd refuses 1.5 MiB. A longer text is not parsed, because its tree may take 25 times as
/// much memory. It is `too_large`, as more objects than the ListLimits allow are.
inline constexpr std::size_t object_bytes_max = 4u << 20;

inline Status check_object_bytes(std::size_t bytes) {
  if (bytes <= object_bytes_max) return ok();
  return Error(Errc::too_large, "an object of more than 4 MiB");
}

}  // namespace regatta::kube
