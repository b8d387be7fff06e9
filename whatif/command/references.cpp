#include "whatif/command/references.h"

#include "lib/api/names.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace regatta::whatif {
namespace {

struct Reference {
  ObjectName from;
  std::string field;
  std::size_t count = 0;  ///< of all objects that refer to it
  const char* effect = "";
};

std::string text_of(const ObjectName& name) {
  return name.kind + " " + name.key.str();
}

/// The references of an object.
class References {
 public:
  void see(const Object& object) {
    there_.insert(text_of(name_of(object)));
    const ObjectName from = name_of(object);
    std::visit([&](const auto& one) { read(one, from); }, object);
  }

  std::vector<std::string> missing(
      const std::function<std::string(const ObjectName&)>& where) const {
    std::vector<std::string> out;
    for (const auto& [name, reference] : wanted_) {
      if (there_.contains(name)) continue;
      std::string text = where(reference.from) + text_of(reference.from) + ": " + reference.field +
                         ": there is no " + name;
      if (reference.count > 1) {
        text += " (" + std::to_string(reference.count - 1) + " more refer to it)";
      }
      out.push_back(text + "; " + reference.effect);
    }
    return out;
  }

  std::vector<std::string> cycles(
      const std::function<std::string(const ObjectName&)>& where) const {
    std::vector<std::string> out;
    std::set<std::string> told;
    for (const auto& [name, parent] : parents_) {
      std::vector<std::string> path{name};
      std::set<std::string> seen{name};
      for (auto at = parents_.find(parent); at != parents_.end() && !told.contains(at->first);
           at = parents_.find(at->second)) {
        path.push_back(at->first);
        if (!seen.insert(at->first).second) break;
      }
      if (path.size() < 2 || path.back() != name) continue;
      std::string ring;
      for (const std::string& one : path) ring += (ring.empty() ? "" : " -> ") + one;
      told.insert(path.begin(), path.end());
      const ObjectName cohort{"Cohort", api::ObjectKey(name)};
      out.push_back(where(cohort) + text_of(cohort) +
                    ": spec.parentName: it is its own ancestor (" + ring +
                    "); the ClusterQueues below admit nothing");
    }
    return out;
  }

 private:
  void want(const ObjectName& from, std::string field, const char* kind, api::ObjectKey key,
            const char* effect) {
    if (key.name.empty()) return;
    Reference& reference = wanted_
                               .try_emplace(text_of({kind, std::move(key)}),
                                            Reference{from, std::move(field), 0, effect})
                               .first->second;
    ++reference.count;
  }

  template <class T>
  void read(const T&, const ObjectName&) {}
  void read(const api::Job& job, const ObjectName& from) {
    const std::string label(api::labels::queue_name);
    want(from, "metadata.labels[" + label + "]", "LocalQueue",
         {job.metadata.ns, job.metadata.label(label)}, waits);
  }
  void read(const api::Workload& workload, const ObjectName& from) {
    want(from, "spec.queueName", "LocalQueue", {workload.metadata.ns, workload.spec.queue_name},
         waits);
  }
  void read(const api::LocalQueue& queue, const ObjectName& from) {
    want(from, "spec.clusterQueue", "ClusterQueue", api::ObjectKey(queue.spec.cluster_queue),
         "its jobs wait");
  }
  void read(const api::ClusterQueue& queue, const ObjectName& from) {
    const auto& groups = queue.spec.resource_groups;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      for (std::size_t j = 0; j < groups[i].flavors.size(); ++j) {
        want(from,
             "spec.resourceGroups[" + std::to_string(i) + "].flavors[" + std::to_string(j) +
                 "].name",
             "ResourceFlavor", api::ObjectKey(groups[i].flavors[j].name), admits_nothing);
      }
    }
    for (const auto& rule : queue.spec.admission_checks) {
      want(from, "spec.admissionChecksStrategy", "AdmissionCheck", api::ObjectKey(rule.name),
           admits_nothing);
    }
  }
  void read(const api::ResourceFlavor& flavor, const ObjectName& from) {
    want(from, "spec.topologyName", "Topology", api::ObjectKey(flavor.spec.topology_name),
         "ClusterQueues with that flavor admit nothing");
  }
  void read(const api::AdmissionCheck& check, const ObjectName& from) {
    if (check.spec.controller_name != api::multikueue_controller_name || !check.spec.parameters) {
      return;
    }
    want(from, "spec.parameters.name", "MultiKueueConfig",
         api::ObjectKey(check.spec.parameters->name), "no workload is sent to a worker");
  }
  void read(const api::Cohort& cohort, const ObjectName&) {
    if (!cohort.spec.parent_name.empty()) {
      parents_[cohort.metadata.name] = cohort.spec.parent_name;
    }
  }

  static constexpr const char* waits = "it waits until that is applied";
  static constexpr const char* admits_nothing = "it admits nothing until that is applied";

  std::set<std::string> there_;
  std::map<std::string, Reference> wanted_;
  std::map<std::string, std::string> parents_;
};

}  // namespace

std::vector<std::string> namespaces_without_manifest(const std::vector<Object>& objects,
                                                     const std::vector<TimedEvent>& events,
                                                     const std::string& cluster) {
  std::set<std::string> used, there;
  const auto see = [&](const Object& object) {
    const ObjectName name = name_of(object);
    if (name.kind == api::Namespace::resource.kind) there.insert(name.key.name);
    if (!name.key.ns.empty()) used.insert(name.key.ns);
  };
  for (const Object& object : objects) see(object);
  for (const TimedEvent& event : events) {
    const auto* object = std::get_if<Object>(&event.what);
    if (object && event.cluster == cluster) see(*object);
  }
  std::vector<std::string> missing;
  std::set_difference(used.begin(), used.end(), there.begin(), there.end(),
                      std::back_inserter(missing));
  return missing;
}

std::vector<std::string> dangling_references(
    const std::vector<Object>& objects, const std::vector<TimedEvent>& events,
    const std::string& cluster, const std::function<std::string(const ObjectName&)>& where) {
  References references;
  for (const Object& object : objects) references.see(object);
  for (const TimedEvent& event : events) {
    const auto* object = std::get_if<Object>(&event.what);
    if (object && event.cluster == cluster) references.see(*object);
  }
  std::vector<std::string> out = references.missing(where);
  for (std::string& text : references.cycles(where)) out.push_back(std::move(text));
  return out;
}

}  // namespace regatta::whatif
