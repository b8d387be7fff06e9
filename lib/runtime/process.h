#pragma once

#include "lib/base/task.h"

#include <functional>

namespace regatta {

/// Returns the signal when SIGINT or SIGTERM comes. While no coroutine waits for it, a signal ends
/// the process as usual, so that a second one ends a shutdown that hangs.
Task<int> wait_for_signal();

/// Runs `work`. True when it ended by itself; false when SIGINT or SIGTERM came, `work` was
/// cancelled, and it has ended.
Task<bool> until_signalled(Task<> work);

/// The whole of a process: runs `body` on the only event loop of this thread. The result of `body`
/// is the exit code. An exception of `body` is printed on standard error, and the exit code is 1.
int run_process(const std::function<Task<int>()>& body);

/// Asks the kernel for SIGTERM when the parent ends. Ends the process at once if the parent has
/// ended already. Does nothing when `parent` is 0.
void die_with_parent(int parent);

/// Raises the soft limit on open files to the hard one. Returns the limit that holds then.
std::size_t raise_open_files();

/// No core dumps, and no debugger but root's: for a process whose memory holds credentials. Does
/// nothing under a sanitizer, which needs both.
void keep_memory_private();

}  // namespace regatta
