/// The cost of admission, in CPU time: how many workloads a second get quota, what preemption
/// costs, and how the cost of a cycle grows with the number of waiting workloads.

#include "bench/admission/cases.h"

#include <CLI/CLI.hpp>

namespace regatta::admission::bench {
namespace {

constexpr const char* flows = "Jobs that end at once, queues that borrow in cohorts of 100";
constexpr const char* preemptions = "One preemptor in each queue";
constexpr const char* topologies = "Gangs placed on racks, three levels, jobs of twenty cycles";
constexpr const char* pages = "One page of the visibility API, with 100,000 waiting";
constexpr const char* growths = "One cycle, with more waiting and with more queues";

void add_flows(std::vector<Case>* cases) {
  for (const Flow& flow :
       {Flow{"classical_30", 30, 15'000}, Flow{"classical_1000", 1000, 50'000},
        Flow{"fair_sharing_30", 30, 15'000, true}, Flow{"fair_sharing_1000", 1000, 50'000, true}}) {
    cases->push_back({flow.name, flows, [flow](Report* report) { measure_flow(flow, report); }});
  }
}

void add_preemptions(std::vector<Case>* cases) {
  for (const Preemption& one :
       {Preemption{"preemption", 1000, 20}, Preemption{"preemption_reclaim", 1000, 20, false, true},
        Preemption{"preemption_fair", 1000, 20, true},
        Preemption{"preemption_fair_reclaim", 1000, 20, true, true},
        Preemption{"preemption_topology_640", 192, 20, false, false, 640},
        Preemption{"preemption_200_victims", 100, 200},
        Preemption{"preemption_2000_victims", 10, 2000},
        Preemption{"preemption_reclaim_200_victims", 100, 200, false, true},
        Preemption{"preemption_reclaim_2000_victims", 10, 2000, false, true},
        Preemption{"preemption_fair_200_victims", 100, 200, true},
        Preemption{"preemption_fair_2000_victims", 10, 2000, true},
        Preemption{"preemption_fair_reclaim_200_victims", 100, 200, true, true},
        Preemption{"preemption_fair_reclaim_2000_victims", 10, 2000, true, true}}) {
    cases->push_back(
        {one.name, preemptions, [one](Report* report) { measure_preemption(one, report); }});
  }
}

void add_growth(std::vector<Case>* cases) {
  for (const Growth& one :
       {Growth{"pending_1000", 10, 10, 1'000}, Growth{"pending_10000", 10, 10, 10'000},
        Growth{"pending_100000", 10, 10, 100'000}, Growth{"pending_1000000", 10, 10, 1'000'000},
        Growth{"queues_10", 10, 10, 1'000}, Growth{"queues_100", 100, 100, 10'000},
        Growth{"queues_1000", 1000, 1000, 100'000}, Growth{"queues_10000", 10'000, 10'000, 200'000},
        Growth{"queues_10_of_10000_busy", 10'000, 10, 1'000}}) {
    cases->push_back({one.name, growths, [one](Report* report) { measure_growth(one, report); }});
  }
}

void add_topologies(std::vector<Case>* cases) {
  for (const TopologyFlow& flow : {TopologyFlow{"topology_640", 640, 30, 15'000},
                                   TopologyFlow{"topology_640_of_1000", 640, 1000, 50'000},
                                   TopologyFlow{"topology_5000", 5000, 30, 15'000},
                                   TopologyFlow{"topology_5000_of_1000", 5000, 1000, 50'000}}) {
    cases->push_back(
        {flow.name, topologies, [flow](Report* report) { measure_topology(flow, report); }});
  }
}

void add_pages(std::vector<Case>* cases) {
  for (const Pages& one :
       {Pages{"page_first_of_100000", 100'000}, Pages{"page_at_50000_of_100000", 100'000, 50'000},
        Pages{"page_of_a_local_queue", 100'000, 0, true}}) {
    cases->push_back({one.name, pages, [one](Report* report) { measure_pages(one, report); }});
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  add_flows(&cases);
  add_preemptions(&cases);
  add_topologies(&cases);
  add_growth(&cases);
  add_pages(&cases);
  return cases;
}

}  // namespace
}  // namespace regatta::admission::bench

int main(int argc, char** argv) {
  using namespace regatta::admission::bench;
  CLI::App app("Measures admission alone, in one process, without an API server.",
               "regatta_admission_bench");
  Options options;
  std::string output;
  app.add_option("case", options.only, "Only these cases");
  app.add_option("-o,--output", output, "json: one line, last")->check(CLI::IsMember({"json"}));
  CLI11_PARSE(app, argc, argv);
  options.json = output == "json";
  return run_cases(all_cases(), options);
}
