#pragma once

#include "lib/base/error.h"

#include <cstddef>
#include <string_view>

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

/// For how many bytes an object with this JSON text counts in the ListLimits. These bound memory,
/// of which objects take up to three times their text, but many short entries take more. So an
/// object in a list counts for 64 bytes at least, a text in a list for 11, and a member of an
/// object of more than 32 members for 40.
std::size_t counted_bytes(std::string_view json);

}  // namespace regatta::kube
