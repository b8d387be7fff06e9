#pragma once

#include "lib/runtime/work_queue.h"

namespace regatta {

/// A worker of a controller: calls `step`, a function from a key to a Task<Status>, for one key of
/// `queue` after the other until it is cancelled. A key whose step failed is tried again after its
/// backoff; `told` is called with the key and the Error if the failure deserves a line in the log.
/// The worker keeps copies of both functions; what they refer to must outlive it.
template <class Key, class Step, class Told>
Task<> work_through(WorkQueue<Key>& queue, Step step, Told told) {
  while (true) {
    const Key key = co_await queue.next();
    const Status done = co_await step(key);
    if (queue.finish(key, done)) told(key, done.error());
  }
}

}  // namespace regatta
