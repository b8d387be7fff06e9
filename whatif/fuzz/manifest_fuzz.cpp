#include "whatif/engine/simulation.h"
#include "whatif/timeline/timeline.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>

// Everything before a line "#events" is manifests, what follows an events file. What can be read is
// simulated for an hour.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regatta;
  using namespace regatta::whatif;
  constexpr std::string_view border = "\n#events\n";
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = text.find(border);
  const TimePoint start{};
  static ManifestReader reader(start);
  Manifests manifests;
  reader.read(text.substr(0, cut), "fuzz", &manifests);
  SimulationInput input;
  input.start = start;
  input.until = std::chrono::hours(1);
  if (cut != std::string_view::npos) {
    const std::string_view rest = text.substr(cut + border.size());
    // Millions of arrivals are allowed, and nothing to wait for here.
    if (rest.find("arrivals") != std::string_view::npos && rest.size() > 4096) return 0;
    Timeline timeline = read_timeline(rest, "fuzz", start, &reader);
    if (timeline.events.size() > 200) return 0;
    input.events = std::move(timeline.events);
  }
  if (manifests.objects.size() > 100) return 0;
  input.hub.objects = std::move(manifests.objects);
  Simulation simulation(std::move(input));
  for (int steps = 0; steps < 2000 && simulation.step(); ++steps) {
  }
  (void)to_json(simulation.report());
  return 0;
}
