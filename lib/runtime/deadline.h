#pragma once

#include "lib/base/clock.h"

#include <optional>
#include <vector>

namespace regatta {

/// Runs both until one ends; true when that was `op`. The other one is cancelled and awaited, so
/// nothing outlives the call. An exception of the one that ended first is re-thrown.
Task<bool> finishes_first(Task<> op, Task<> other);

/// Runs `op` until it ends or `deadline` passes; false when the deadline passed and `op` was
/// cancelled. `op` is awaited in either case, so nothing outlives the call. An exception of `op` is
/// re-thrown.
Task<bool> finishes_before(Clock& clock, SteadyPoint deadline, Task<> op);

/// Runs both until one ends; the other is cancelled and awaited. Returns the index (0 or 1) of the
/// one that ended first; its exception is re-thrown.
Task<std::size_t> first_of(Task<> a, Task<> b);

/// Runs all tasks together and returns when the last has ended. A cancellation of the call cancels
/// and awaits them. The first exception is re-thrown after all have ended.
Task<> all_of(std::vector<Task<>> tasks);

namespace internal {
template <class T>
Task<> store(Task<T> op, std::optional<T>* into) {
  into->emplace(co_await std::move(op));
}
}  // namespace internal

/// Runs all tasks together until the last has ended or `deadline` passes; those that are left then
/// are cancelled and awaited. Their answers, in the same order; nullopt when there was none in
/// time.
template <class T>
Task<std::vector<std::optional<T>>> answers_before(Clock& clock, SteadyPoint deadline,
                                                   std::vector<Task<T>> ops) {
  std::vector<std::optional<T>> answers(ops.size());
  std::vector<Task<>> tasks;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    tasks.push_back(internal::store(std::move(ops[i]), &answers[i]));
  }
  Task<> everything = all_of(std::move(tasks));
  co_await finishes_before(clock, deadline, std::move(everything));
  co_return answers;
}

/// The answer of `op`, or Errc::timeout when there is none by `deadline`. After a timeout a write
/// may or may not have happened.
template <class T>
Task<Result<T>> with_deadline(Clock& clock, SteadyPoint deadline, Task<Result<T>> op) {
  std::optional<Result<T>> answer;
  Task<> storing = internal::store(std::move(op), &answer);
  const bool in_time = co_await finishes_before(clock, deadline, std::move(storing));
  if (!in_time || !answer) co_return Error(Errc::timeout, "deadline exceeded");
  co_return std::move(*answer);
}

}  // namespace regatta
