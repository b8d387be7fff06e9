#include "bench/json/readers.h"

#include <nlohmann/json.hpp>

#include <simdjson.h>

namespace regatta::bench {
namespace {

using simdjson::dom::element_type;

std::size_t visit(simdjson::dom::element value) {
  std::size_t sum = 0;
  switch (value.type()) {
    case element_type::OBJECT:
      for (const auto& [key, member] : simdjson::dom::object(value))
        sum += key.size() + visit(member);
      return sum;
    case element_type::ARRAY:
      for (const auto item : simdjson::dom::array(value)) sum += visit(item);
      return sum;
    case element_type::STRING:
      return std::string_view(value).size();
    case element_type::INT64:
      return static_cast<std::size_t>(std::int64_t(value));
    case element_type::BOOL:
      return bool(value) ? 1 : 0;
    default:
      return 0;
  }
}

Json convert(simdjson::dom::element value) {
  switch (value.type()) {
    case element_type::OBJECT: {
      Json out = Json::object();
      auto& members = out.get_ref<Json::object_t&>();
      for (const auto& [key, member] : simdjson::dom::object(value)) {
        members.emplace(key, convert(member));
      }
      return out;
    }
    case element_type::ARRAY: {
      const simdjson::dom::array items(value);
      Json out = Json::array();
      out.get_ref<Json::array_t&>().reserve(items.size());
      for (const auto item : items) out.push_back(convert(item));
      return out;
    }
    case element_type::STRING:
      return std::string(std::string_view(value));
    case element_type::INT64:
      return std::int64_t(value);
    case element_type::UINT64:
      return std::uint64_t(value);
    case element_type::DOUBLE:
      return double(value);
    case element_type::BOOL:
      return bool(value);
    default:
      return nullptr;
  }
}

class Simdjson final : public Reader {
 public:
  void parse(std::string_view text) override { (void)element(text); }
  std::size_t parse_and_visit(std::string_view text) override { return visit(element(text)); }
  Json parse_to_json(std::string_view text) override { return convert(element(text)); }

 private:
  simdjson::dom::element element(std::string_view text) {
    return parser_.parse(text.data(), text.size());
  }

  simdjson::dom::parser parser_;
};

}  // namespace

std::unique_ptr<Reader> make_simdjson() {
  return std::make_unique<Simdjson>();
}

}  // namespace regatta::bench
