#include "lab/federation/free_ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace regatta::lab {

FreePorts::~FreePorts() {
  for (const int socket : held_) ::close(socket);
}

std::uint16_t FreePorts::next() {
  const int held = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (held < 0) return 0;
  held_.push_back(held);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof(address);
  if (::bind(held, any, length) != 0 || ::getsockname(held, any, &length) != 0) return 0;
  // Only after the bind: with it before, the system could give one port twice.
  const int yes = 1;
  if (::setsockopt(held, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0) return 0;
  return ntohs(address.sin_port);
}

}  // namespace regatta::lab
