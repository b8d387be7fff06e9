#include "lib/runtime/turn.h"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace regatta {

Task<> Turn::pass() {
  work_ = Duration(0);
  co_await asio::post(asio::use_awaitable);
}

}  // namespace regatta
