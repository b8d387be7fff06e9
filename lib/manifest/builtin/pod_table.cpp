#include "lib/manifest/builtin/pod_table.h"

#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/human.h"

#include <nlohmann/json.hpp>

namespace regatta::manifest::builtin {

namespace {

struct Containers {
  std::size_t ready = 0;
  std::int64_t restarts = 0;
  std::string reason;        ///< the most telling one, or empty
  std::string last_restart;  ///< RFC 3339, or empty
  bool running = false;
};

std::string ended_reason(const Json& terminated) {
  const std::string& reason = text_at(terminated, "reason");
  if (!reason.empty()) return reason;
  const std::int64_t signal = integer_at(terminated, "signal").value_or(0);
  if (signal != 0) return "Signal:" + std::to_string(signal);
  return "ExitCode:" + std::to_string(integer_at(terminated, "exitCode").value_or(0));
}

Containers look_at(const Json& pod) {
  Containers out;
  const Json& statuses = list_or_empty(object_or_empty(pod, {"status"}), "containerStatuses");
  for (auto status = statuses.rbegin(); status != statuses.rend(); ++status) {
    out.restarts += integer_at(*status, "restartCount").value_or(0);
    const std::string& last = text_at(*status, {"lastState", "terminated", "finishedAt"});
    if (last > out.last_restart) out.last_restart = last;
    const std::string& waiting = text_at(*status, {"state", "waiting", "reason"});
    const Json* ended = member(*status, {"state", "terminated"});
    if (!waiting.empty()) {
      out.reason = waiting;
    } else if (ended != nullptr) {
      out.reason = ended_reason(*ended);
    } else if (true_at(*status, "ready") && member(*status, {"state", "running"}) != nullptr) {
      out.running = true;
      ++out.ready;
    }
  }
  return out;
}

std::string reason_of(const Json& pod, const Containers& containers) {
  const std::string& phase = text_at(pod, {"status", "phase"});
  std::string reason = phase;
  if (const std::string& given = text_at(pod, {"status", "reason"}); !given.empty()) {
    reason = given;
  }
  for (const Json& condition : list_or_empty(object_or_empty(pod, {"status"}), "conditions")) {
    if (text_at(condition, "type") == "PodScheduled" &&
        text_at(condition, "reason") == "SchedulingGated") {
      reason = "SchedulingGated";
    }
  }
  if (!containers.reason.empty()) reason = containers.reason;
  if (reason == "Completed" && containers.running) {
    reason = condition_true(pod, "Ready") ? "Running" : "NotReady";
  }
  const bool over = phase == "Succeeded" || phase == "Failed";
  if (!over && member(pod, {"metadata", "deletionTimestamp"}) != nullptr) {
    reason = text_at(pod, {"status", "reason"}) == "NodeLost" ? "Unknown" : "Terminating";
  }
  return reason;
}

std::string or_none_text(const std::string& text) {
  return text.empty() ? "<none>" : text;
}

std::string gates_of(const Json& pod) {
  const Json& gates = list_or_empty(object_or_empty(pod, {"spec"}), "readinessGates");
  if (gates.empty()) return "<none>";
  std::size_t open = 0;
  for (const Json& gate : gates) {
    if (condition_true(pod, text_at(gate, "conditionType"))) ++open;
  }
  return std::to_string(open) + "/" + std::to_string(gates.size());
}

}  // namespace

std::vector<TableColumn> pod_columns() {
  return {name_column(),
          column("Ready", "string", "Ready containers of all."),
          column("Status", "string", "What the containers are doing."),
          column("Restarts", "string", "How often containers were restarted, and when last."),
          age_column(),
          column("IP", "string", "Address of the pod.", 1),
          column("Node", "string", "Where it runs.", 1),
          column("Nominated Node", "string", "Where it may run after preemption.", 1),
          column("Readiness Gates", "string", "Open gates of all.", 1)};
}

std::vector<Json> pod_cells(const Json& pod, TimePoint now) {
  const Containers containers = look_at(pod);
  const std::size_t all = list_or_empty(object_or_empty(pod, {"spec"}), "containers").size();
  std::string restarts = std::to_string(containers.restarts);
  if (containers.restarts != 0 && !containers.last_restart.empty()) {
    restarts += " (" + age_of(containers.last_restart, now) + " ago)";
  }
  return {name_cell(pod),
          std::to_string(containers.ready) + "/" + std::to_string(all),
          reason_of(pod, containers),
          restarts,
          age_cell(pod, now),
          or_none_text(text_at(pod, {"status", "podIP"})),
          or_none_text(text_at(pod, {"spec", "nodeName"})),
          or_none_text(text_at(pod, {"status", "nominatedNodeName"})),
          gates_of(pod)};
}

}  // namespace regatta::manifest::builtin
