#pragma once

#include "lib/base/task.h"

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>

#include <list>
#include <string>

namespace regatta {

/// Whether `e` is the exception with which a cancelled coroutine ends.
bool is_cancellation(const std::exception_ptr& e);

/// Owns a group of child coroutines, so that nothing is ever detached: a component's members live
/// until its scope has been joined, which is what makes `this` safe to use inside a coroutine.
/// Declare it last, so that it is destroyed first.
///
/// Single-threaded: every member is called on the scope's executor.
class TaskScope {
 public:
  explicit TaskScope(Executor executor);
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;
  ~TaskScope();  // checks that no child is left

  /// Starts `child` on the next turn of the executor. An exception of it, other than a
  /// cancellation, aborts the process and prints `name`.
  void spawn(std::string name, Task<> child);

  /// Cancels every child, and every later one as soon as it is spawned. Idempotent.
  void stop();

  /// Returns when no child is left. Only after stop(), or when the children end by themselves.
  Task<> join();

  /// Waits until the caller is cancelled, then stops and joins the children. A component's run()
  /// spawns its children and then awaits this.
  Task<> run_until_cancelled();

  std::size_t size() const { return children_.size(); }
  bool stopping() const { return stopping_; }
  const Executor& executor() const { return executor_; }

 private:
  struct Child {
    std::string name;
    asio::cancellation_signal signal;
    bool started = false;
    bool cancelled = false;
    bool ended = false;
  };
  using Children = std::list<Child>;

  static Task<> run(Child& me, Task<> child);
  void cancel(Child& child);
  void on_end(Children::iterator child, const std::exception_ptr& e);

  Executor executor_;
  Children children_;
  asio::steady_timer empty_;
  bool stopping_ = false;
};

}  // namespace regatta
