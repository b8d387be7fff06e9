#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

template class nlohmann::basic_json<>;
template class std::vector<nlohmann::json>;
template class std::map<std::string, nlohmann::json, nlohmann::json::default_object_comparator_t>;
template class std::_Rb_tree<std::string, std::pair<const std::string, nlohmann::json>,
                             std::_Select1st<std::pair<const std::string, nlohmann::json>>,
                             nlohmann::json::default_object_comparator_t>;
