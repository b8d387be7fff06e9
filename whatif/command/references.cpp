#include "whatif/command/references.h"

#include "admission/quota.h"
#include "lib/api/names.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

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
    std::map<std::string_view, std::string_view> walks;  // of each Cohort the first walk past it
    for (const auto& [name, parent] : parents_) {
      std::vector<std::string> path;
      auto at = parents_.find(name);
      for (; at != parents_.end() && walks.try_emplace(at->first, name).second;
           at = parents_.find(at->second)) {
        path.push_back(at->first);
      }
      if (at == parents_.end() || walks.at(at->first) != name) continue;
      path.erase(path.begin(), std::find(path.begin(), path.end(), at->first));
      std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
      const ObjectName cohort{"Cohort", api::ObjectKey(path.front())};
      std::string ring;
      for (const std::string& one : path) ring += one + " -> ";
      out.push_back(where(cohort) + text_of(cohort) +
                    ": spec.parentName: it is its own ancestor (" + ring + path.front() +
                    "); the ClusterQueues below admit nothing");
    }
    return out;
  }

  /// The first Cohort of each row that is too long.
  std::vector<std::string> too_deep(
      const std::function<std::string(const ObjectName&)>& where) const {
    std::vector<std::string> out;
    for (const auto& [name, level] : levels()) {
      if (level != admission::cohorts_in_a_row_max + 1) continue;
      const ObjectName cohort{"Cohort", api::ObjectKey(std::string(name))};
      out.push_back(where(cohort) + text_of(cohort) +
                    ": spec.parentName: " + std::to_string(admission::cohorts_in_a_row_max) +
                    " Cohorts stand above it already, and a tree may have no more in a row; the "
                    "ClusterQueues of the tree admit nothing");
    }
    return out;
  }

 private:
  /// How many Cohorts stand in a row from the root down to each one that has a parent; 0 where
  /// there is no root.
  std::map<std::string_view, std::size_t> levels() const {
    std::map<std::string_view, std::size_t> levels;
    for (const auto& [name, parent] : parents_) {
      std::vector<std::size_t*> path;
      auto at = parents_.find(name);
      for (; at != parents_.end(); at = parents_.find(at->second)) {
        const auto [known, fresh] = levels.try_emplace(at->first, 0);
        if (!fresh) break;
        path.push_back(&known->second);
      }
      std::size_t above = at == parents_.end() ? 1 : levels.at(at->first);
      if (above == 0) continue;
      for (auto one = path.rbegin(); one != path.rend(); ++one) **one = ++above;
    }
    return levels;
  }

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
    if (!api::is_multikueue(check) || !check.spec.parameters) return;
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
  for (std::string& text : references.too_deep(where)) out.push_back(std::move(text));
  return out;
}

}  // namespace regatta::whatif
