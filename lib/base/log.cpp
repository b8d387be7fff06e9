#include "lib/base/log.h"

#include <nlohmann/json.hpp>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace regatta {
namespace {

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
      for (const KV& kv : values) line += "," + json_text(kv.key) + ":" + json_text(kv.value);
    } else {
      line = std::string(logger) + " " + std::string(message);
      for (const KV& kv : values) {
        line += " " + std::string(kv.key) + "=";
        line += needs_quotes(kv.value) ? json_text(kv.value) : kv.value;
      }
    }
    logger_.log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
  }

 private:
  LogFormat format_;
  spdlog::logger logger_;
};

}  // namespace

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
