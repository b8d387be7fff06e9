#include "jobs/annotation_values.h"

#include "lib/api/field_errors.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <charconv>

namespace regatta::jobs {

std::optional<std::int64_t> whole_number(const std::string& text, std::string* complaint) {
  std::int64_t value = 0;
  const char* const begin = text.data() + (text.starts_with("+") ? 1 : 0);
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(begin, end, value);
  const bool signs = text.starts_with("+-");
  if (error == std::errc() && at == end && !signs) return value;
  const bool too_large = error == std::errc::result_out_of_range && at == end;
  *complaint = "strconv.Atoi: parsing " + api::in_quotes(text) + ": " +
               (too_large ? "value out of range" : "invalid syntax");
  return std::nullopt;
}

std::optional<bool> truth(const std::string& text) {
  for (const char* yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

api::StringMap template_annotations(const Json& pod_template) {
  api::StringMap out;
  for (const auto& [key, value] :
       object_or_empty(pod_template, {"metadata", "annotations"}).items()) {
    if (value.is_string()) out[key] = value.get<std::string>();
  }
  return out;
}

}  // namespace regatta::jobs
