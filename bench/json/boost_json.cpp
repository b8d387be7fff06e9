#include "bench/json/readers.h"

#include <boost/json/src.hpp>
#include <nlohmann/json.hpp>

namespace regatta::bench {
namespace {

namespace json = boost::json;

std::size_t visit(const json::value& value) {
  std::size_t sum = 0;
  switch (value.kind()) {
    case json::kind::object:
      for (const auto& member : value.get_object())
        sum += member.key().size() + visit(member.value());
      return sum;
    case json::kind::array:
      for (const json::value& item : value.get_array()) sum += visit(item);
      return sum;
    case json::kind::string:
      return value.get_string().size();
    case json::kind::int64:
      return static_cast<std::size_t>(value.get_int64());
    case json::kind::bool_:
      return value.get_bool() ? 1 : 0;
    default:
      return 0;
  }
}

Json convert(const json::value& value) {
  switch (value.kind()) {
    case json::kind::object: {
      Json out = Json::object();
      auto& members = out.get_ref<Json::object_t&>();
      for (const auto& member : value.get_object()) {
        members.emplace(std::string_view(member.key()), convert(member.value()));
      }
      return out;
    }
    case json::kind::array: {
      Json out = Json::array();
      out.get_ref<Json::array_t&>().reserve(value.get_array().size());
      for (const json::value& item : value.get_array()) out.push_back(convert(item));
      return out;
    }
    case json::kind::string:
      return std::string(std::string_view(value.get_string()));
    case json::kind::int64:
      return value.get_int64();
    case json::kind::uint64:
      return value.get_uint64();
    case json::kind::double_:
      return value.get_double();
    case json::kind::bool_:
      return value.get_bool();
    default:
      return nullptr;
  }
}

class BoostJson final : public Reader {
 public:
  void parse(std::string_view text) override {
    json::monotonic_resource arena;
    (void)json::parse({text.data(), text.size()}, &arena);
  }
  std::size_t parse_and_visit(std::string_view text) override {
    json::monotonic_resource arena;
    return visit(json::parse({text.data(), text.size()}, &arena));
  }
  Json parse_to_json(std::string_view text) override {
    json::monotonic_resource arena;
    return convert(json::parse({text.data(), text.size()}, &arena));
  }
};

}  // namespace

std::unique_ptr<Reader> make_boost_json() {
  return std::make_unique<BoostJson>();
}

}  // namespace regatta::bench
