#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace regatta {

namespace asio = boost::asio;

/// A coroutine. It starts when awaited or spawned on a TaskScope, and throws
/// boost::system::system_error(operation_aborted) when cancelled; no code swallows that.
template <class T = void>
using Task = asio::awaitable<T>;

using Executor = asio::any_io_executor;

}  // namespace regatta
