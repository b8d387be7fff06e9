#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace regatta {

class Clock;

enum class LogLevel { debug, info, warning, error };

/// One key=value of a log line. Types that hold secrets have no conversion to it.
struct KV {
  KV(std::string_view key, std::string_view value) : key(key), value(value) {}
  KV(std::string_view key, const std::string& value) : key(key), value(value) {}
  KV(std::string_view key, const char* value) : key(key), value(value) {}
  KV(std::string_view key, bool value) : key(key), value(value ? "true" : "false") {}
  KV(std::string_view key, int value) : key(key), value(std::to_string(value)) {}
  KV(std::string_view key, std::int64_t value) : key(key), value(std::to_string(value)) {}
  KV(std::string_view key, std::size_t value) : key(key), value(std::to_string(value)) {}
  std::string_view key;
  std::string value;
};

/// Where log lines go. Tests have sinks of their own.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual bool enabled(LogLevel level) const = 0;
  /// `message` is a constant; everything that varies is in `values`.
  virtual void write(LogLevel level, std::string_view logger, std::string_view message,
                     std::initializer_list<KV> values) = 0;
};

/// Passes on at most `per_minute` lines of one logger and message of level warning and above, and
/// ten times as many of level info, so that no peer can fill a disk by failing. What was withheld
/// is counted in a line of its own, once a minute at most.
std::shared_ptr<LogSink> limit_lines(std::shared_ptr<LogSink> sink, const Clock& clock,
                                     int per_minute);

/// A named handle on a sink, cheap to copy. The default one discards.
class Log {
 public:
  Log() = default;
  Log(std::shared_ptr<LogSink> sink, std::string name)
      : sink_(std::move(sink)), name_(std::move(name)) {}
  Log named(std::string name) const { return Log(sink_, std::move(name)); }

  bool enabled(LogLevel level) const { return sink_ && sink_->enabled(level); }
  void debug(std::string_view message, std::initializer_list<KV> values = {}) const;
  void info(std::string_view message, std::initializer_list<KV> values = {}) const;
  void warning(std::string_view message, std::initializer_list<KV> values = {}) const;
  void error(std::string_view message, std::initializer_list<KV> values = {}) const;

 private:
  std::shared_ptr<LogSink> sink_;
  std::string name_;
};

enum class LogFormat { console, json };

/// Lines on standard error, of `level` and above. Console: `time LEVEL logger message key=value …`;
/// json: one object a line with keys level, ts, logger, msg and the values. Long values are cut.
std::shared_ptr<LogSink> make_stderr_sink(LogFormat format, LogLevel level);

}  // namespace regatta
