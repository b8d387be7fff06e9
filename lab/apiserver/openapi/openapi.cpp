#include "lab/apiserver/openapi/openapi.h"

#include "lib/base/digest.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <set>

namespace regatta::apiserver {
namespace {

std::string upper(std::string text) {
  for (auto& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string http_date(TimePoint at) {
  using namespace std::chrono;
  const auto seconds_at = floor<seconds>(at);
  const auto day = floor<days>(seconds_at);
  const year_month_day date(day);
  const hh_mm_ss clock(seconds_at - day);
  constexpr std::array<const char*, 7> weekdays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d GMT",
                weekdays[weekday(day).c_encoding()], static_cast<unsigned>(date.day()),
                months[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

std::string document_key(const ResourceType& type) {
  return type.group.empty() ? "api/" + type.version : "apis/" + type.group + "/" + type.version;
}

/// A version 2 document without paths and definitions, in Protocol Buffers: swagger, info, paths.
std::string empty_swagger_protobuf() {
  auto field = [](char tag, const std::string& value) {
    return std::string(1, tag) + static_cast<char>(value.size()) + value;
  };
  return field('\x0a', "2.0") + field('\x12', field('\x0a', "Regatta") + field('\x12', "v1")) +
         field('\x42', "");
}

constexpr std::string_view swagger_json =
    R"({"swagger":"2.0","info":{"title":"Regatta","version":"v1"},"paths":{},"definitions":{}})";

bool accepts_json(const std::string& accept) {
  return accept.empty() || accept.find("json") != std::string::npos ||
         accept.find("*/*") != std::string::npos;
}

}  // namespace

OpenApiAnswer OpenApi::answer(const OpenApiRequest& request) {
  refresh();
  if (request.path == "/openapi/v2") return swagger(request);
  if (request.path == "/openapi/v3" || request.path == "/openapi/v3/") return index(request);
  return document(request);
}

void OpenApi::refresh() {
  if (made_ && revision_ == registry_.revision()) return;
  made_ = true;
  revision_ = registry_.revision();
  // Dates have whole seconds. A client that has asked within this second must see the change, too.
  modified_at_ = std::max(clock_.now(), modified_at_ + std::chrono::seconds(1));
  modified_ = http_date(modified_at_);
  documents_.clear();
  Json paths = Json::object();
  for (const auto& type : registry_.all()) {
    const auto key = document_key(*type);
    if (documents_.contains(key)) continue;
    auto& document = documents_[key];
    document.body = dump_json(openapi_document(registry_, type->group, type->version)) + "\n";
    document.hash = upper(sha256_hex(document.body));
    paths[key] = {{"serverRelativeURL", "/openapi/v3/" + key + "?hash=" + document.hash}};
  }
  index_ = dump_json({{"paths", std::move(paths)}}) + "\n";
}

OpenApiAnswer OpenApi::index(const OpenApiRequest& request) const {
  if (request.if_modified_since == modified_) {
    return {.status = 304, .headers = {{"Last-Modified", modified_}}};
  }
  return {.headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"Last-Modified", modified_}},
          .body = index_};
}

OpenApiAnswer OpenApi::document(const OpenApiRequest& request) const {
  constexpr std::string_view prefix = "/openapi/v3/";
  const auto key = request.path.starts_with(prefix) ? request.path.substr(prefix.size()) : "";
  const auto at = documents_.find(key);
  if (at == documents_.end()) return {.status = 404};
  const auto& [body, hash] = at->second;
  const auto etag = "\"" + hash + "\"";
  OpenApiAnswer out{.headers = {{"Etag", etag}, {"Vary", "Accept"}}};
  if (!request.hash.empty() && request.hash != hash) {
    out.status = 301;
    out.headers.emplace_back("Location", request.path + "?hash=" + hash);
    return out;
  }
  if (!accepts_json(request.accept)) return {.status = 406};
  if (request.if_none_match == etag) {
    out.status = 304;
    return out;
  }
  out.headers.emplace_back("Content-Type", "application/json");
  out.headers.emplace_back("Last-Modified", modified_);
  if (!request.hash.empty()) {
    // The URL changes with the content, so caches may keep the answer.
    out.headers.emplace_back("Cache-Control", "public, immutable");
    out.headers.emplace_back("Expires", http_date(clock_.now() + std::chrono::hours(24 * 365)));
  } else {
    out.headers.emplace_back("Cache-Control", "no-cache, private");
  }
  out.body = body;
  return out;
}

OpenApiAnswer OpenApi::swagger(const OpenApiRequest& request) const {
  const bool json = accepts_json(request.accept);
  if (!json && request.accept.find("spec.v2") == std::string::npos) return {.status = 406};
  static const auto etag = "\"" + upper(sha256_hex(swagger_json)) + "\"";
  OpenApiAnswer out{.headers = {{"Etag", etag}, {"Vary", "Accept"}}};
  if (request.if_none_match == etag) {
    out.status = 304;
    return out;
  }
  out.headers.emplace_back(
      "Content-Type",
      json ? "application/json" : "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  out.headers.emplace_back("Last-Modified", modified_);
  out.body = json ? std::string(swagger_json) : empty_swagger_protobuf();
  return out;
}

}  // namespace regatta::apiserver
