#pragma once

#include "lib/base/error.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace regatta::bench {

/// What a process has used so far.
struct Usage {
  double cpu_seconds = 0;
  std::int64_t rss_bytes = 0;
  std::int64_t peak_rss_bytes = 0;
};

/// How a process is ended: with SIGTERM and after some seconds SIGKILL, or with SIGKILL at once.
enum class Ending { asked, killed };

/// A child process that dies with this one; its output goes to a file.
class Process {
 public:
  static Result<Process> start(std::string name, const std::vector<std::string>& argv,
                               const std::filesystem::path& log, Ending ending = Ending::asked);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  /// Ends the process.
  ~Process();

  const std::string& name() const { return name_; }
  const std::filesystem::path& log() const { return log_; }
  int pid() const { return pid_; }
  bool running() const;
  /// Zeros when it has ended.
  Usage usage() const;
  /// How many files and sockets it has open.
  int descriptors() const;

 private:
  Process(std::string name, std::filesystem::path log, Ending ending, int pid)
      : name_(std::move(name)), log_(std::move(log)), ending_(ending), pid_(pid) {}

  std::string name_;
  std::filesystem::path log_;
  Ending ending_;
  int pid_ = 0;
};

}  // namespace regatta::bench
