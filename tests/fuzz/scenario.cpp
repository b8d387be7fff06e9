#include "tests/fuzz/targets.h"
#include "whatif/scenario/run.h"

#include <nlohmann/json.hpp>

namespace regatta::fuzz {

void scenario(std::string_view text) {
  const auto read = whatif::parse_scenario(text);
  if (!read || read->steps.size() > 20 || read->objects.size() > 100) return;
  const auto steps = whatif::run_scenario(*read);
  if (steps) (void)whatif::to_json(read->name, *steps);
}

}  // namespace regatta::fuzz
