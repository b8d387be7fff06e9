#include "lab/federation/process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace regatta::lab {
namespace {

constexpr Duration exit_poll{20};

struct ProcStat {
  char state = 'X';
  std::uint64_t ticks = 0;
};

/// Nullopt when there is no such process.
std::optional<ProcStat> read_stat(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The second field is the name in parentheses and may hold anything.
  const std::size_t end = line.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(end + 1));
  ProcStat stat;
  fields >> stat.state;
  std::string skipped;
  constexpr int fields_between = 18;  // fields 4 to 21 of proc(5); starttime is the 22nd
  for (int i = 0; i < fields_between; ++i) fields >> skipped;
  fields >> stat.ticks;
  return stat;
}

/// Attributes and actions of posix_spawn; the destructor frees them.
struct SpawnSetup {
  SpawnSetup() {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
};

void prepare(SpawnSetup* setup, const std::string& log) {
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) sigaddset(&defaults, signal);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&setup->attributes, &defaults);
  posix_spawnattr_setsigmask(&setup->attributes, &none);
  posix_spawnattr_setflags(&setup->attributes,
                           POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  posix_spawn_file_actions_addopen(&setup->actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&setup->actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&setup->actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&setup->actions, STDERR_FILENO + 1);
}

}  // namespace

Result<ProcessId> start_process(const std::vector<std::string>& argv,
                                const std::filesystem::path& log) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  SpawnSetup setup;
  const std::string log_path = log.string();
  prepare(&setup, log_path);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, arguments[0], &setup.actions, &setup.attributes,
                                    arguments.data(), environ);
  if (failed != 0) {
    return Error(Errc::invalid, "cannot start " + argv[0] + ": " + std::strerror(failed));
  }
  const auto stat = read_stat(pid);
  return ProcessId{pid, stat ? stat->ticks : 0};
}

bool is_running(const ProcessId& process) {
  if (process.pid <= 0) return false;
  int status = 0;
  if (::waitpid(process.pid, &status, WNOHANG) == process.pid) return false;
  const auto stat = read_stat(process.pid);
  return stat && stat->ticks == process.ticks && stat->state != 'Z' && stat->state != 'X';
}

bool send_signal(const ProcessId& process, int signal) {
  return is_running(process) && ::kill(process.pid, signal) == 0;
}

Task<> stop_process(Clock& clock, ProcessId process, Duration grace) {
  if (!send_signal(process, SIGTERM)) co_return;
  const SteadyPoint patience = clock.steady() + grace;
  bool killed = false;
  while (is_running(process)) {
    if (!killed && clock.steady() >= patience) killed = send_signal(process, SIGKILL);
    co_await clock.sleep_for(exit_poll);
  }
}

std::string own_binary() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

std::string tail(const std::filesystem::path& file, int lines) {
  std::ifstream in(file);
  std::deque<std::string> last;
  for (std::string line; std::getline(in, line);) {
    last.push_back(std::move(line));
    if (last.size() > static_cast<std::size_t>(lines)) last.pop_front();
  }
  if (last.empty()) return "(" + file.string() + " is empty)\n";
  std::string out;
  for (const std::string& line : last) out += line + "\n";
  return out;
}

}  // namespace regatta::lab
