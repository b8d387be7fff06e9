#include "admission/topology/assignment.h"
#include "lib/api/names.h"
#include "lifecycle/node_health.h"
#include "whatif/engine/cluster.h"

namespace regatta::whatif {
namespace {

std::string host_of(const api::Node& node) {
  const std::string& host = node.metadata.label(std::string(api::labels::hostname));
  return host.empty() ? node.metadata.name : host;
}

lifecycle::PlaceView view_of(const api::Workload& workload, const std::string& host,
                             const api::Node* node) {
  lifecycle::PlaceView view;
  view.node = node;
  for (const auto& assignment : workload.status.admission->pod_set_assignments) {
    if (!assignment.topology_assignment) continue;
    if (admission::pods_on_node(*assignment.topology_assignment, host) == 0) continue;
    view.assigned = true;
    for (const api::PodSet& set : workload.spec.pod_sets) {
      if (set.name == assignment.name) {
        view.tolerations.push_back(set.pod_template.spec().tolerations);
      }
    }
  }
  return view;
}

}  // namespace

/// Pods that are placed on a lost node need another place, or end.
void Cluster::look_at_node(const std::string& name, const api::Node* node, TimePoint now) {
  const std::string host = node ? host_of(*node) : name;
  std::vector<std::uint32_t> concerned;
  for (const std::uint32_t id : active_) {
    const Course& course = courses_[id];
    const bool holds =
        course.phase == CoursePhase::reserved || course.phase == CoursePhase::running;
    if (holds && course.workload.status.admission) concerned.push_back(id);
  }
  for (const std::uint32_t id : concerned) {
    Course* course = &courses_[id];
    const lifecycle::PlaceView seen = view_of(course->workload, host, node);
    if (!seen.assigned) continue;
    const bool lost = lifecycle::judge(seen).lost;
    auto change = lifecycle::note_node(course->workload, host, lost, now);
    if (!change) continue;
    course->workload.status = std::move(change->status);
    touch(course, now);
  }
}

void Cluster::take_places(const admission::CycleResult& result, TimePoint now) {
  for (const admission::AdmittedWorkload& placed : result.placed) {
    Course* course = find(placed.key);
    if (!course) continue;
    if (lifecycle::is_reserved(course->workload)) {
      course->workload.status = lifecycle::place(course->workload, placed.admission, now);
    }
    state_.settle_places(course->workload, placed.decision, now);
    touch(course, now);
  }
  for (const admission::EvictedWorkload& evicted : result.evicted) {
    Course* course = find(evicted.key);
    if (!course) continue;
    if (lifecycle::is_reserved(course->workload)) {
      course->workload.status =
          lifecycle::evict(course->workload, evicted.reason, evicted.message, now).status;
    }
    state_.settle_places(course->workload, evicted.decision, now);
    touch(course, now);
  }
}

}  // namespace regatta::whatif
