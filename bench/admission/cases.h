#pragma once

#include "bench/admission/report.h"

namespace regatta::admission::bench {

struct Flow {
  std::string name;
  int queues = 0;
  int workloads = 0;
  bool fair_sharing = false;
};
/// Jobs of three sizes stream through queues that may borrow. A job ends as soon as it is admitted.
void measure_flow(const Flow& flow, Report* report);

struct Preemption {
  std::string name;
  int queues = 0;
  int victims = 0;  ///< of each preemptor
  bool fair_sharing = false;
  bool reclaim = false;  ///< the victims are in other ClusterQueues, which borrowed their quota
  int nodes = 0;         ///< with a topology that gangs fill
};
/// Full queues, then in each an urgent job that needs the room of `victims` jobs. Measures the
/// cycle that preempts and, when the victims are gone, the cycle that admits.
void measure_preemption(const Preemption& preemption, Report* report);

struct TopologyFlow {
  std::string name;
  int nodes = 0;
  int queues = 0;
  int workloads = 0;
};
/// Gangs of 4 to 16 pods stream onto racks of 64 nodes and end after twenty cycles. A third of them
/// requires one rack, a third prefers one, and a third goes anywhere.
void measure_topology(const TopologyFlow& flow, Report* report);

struct Growth {
  std::string name;
  int queues = 0;
  int busy = 0;       ///< ClusterQueues with waiting workloads
  int workloads = 0;  ///< waiting workloads, spread over the busy ones
};
/// The cost of one cycle.
void measure_growth(const Growth& growth, Report* report);

struct Pages {
  std::string name;
  int workloads = 0;  ///< waiting in one ClusterQueue
  int offset = 0;
  bool of_local_queue = false;  ///< of one of its ten LocalQueues
};
/// The cost of one page of the visibility API, with its default size and from beginning to end.
void measure_pages(const Pages& pages, Report* report);

}  // namespace regatta::admission::bench
