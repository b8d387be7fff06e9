#include "lib/runtime/task_scope.h"

#include "lib/base/check.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdio>
#include <cstdlib>

namespace regatta {
namespace {

std::string describe(const std::exception_ptr& e) {
  try {
    std::rethrow_exception(e);
  } catch (const std::exception& x) {
    return x.what();
  } catch (...) {
    return "unknown exception";
  }
}

}  // namespace

bool is_cancellation(const std::exception_ptr& e) {
  try {
    std::rethrow_exception(e);
  } catch (const boost::system::system_error& x) {
    return x.code() == asio::error::operation_aborted;
  } catch (...) {
    return false;
  }
}

TaskScope::TaskScope(Executor executor)
    : executor_(std::move(executor)), empty_(executor_, asio::steady_timer::time_point::max()) {}

TaskScope::~TaskScope() {
  REGATTA_CHECK(children_.empty(),
                "a TaskScope is destroyed before it was joined; left: " + children_.front().name);
}

void TaskScope::spawn(std::string name, Task<> child) {
  const auto it = children_.emplace(children_.end());
  it->name = std::move(name);
  auto ended = [this, it](std::exception_ptr e) { on_end(it, e); };
  asio::co_spawn(executor_, run(*it, std::move(child)),
                 asio::bind_cancellation_slot(it->signal.slot(), std::move(ended)));
  if (stopping_) cancel(*it);
}

/// A cancellation can also hit Asio's own steps before and after a child, and the end of the child
/// would not be reported. So a cancelled child that has not started is not run, and its end is
/// shielded from cancellation.
Task<> TaskScope::run(Child& me, Task<> child) {
  me.started = true;
  if (me.cancelled) co_return;
  std::exception_ptr failure;
  try {
    co_await std::move(child);
  } catch (...) {
    failure = std::current_exception();
  }
  co_await asio::this_coro::throw_if_cancelled(false);
  if (failure) std::rethrow_exception(failure);
}

void TaskScope::on_end(Children::iterator child, const std::exception_ptr& e) {
  // Expected failures are Results; an exception that gets here is a bug, and a component that ends
  // unnoticed is worse than a crash.
  if (e && !is_cancellation(e)) {
    std::fprintf(stderr, "task %s died: %s\n", child->name.c_str(), describe(e).c_str());
    std::abort();
  }
  child->ended = true;
  // Asio is still inside this child's completion: free its signal on the next turn.
  asio::post(executor_, [this, child] {
    children_.erase(child);
    if (children_.empty()) empty_.cancel();
  });
}

void TaskScope::stop() {
  stopping_ = true;
  for (Child& child : children_) cancel(child);
}

void TaskScope::cancel(Child& child) {
  child.cancelled = true;
  if (child.started && !child.ended) child.signal.emit(asio::cancellation_type::terminal);
}

Task<> TaskScope::join() {
  boost::system::error_code ignored;
  while (!children_.empty()) {
    co_await empty_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

Task<> TaskScope::run_until_cancelled() {
  std::exception_ptr cancelled;
  try {
    asio::steady_timer forever(executor_, asio::steady_timer::time_point::max());
    co_await forever.async_wait(asio::use_awaitable);
  } catch (...) {
    cancelled = std::current_exception();
  }
  stop();
  co_await asio::this_coro::reset_cancellation_state();
  co_await join();
  if (cancelled) std::rethrow_exception(cancelled);
}

}  // namespace regatta
