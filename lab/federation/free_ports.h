#pragma once

#include <cstdint>
#include <vector>

namespace regatta::lab {

/// Loopback ports that were free when asked for, each a different one. While this lives, the system
/// gives them to no other listener that asks for any port and to no outgoing connection, but a
/// server that sets SO_REUSEADDR can listen on them. Child processes inherit nothing.
class FreePorts {
 public:
  FreePorts() = default;
  FreePorts(const FreePorts&) = delete;
  ~FreePorts();
  /// 0 when there is none.
  std::uint16_t next();

 private:
  std::vector<int> held_;  ///< sockets, bound but not listening
};

}  // namespace regatta::lab
