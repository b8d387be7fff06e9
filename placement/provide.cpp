#include "placement/provide.h"

#include "lib/api/codec.h"
#include "lib/api/core.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"

#include <algorithm>

namespace regatta::placement {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + ",") {
    if (c == ' ') continue;
    if (c != ',') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  return words;
}

Json object_of(const api::ResourceInfo& resource, const api::ObjectKey& key, api::StringMap labels,
               const std::string& origin) {
  labels[std::string(api::labels::multikueue_origin)] = origin;
  Json metadata{{"name", key.name}, {"labels", std::move(labels)}};
  if (!key.ns.empty()) metadata["namespace"] = key.ns;
  return Json{{"apiVersion", resource.api_version()},
              {"kind", resource.kind},
              {"metadata", std::move(metadata)}};
}

class Planner {
 public:
  Planner(const Provision& asked, const HubNeeds& hub, const WorkerHas& worker,
          const std::string& origin)
      : asked_(asked), hub_(hub), worker_(worker), origin_(origin) {}

  ProvidePlan plan() {
    for (const std::string& word : asked_.unknown) {
      plan_.obstacles.push_back("\"" + word + "\" in " + std::string(api::annotations::provide) +
                                " is none of namespaces, localqueues, workloadpriorityclasses");
    }
    if (asked_.namespaces) add_namespaces();
    if (asked_.local_queues) add_local_queues();
    if (asked_.priority_classes) add_classes();
    return std::move(plan_);
  }

 private:
  void create(const api::ResourceInfo& resource, const api::ObjectKey& key, Json body) {
    plan_.steps.push_back({&resource, key, std::move(body), false});
  }

  void add_namespaces() {
    for (const auto& [name, space] : hub_.namespaces) {
      if (worker_.namespaces.contains(name)) continue;
      api::StringMap labels = space->metadata.labels;
      labels.erase("kubernetes.io/metadata.name");  // its API server sets it
      const api::ObjectKey key(name);
      create(api::Namespace::resource, key,
             object_of(api::Namespace::resource, key, std::move(labels), origin_));
    }
  }

  std::string queue_for(const api::LocalQueue& queue) const {
    for (const std::string& name : {queue.spec.cluster_queue, asked_.cluster_queue}) {
      if (worker_.cluster_queues.contains(name)) return name;
    }
    return {};
  }

  void add_local_queues() {
    for (const auto& queue : hub_.local_queues) {
      const api::ObjectKey key = queue->metadata.key();
      if (worker_.local_queues.contains(key) || !hub_.namespaces.contains(key.ns)) continue;
      const std::string leads_to = queue_for(*queue);
      if (leads_to.empty()) {
        plan_.obstacles.push_back(
            "LocalQueue " + key.str() + " has nowhere to lead to: there is no ClusterQueue \"" +
            queue->spec.cluster_queue + "\"" +
            (asked_.cluster_queue.empty()
                 ? ", and no " + std::string(api::annotations::provide_cluster_queue)
                 : " nor \"" + asked_.cluster_queue + "\""));
        continue;
      }
      const bool there = worker_.namespaces.contains(key.ns) || asked_.namespaces;
      if (!there) {
        plan_.obstacles.push_back("LocalQueue " + key.str() + " has no namespace there");
        continue;
      }
      Json body = object_of(api::LocalQueue::resource, key, {}, origin_);
      body["spec"] = {{"clusterQueue", leads_to}};
      create(api::LocalQueue::resource, key, std::move(body));
    }
  }

  void add_classes() {
    const api::ResourceInfo& resource = api::WorkloadPriorityClass::resource;
    for (const auto& one : hub_.priority_classes) {
      const api::ObjectKey key(one->metadata.name);
      const auto found = worker_.priority_classes.find(key.name);
      if (found == worker_.priority_classes.end()) {
        Json body = object_of(resource, key, {}, origin_);
        body["value"] = one->value;
        if (!one->description.empty()) body["description"] = one->description;
        create(resource, key, std::move(body));
      } else if (found->second.value == one->value) {
        continue;
      } else if (found->second.ours) {
        Json patch{{"metadata", {{"uid", found->second.uid}}}, {"value", one->value}};
        plan_.steps.push_back({&resource, key, std::move(patch), true});
      } else {
        plan_.obstacles.push_back("WorkloadPriorityClass " + key.name + " has the value " +
                                  std::to_string(found->second.value) + " there and " +
                                  std::to_string(one->value) +
                                  " on the hub; it was made by others and stays");
      }
    }
  }

  const Provision& asked_;
  const HubNeeds& hub_;
  const WorkerHas& worker_;
  const std::string& origin_;
  ProvidePlan plan_;
};

}  // namespace

Provision provision_of(const api::ObjectMeta& cluster) {
  Provision out;
  for (std::string& word : words_of(cluster.annotation(std::string(api::annotations::provide)))) {
    if (word == "namespaces") {
      out.namespaces = true;
    } else if (word == "localqueues") {
      out.local_queues = true;
    } else if (word == "workloadpriorityclasses") {
      out.priority_classes = true;
    } else {
      out.unknown.push_back(std::move(word));
    }
  }
  out.cluster_queue = cluster.annotation(std::string(api::annotations::provide_cluster_queue));
  return out;
}

std::string ProvideStep::str() const {
  return std::string(resource->kind) + " " + (key.ns.empty() ? key.name : key.str());
}

ProvidePlan provide_plan(const Provision& asked, const HubNeeds& hub, const WorkerHas& worker,
                         const std::string& origin) {
  return Planner(asked, hub, worker, origin).plan();
}

}  // namespace regatta::placement
