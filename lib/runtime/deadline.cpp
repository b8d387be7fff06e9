#include "lib/runtime/deadline.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace regatta {

Task<bool> finishes_first(Task<> op, Task<> other) {
  const auto executor = co_await asio::this_coro::executor;
  // operator|| does not do: with it, a side that throws does not end the race.
  auto race = asio::experimental::make_parallel_group(
      asio::co_spawn(executor, std::move(op), asio::deferred),
      asio::co_spawn(executor, std::move(other), asio::deferred));
  auto [order, op_threw, other_threw] =
      co_await race.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  if (order[0] == 0) {
    if (op_threw) std::rethrow_exception(op_threw);
    co_return true;
  }
  if (other_threw) std::rethrow_exception(other_threw);  // also when we were cancelled
  // Both may have ended in the same turn: a finished operation counts.
  co_return !op_threw;
}

Task<bool> finishes_before(Clock& clock, SteadyPoint deadline, Task<> op) {
  const bool finished = co_await finishes_first(std::move(op), clock.wait_until(deadline));
  if (finished) co_return true;
  // A wait that ended because we were cancelled looks like a deadline that passed.
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) {
    throw boost::system::system_error(asio::error::operation_aborted);
  }
  co_return false;
}

Task<std::size_t> first_of(Task<> a, Task<> b) {
  const auto executor = co_await asio::this_coro::executor;
  auto race = asio::experimental::make_parallel_group(
      asio::co_spawn(executor, std::move(a), asio::deferred),
      asio::co_spawn(executor, std::move(b), asio::deferred));
  auto [order, a_threw, b_threw] =
      co_await race.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  const std::exception_ptr threw = order[0] == 0 ? a_threw : b_threw;
  if (threw) std::rethrow_exception(threw);
  co_return order[0];
}

Task<> all_of(std::vector<Task<>> tasks) {
  if (tasks.empty()) co_return;
  const auto executor = co_await asio::this_coro::executor;
  using Operation = decltype(asio::co_spawn(executor, std::move(tasks.front()), asio::deferred));
  std::vector<Operation> operations;
  operations.reserve(tasks.size());
  for (Task<>& task : tasks) {
    operations.push_back(asio::co_spawn(executor, std::move(task), asio::deferred));
  }
  auto together = asio::experimental::make_parallel_group(std::move(operations));
  auto [order, threw] =
      co_await together.async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
  for (const std::exception_ptr& e : threw) {
    if (e) std::rethrow_exception(e);
  }
}

}  // namespace regatta
