#include "lib/runtime/child_process.h"

#include "lib/runtime/deadline.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace regatta {
namespace {

/// For what is still in the pipes of a program that has ended, or to die of SIGKILL.
constexpr Duration child_grace = std::chrono::seconds(1);
constexpr int reaping_ms_max = 100;

using Descriptor = asio::posix::stream_descriptor;

/// A descriptor that is closed when it goes.
class OwnedFd {
 public:
  explicit OwnedFd(int fd = -1) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(other.release()) {}
  OwnedFd& operator=(OwnedFd&&) = delete;
  ~OwnedFd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

Error start_failed(const ChildCommand& command, int error) {
  const bool lacking = error == ENOENT;
  return Error(lacking ? Errc::not_found : Errc::unavailable,
               "cannot start " + command.file + ": " + std::strerror(error));
}

std::vector<std::string> environment_of(const ChildCommand& command) {
  std::vector<std::string> all;
  const auto is_set = [&](std::string_view entry) {
    const std::string_view name = entry.substr(0, entry.find('='));
    return std::any_of(command.env.begin(), command.env.end(),
                       [&](const auto& one) { return one.first == name; });
  };
  for (char** entry = environ; entry && *entry; ++entry) {
    if (!is_set(*entry)) all.emplace_back(*entry);
  }
  for (const auto& [name, value] : command.env) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>* texts) {
  std::vector<char*> out;
  for (std::string& text : *texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// Attributes and file actions of one start.
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_init(&actions);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }

  int prepare(int output, int errors) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    const auto flags =
        short(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const std::array<int, 8> steps = {
        ::posix_spawnattr_setflags(&attributes, flags),
        ::posix_spawnattr_setpgroup(&attributes, 0),
        ::posix_spawnattr_setsigmask(&attributes, &none),
        ::posix_spawnattr_setsigdefault(&attributes, &all),
        ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0),
        ::posix_spawn_file_actions_adddup2(&actions, output, 1),
        ::posix_spawn_file_actions_adddup2(&actions, errors, 2),
        ::posix_spawn_file_actions_addclosefrom_np(&actions, 3)};
    return *std::max_element(steps.begin(), steps.end());
  }

  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_t actions{};
};

/// A program that runs. Its group is killed when this goes.
class Child {
 public:
  Child(Executor executor, pid_t pid, int pidfd, OwnedFd output, OwnedFd errors)
      : pid_(pid),
        process_(executor, pidfd),
        output_(executor, output.release()),
        errors_(executor, errors.release()) {}
  Child(const Child&) = delete;
  ~Child() {
    if (reaped_) return;
    kill_group();
    pollfd ended{process_.native_handle(), POLLIN, 0};
    ::poll(&ended, 1, reaping_ms_max);
    reap();
  }

  /// Until it has ended and its output is read.
  Task<> follow(ChildOutcome* outcome, ChildLimits limits, Clock* clock) {
    Task<> reading = read_all(outcome, limits);
    Task<> ending = wait_ended_and_a_while(clock);
    co_await finishes_first(std::move(reading), std::move(ending));
    co_await wait_ended();
  }

  Task<> wait_ended() {
    boost::system::error_code failed;
    co_await process_.async_wait(Descriptor::wait_read,
                                 asio::redirect_error(asio::use_awaitable, failed));
    throw_if_cancelled(failed);
  }

  void kill_group() { ::kill(-pid_, SIGKILL); }

  /// Nullopt when it has not ended yet.
  std::optional<siginfo_t> reap() {
    siginfo_t info{};
    const auto pidfd = static_cast<id_t>(process_.native_handle());
    if (::waitid(P_PIDFD, pidfd, &info, WEXITED | WNOHANG) != 0 || info.si_pid == 0) {
      return std::nullopt;
    }
    reaped_ = true;
    return info;
  }

 private:
  static void throw_if_cancelled(boost::system::error_code failed) {
    if (failed == asio::error::operation_aborted) throw boost::system::system_error(failed);
  }

  Task<> read_all(ChildOutcome* outcome, ChildLimits limits) {
    std::vector<Task<>> both;
    both.push_back(read(&output_, &outcome->output, limits.output_max, outcome));
    both.push_back(read(&errors_, &outcome->errors, limits.errors_max, nullptr));
    co_await all_of(std::move(both));
  }

  /// Reads to the end. More than `max` bytes end the program if `outcome` is given.
  Task<> read(Descriptor* from, std::string* into, std::size_t max, ChildOutcome* outcome) {
    std::vector<char> buffer(16u << 10);
    for (;;) {
      boost::system::error_code failed;
      const std::size_t got = co_await from->async_read_some(
          asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, failed));
      throw_if_cancelled(failed);
      const bool over = got > max - into->size();
      into->append(buffer.data(), std::min(got, max - into->size()));
      if (failed) co_return;
      if (!outcome || !over) continue;
      outcome->end = ChildOutcome::End::too_much_output;
      kill_group();
      co_return;
    }
  }

  /// What the program started ends with it: a process that keeps the pipes must not keep us.
  Task<> wait_ended_and_a_while(Clock* clock) {
    co_await wait_ended();
    kill_group();
    co_await clock->sleep_for(child_grace);
  }

  pid_t pid_;
  Descriptor process_, output_, errors_;
  bool reaped_ = false;
};

struct Pipe {
  OwnedFd reader, writer;
};

std::optional<Pipe> open_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{OwnedFd(ends[0]), OwnedFd(ends[1])};
}

Result<std::unique_ptr<Child>> start_child(const Executor& executor, const ChildCommand& command) {
  auto output = open_pipe();
  auto errors = open_pipe();
  if (!output || !errors) return start_failed(command, errno);
  SpawnPlan plan;
  int failed = plan.prepare(output->writer.get(), errors->writer.get());
  if (failed != 0) return start_failed(command, failed);
  std::vector<std::string> words = {command.file};
  words.insert(words.end(), command.args.begin(), command.args.end());
  std::vector<std::string> environment = environment_of(command);
  pid_t pid = 0;
  failed = ::posix_spawnp(&pid, command.file.c_str(), &plan.actions, &plan.attributes,
                          pointers_to(&words).data(), pointers_to(&environment).data());
  if (failed != 0) return start_failed(command, failed);
  // glibc 2.36 declares pidfd_open() without C linkage.
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) {
    const int why = errno;
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return start_failed(command, why);
  }
  return std::make_unique<Child>(executor, pid, pidfd, std::move(output->reader),
                                 std::move(errors->reader));
}

}  // namespace

Task<Result<ChildOutcome>> run_child(Clock& clock, ChildCommand command, ChildLimits limits) {
  const Executor executor = co_await asio::this_coro::executor;
  auto started = start_child(executor, command);
  if (!started) co_return started.error();
  Child& child = **started;
  ChildOutcome outcome;
  Task<> following = child.follow(&outcome, limits, &clock);
  const SteadyPoint deadline = clock.steady() + limits.time;
  if (!co_await finishes_before(clock, deadline, std::move(following))) {
    outcome.end = ChildOutcome::End::timed_out;
    child.kill_group();
    Task<> dying = child.wait_ended();
    co_await finishes_before(clock, clock.steady() + child_grace, std::move(dying));
  }
  // Before it is reaped: then its number may be another group's.
  child.kill_group();
  const auto ended = child.reap();
  if (outcome.end != ChildOutcome::End::exited || !ended) co_return outcome;
  if (ended->si_code != CLD_EXITED) outcome.end = ChildOutcome::End::killed;
  outcome.code = ended->si_status;
  co_return outcome;
}

}  // namespace regatta
