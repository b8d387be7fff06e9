#pragma once

#include "lib/base/task.h"

#include <functional>

namespace regatta {

/// Returns the signal when SIGINT or SIGTERM comes. While nobody waits they end the process as
/// ever, so that a second one is the way out of a shutdown that hangs.
Task<int> wait_for_signal();

/// Runs `work` until it ends by itself (true) or SIGINT or SIGTERM come (false), when it has been
/// cancelled and has ended.
Task<bool> until_signalled(Task<> work);

/// The whole of a process: runs `body` on the only event loop of this thread; its answer is the
/// exit code. What an exception of `body` says goes to standard error, and the exit code is 1.
int run_process(const std::function<Task<int>()>& body);

/// Asks the kernel for SIGTERM when the parent ends; ends at once when it has ended already. 0: no.
void die_with_parent(int parent);

}  // namespace regatta
