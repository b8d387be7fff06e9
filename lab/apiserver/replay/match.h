#pragma once

#include "lib/base/json.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Compares answers with recorded ones whose volatile values are placeholders: `<uid:1>` is the
/// same UUID everywhere, `<rv:2>` is not later than `<rv:5>`, `<time>` is any time.
namespace regatta::apiserver::replay {

class Bindings {
 public:
  /// The recorded text with placeholders replaced by their values in this run.
  std::string filled(std::string_view recorded);
  Json filled_json(const Json& recorded);
  /// Whether `actual` fits; binds placeholders seen for the first time.
  bool matches(std::string_view recorded, std::string_view actual);
  void bind(const std::string& placeholder, std::string value) {
    values_[placeholder] = std::move(value);
  }
  /// A text of the recording (a hash, an ETag) that is different in this run.
  void replace(std::string recorded, std::string actual) {
    replacements_[std::move(recorded)] = std::move(actual);
  }
  std::optional<std::string> value(const std::string& placeholder) const;

 private:
  bool accept(const std::string& placeholder, std::string_view text);
  bool accept_version(const std::string& placeholder, std::string_view text);
  std::string stand_in(const std::string& placeholder);

  std::map<std::string, std::string> values_;
  std::map<std::string, std::string> replacements_;
  int made_up_ = 0;
};

/// The first difference, as a path and what differs; empty when `actual` fits.
std::string difference(const Json& recorded, const Json& actual, Bindings& bindings,
                       const std::string& path = "");

}  // namespace regatta::apiserver::replay
