#include "whatif/scenario/run.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>

// Reads a scenario and, when it is a small one, plays it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regatta::whatif;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto scenario = parse_scenario(text);
  if (!scenario || scenario->steps.size() > 20 || scenario->objects.size() > 100) return 0;
  const auto steps = run_scenario(*scenario);
  if (steps) (void)to_json(scenario->name, *steps);
  return 0;
}
