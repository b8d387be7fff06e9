#include "lab/federation/free_ports.h"

#include "lib/net/tcp.h"

#include <boost/asio/ip/tcp.hpp>
#include <gtest/gtest.h>

#include <set>

namespace regatta::lab {
namespace {

using boost::asio::ip::tcp;

class FreePort : public ::testing::Test {
 protected:
  /// Binds as an outgoing connection does, without SO_REUSEADDR.
  bool is_for_others(std::uint16_t port) {
    tcp::socket socket(io, tcp::v4());
    boost::system::error_code refused;
    socket.bind({boost::asio::ip::address_v4::loopback(), port}, refused);
    return !refused;
  }

  boost::asio::io_context io;
};

TEST_F(FreePort, IsForItsServerAloneAlsoWhenThatStartsAgain) {
  FreePorts ports;
  const std::uint16_t port = ports.next();
  ASSERT_NE(port, 0);
  for (int starts = 0; starts < 2; ++starts) {
    EXPECT_FALSE(is_for_others(port));
    const auto server = net::listen_tcp(io.get_executor(), "127.0.0.1", port);
    EXPECT_TRUE(server) << server.error().what();
  }
  EXPECT_FALSE(is_for_others(port));
}

TEST_F(FreePort, IsADifferentOneEachTime) {
  FreePorts ports;
  std::set<std::uint16_t> given;
  for (int i = 0; i < 300; ++i) given.insert(ports.next());
  EXPECT_EQ(given.size(), 300u);
  EXPECT_FALSE(given.contains(0));
}

TEST_F(FreePort, IsForOthersAfterwards) {
  const std::uint16_t port = FreePorts().next();
  EXPECT_TRUE(is_for_others(port));
}

}  // namespace
}  // namespace regatta::lab
