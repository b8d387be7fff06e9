#include "lib/base/log.h"

#include "lib/base/clock.h"
#include "lib/base/limited_text.h"

#include <nlohmann/json.hpp>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <map>
#include <utility>

namespace regatta {
namespace {

constexpr std::size_t value_bytes_max = 4096;

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

bool needs_quotes(std::string_view value) {
  if (value.empty()) return true;
  for (const char c : value) {
    if (c == ' ' || c == '"' || c == '=' || static_cast<unsigned char>(c) < 0x20) return true;
  }
  return false;
}

std::string json_text(std::string_view value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class StderrSink final : public LogSink {
 public:
  StderrSink(LogFormat format, LogLevel level)
      : format_(format), logger_("regatta", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger_.set_level(to_spdlog(level));
    logger_.flush_on(spdlog::level::warn);
    logger_.set_pattern(format == LogFormat::json
                            ? R"({"ts":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})"
                            : "%Y-%m-%dT%H:%M:%S.%e%z %L %v");
  }

  bool enabled(LogLevel level) const override { return logger_.should_log(to_spdlog(level)); }

  void write(LogLevel level, std::string_view logger, std::string_view message,
             std::initializer_list<KV> values) override {
    std::string line;
    if (format_ == LogFormat::json) {
      line = "\"logger\":" + json_text(logger) + ",\"msg\":" + json_text(message);
      for (const KV& kv : values) {
        line += "," + json_text(kv.key) + ":" + json_text(limited_text(kv.value, value_bytes_max));
      }
    } else {
      line = std::string(logger) + " " + std::string(message);
      for (const KV& kv : values) {
        line += " " + std::string(kv.key) + "=";
        const std::string value = limited_text(kv.value, value_bytes_max);
        line += needs_quotes(value) ? json_text(value) : value;
      }
    }
    logger_.log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
  }

 private:
  LogFormat format_;
  spdlog::logger logger_;
};

class LimitedSink final : public LogSink {
 public:
  LimitedSink(std::shared_ptr<LogSink> sink, const Clock& clock, int per_minute)
      : sink_(std::move(sink)), clock_(clock), per_minute_(per_minute) {}

  bool enabled(LogLevel level) const override { return sink_->enabled(level); }

  void write(LogLevel level, std::string_view logger, std::string_view message,
             std::initializer_list<KV> values) override {
    if (level == LogLevel::debug) return sink_->write(level, logger, message, values);
    Count& count = counts_[{std::string(logger), std::string(message)}];
    const SteadyPoint now = clock_.steady();
    if (count.lines == 0 || now - count.since >= std::chrono::minutes(1)) {
      if (count.withheld > 0) {
        sink_->write(level, logger, "such lines were withheld",
                     {{"message", message}, {"count", count.withheld}});
      }
      count = Count{now, 0, 0};
    }
    const int lines_max = level == LogLevel::info ? 10 * per_minute_ : per_minute_;
    if (count.lines >= lines_max) {
      ++count.withheld;
      return;
    }
    ++count.lines;
    sink_->write(level, logger, message, values);
  }

 private:
  struct Count {
    SteadyPoint since{};
    int lines = 0;
    std::int64_t withheld = 0;
  };
  std::shared_ptr<LogSink> sink_;
  const Clock& clock_;
  int per_minute_;
  std::map<std::pair<std::string, std::string>, Count> counts_;
};

}  // namespace

std::shared_ptr<LogSink> limit_lines(std::shared_ptr<LogSink> sink, const Clock& clock,
                                     int per_minute) {
  return std::make_shared<LimitedSink>(std::move(sink), clock, per_minute);
}

void Log::debug(std::string_view message, std::initializer_list<KV> values) const {
  if (enabled(LogLevel::debug)) sink_->write(LogLevel::debug, name_, message, values);
}
void Log::info(std::string_view message, std::initializer_list<KV> values) const {
  if (enabled(LogLevel::info)) sink_->write(LogLevel::info, name_, message, values);
}
void Log::warning(std::string_view message, std::initializer_list<KV> values) const {
  if (enabled(LogLevel::warning)) sink_->write(LogLevel::warning, name_, message, values);
}
void Log::error(std::string_view message, std::initializer_list<KV> values) const {
  if (enabled(LogLevel::error)) sink_->write(LogLevel::error, name_, message, values);
}

std::shared_ptr<LogSink> make_stderr_sink(LogFormat format, LogLevel level) {
  return std::make_shared<StderrSink>(format, level);
}

}  // namespace regatta
