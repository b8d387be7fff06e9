#include "bench/process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace regatta::bench {
namespace {

constexpr int patience_ms = 5000;
constexpr int step_ms = 10;

[[noreturn]] void become(std::vector<char*> argv, const char* log, int parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const int in = ::open("/dev/null", O_RDONLY);
  const int out = ::open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (in < 0 || out < 0) ::_exit(126);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

/// "VmRSS:     1234 kB" of /proc/<pid>/status, in bytes.
std::int64_t kilobytes(const std::string& line) {
  std::istringstream fields(line.substr(line.find(':') + 1));
  std::int64_t value = 0;
  fields >> value;
  return value * 1024;
}

}  // namespace

Result<Process> Process::start(std::string name, const std::vector<std::string>& argv,
                               const std::filesystem::path& log, Ending ending) {
  std::vector<char*> arguments;
  for (const std::string& one : argv) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  const int parent = ::getpid();
  const std::string log_path = log.string();
  const int pid = ::fork();
  if (pid < 0) return Error(Errc::unavailable, "cannot start " + name + ": " + strerror(errno));
  if (pid == 0) become(std::move(arguments), log_path.c_str(), parent);
  return Process(std::move(name), log, ending, pid);
}

Process::Process(Process&& other) noexcept
    : name_(std::move(other.name_)),
      log_(std::move(other.log_)),
      ending_(other.ending_),
      pid_(std::exchange(other.pid_, 0)) {}

Process::~Process() {
  if (pid_ == 0) return;
  if (ending_ == Ending::asked) ::kill(pid_, SIGTERM);
  const int patience = ending_ == Ending::asked ? patience_ms : 0;
  for (int waited = 0; waited < patience; waited += step_ms) {
    if (::waitpid(pid_, nullptr, WNOHANG) != 0) return;
    ::poll(nullptr, 0, step_ms);
  }
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool Process::running() const {
  siginfo_t ended{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0) {
    return false;
  }
  return ended.si_pid == 0;
}

Usage Process::usage() const {
  Usage usage;
  const std::string folder = "/proc/" + std::to_string(pid_);
  std::ifstream stat(folder + "/stat");
  std::string line;
  std::getline(stat, line);
  // The name may contain anything. The 12th and 13th fields after it are utime and stime.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return usage;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  usage.cpu_seconds = (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  std::ifstream status(folder + "/status");
  while (std::getline(status, line)) {
    if (line.starts_with("VmRSS:")) usage.rss_bytes = kilobytes(line);
    if (line.starts_with("VmHWM:")) usage.peak_rss_bytes = kilobytes(line);
  }
  return usage;
}

int Process::descriptors() const {
  std::error_code ignored;
  const auto open =
      std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/fd", ignored);
  return static_cast<int>(std::distance(begin(open), end(open)));
}

}  // namespace regatta::bench
