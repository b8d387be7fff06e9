#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

// Without optimisation every source generates code for the same JSON trees, and most of the time of
// a test is spent in it. json_once.cpp has the one copy, which is optimised.
extern template class nlohmann::basic_json<>;
extern template class std::vector<nlohmann::json>;
extern template class std::map<std::string, nlohmann::json,
                               nlohmann::json::default_object_comparator_t>;
extern template class std::_Rb_tree<std::string, std::pair<const std::string, nlohmann::json>,
                                    std::_Select1st<std::pair<const std::string, nlohmann::json>>,
                                    nlohmann::json::default_object_comparator_t>;
