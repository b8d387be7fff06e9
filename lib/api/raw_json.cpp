#include "lib/api/raw_json.h"

#include <nlohmann/json.hpp>

namespace regatta::api {

RawJson::RawJson(std::string text) : length_(static_cast<std::uint32_t>(text.size())) {
  text.shrink_to_fit();
  text_ = std::make_shared<const std::string>(std::move(text));
}

Json RawJson::json() const {
  const std::string_view part = text();
  if (part.empty()) return Json();
  Result<Json> value = parse_json(part);
  return value ? std::move(*value) : Json(Json::value_t::discarded);
}

RawJson RawJson::slice(std::string_view part) const {
  RawJson out;
  out.text_ = text_;
  out.offset_ = static_cast<std::uint32_t>(part.data() - text_->data());
  out.length_ = static_cast<std::uint32_t>(part.size());
  return out;
}

}  // namespace regatta::api
