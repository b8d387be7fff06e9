#include "lib/api/raw_json.h"

#include "lib/api/likeness.h"

#include <nlohmann/json.hpp>

namespace regatta::api {

RawJson::RawJson(std::string text) : length_(static_cast<std::uint32_t>(text.size())) {
  text.shrink_to_fit();
  text_ = std::make_shared<const Text>(Text{std::move(text), nullptr});
}

std::string RawJson::text() const {
  if (!text_) return "";
  if (!text_->base) return text_->own.substr(offset_, length_);
  return text_from(text_->base->own, text_->own).substr(offset_, length_);
}

bool RawJson::is(std::string_view text) const {
  if (text.size() != length_) return false;
  if (!text_ || text_->base) return this->text() == text;
  return std::string_view(text_->own).substr(offset_, length_) == text;
}

Json RawJson::json() const {
  if (empty()) return Json();
  Result<Json> value = parse_json(text());
  return value ? std::move(*value) : Json(Json::value_t::discarded);
}

RawJson RawJson::slice(std::size_t offset, std::size_t length) const {
  RawJson out;
  out.text_ = text_;
  out.offset_ = static_cast<std::uint32_t>(offset_ + offset);
  out.length_ = static_cast<std::uint32_t>(length);
  return out;
}

bool operator==(const RawJson& a, const RawJson& b) {
  if (a.length_ != b.length_) return false;
  if (a.text_ == b.text_ && a.offset_ == b.offset_) return true;
  return a.text() == b.text();
}

}  // namespace regatta::api
