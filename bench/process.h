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

/// A child process that dies with this one; its output goes to a file.
class Process {
 public:
  static Result<Process> start(std::string name, const std::vector<std::string>& argv,
                               const std::filesystem::path& log);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  /// Ends the process: SIGTERM, after some seconds SIGKILL.
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
  Process(std::string name, std::filesystem::path log, int pid)
      : name_(std::move(name)), log_(std::move(log)), pid_(pid) {}

  std::string name_;
  std::filesystem::path log_;
  int pid_ = 0;
};

}  // namespace regatta::bench
