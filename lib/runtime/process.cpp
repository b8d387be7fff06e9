#include "lib/runtime/process.h"

#include "lib/base/sanitized.h"
#include "lib/runtime/deadline.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace regatta {

Task<int> wait_for_signal() {
  asio::signal_set signals(co_await asio::this_coro::executor, SIGINT, SIGTERM);
  co_return co_await signals.async_wait(asio::use_awaitable);
}

namespace {

Task<> signalled() {
  co_await wait_for_signal();
}

}  // namespace

Task<bool> until_signalled(Task<> work) {
  return finishes_first(std::move(work), signalled());
}

int run_process(const std::function<Task<int>()>& body) {
  std::signal(SIGPIPE, SIG_IGN);
  asio::io_context loop(1);
  int code = 1;
  std::exception_ptr failure;
  asio::co_spawn(loop, body(), [&](std::exception_ptr e, int answer) {
    failure = std::move(e);
    code = answer;
  });
  loop.run();
  if (!failure) return code;
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    std::cerr << "regatta: " << e.what() << '\n';
  }
  return 1;
}

std::size_t raise_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return before;
  return limit.rlim_cur;
}

void keep_memory_private() {
  if (sanitized) return;
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  // A core_pattern that is a pipe ignores the limit.
  ::prctl(PR_SET_DUMPABLE, 0);
}

void die_with_parent(int parent) {
  if (parent == 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) std::exit(1);
}

}  // namespace regatta
