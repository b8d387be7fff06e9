#include "whatif/snapshot/cluster_reader.h"

#include "lib/api/names.h"

#include <algorithm>
#include <set>

namespace regatta::whatif {
namespace {

enum class Reading : std::uint8_t { done, absent, denied };

bool unauthenticated(const Error& error) {
  return error.details() != nullptr && error.details()->http_status == 401;
}

class ClusterReader {
 public:
  ClusterReader(kube::Client& client, ReadOptions options)
      : client_(client), options_(std::move(options)) {}

  Task<Result<ClusterPicture>> run() {
    for (const auto step : {&ClusterReader::read_queues, &ClusterReader::read_surroundings,
                            &ClusterReader::read_placement, &ClusterReader::read_jobs}) {
      const Status done = co_await (this->*step)();
      if (!done) co_return done.error();
    }
    fill_in();
    co_return std::move(out_);
  }

 private:
  /// Adds the objects of that kind, of one namespace or of all.
  template <class T>
  Task<Result<Reading>> list(std::string ns = {}) {
    Result<std::vector<T>> listed = co_await client_.list<T>(std::move(ns));
    if (!listed) {
      const Error& error = listed.error();
      if (error.code() == Errc::not_found) co_return Reading::absent;
      if (error.code() == Errc::denied && !unauthenticated(error)) {
        denial_ = error.what();
        co_return Reading::denied;
      }
      co_return error.within("listing " + T::resource.group_resource());
    }
    if (out_.objects.size() + listed->size() > picture_objects_max) {
      co_return Error(Errc::invalid, "the cluster has more than " +
                                         std::to_string(picture_objects_max) + " objects");
    }
    for (T& object : *listed) out_.objects.emplace_back(std::move(object));
    co_return Reading::done;
  }

  template <class T>
  void add_gap(bool essential, const std::string& meaning) {
    const std::string resource = T::resource.group_resource();
    out_.gaps.push_back(
        {resource, "may not list " + resource + " (" + denial_ + "): " + meaning, essential});
  }

  /// For kinds that a cluster may not serve: then there are no objects.
  template <class T>
  Task<Status> read(std::string meaning) {
    const Result<Reading> reading = co_await list<T>();
    if (!reading) co_return reading.error();
    if (*reading == Reading::denied) add_gap<T>(false, meaning);
    co_return ok();
  }

  /// For kinds without which there is no admission.
  template <class T>
  Task<Status> read_essential() {
    const Result<Reading> reading = co_await list<T>();
    if (!reading) co_return reading.error();
    if (*reading == Reading::absent) {
      co_return Error(Errc::not_found, "the cluster serves no " + T::resource.group_resource() +
                                           " of version " + std::string(T::resource.version) +
                                           ": is Kueue installed there?");
    }
    if (*reading == Reading::denied) {
      add_gap<T>(true, "what admission would do is not known");
    }
    co_return ok();
  }

  /// The same for kinds with namespaces: one readable namespace is better than none.
  template <class T>
  Task<Status> read_namespaced(std::string meaning) {
    const Result<Reading> reading = co_await list<T>();
    if (!reading) co_return reading.error();
    if (*reading == Reading::absent) {
      co_return Error(Errc::not_found, "the cluster serves no " + T::resource.group_resource() +
                                           ": is Kueue installed there?");
    }
    if (*reading == Reading::done) co_return ok();
    if (options_.fallback_namespace.empty()) {
      add_gap<T>(true, "what admission would do is not known");
      co_return ok();
    }
    const Result<Reading> own = co_await list<T>(options_.fallback_namespace);
    if (!own) co_return own.error();
    if (*own == Reading::done) {
      add_gap<T>(false, "only those of namespace " + options_.fallback_namespace + " are seen, " +
                            meaning);
    } else {
      add_gap<T>(true, "what admission would do is not known");
    }
    co_return ok();
  }

  Task<Status> read_queues() {
    if (Status done = co_await read_essential<api::ResourceFlavor>(); !done) co_return done;
    if (Status done = co_await read<api::Cohort>("shared quota of cohorts is left out"); !done) {
      co_return done;
    }
    if (Status done = co_await read_essential<api::ClusterQueue>(); !done) co_return done;
    std::string meaning = "so places in the queue are too good";
    if (Status done = co_await read_namespaced<api::LocalQueue>(meaning); !done) co_return done;
    meaning = "so quota that others hold counts as free";
    co_return co_await read_namespaced<api::Workload>(meaning);
  }

  Task<Status> read_surroundings() {
    std::string meaning = "all are taken to be active, whatever controls them";
    if (Status done = co_await read<api::AdmissionCheck>(meaning); !done) co_return done;
    meaning = "clusters that could run workloads are not named";
    if (Status done = co_await read<api::MultiKueueConfig>(meaning); !done) co_return done;
    meaning = "whether clusters are connected is not known";
    if (Status done = co_await read<api::MultiKueueCluster>(meaning); !done) co_return done;
    co_return co_await read<api::Namespace>(
        "queues that select namespaces by label take them for not selected");
  }

  /// Nodes and pods matter only where there are topologies.
  Task<Status> read_placement() {
    std::string meaning = "queues with topologies count as inactive";
    if (Status done = co_await read<api::Topology>(meaning); !done) co_return done;
    const bool any = std::any_of(out_.objects.begin(), out_.objects.end(), [](const Object& one) {
      return std::holds_alternative<api::Topology>(one);
    });
    if (!any) co_return ok();
    meaning = "no topology has room";
    if (Status done = co_await read<api::Node>(meaning); !done) co_return done;
    co_return co_await read<api::Pod>("room that other pods take counts as free");
  }

  Task<Status> read_jobs() {
    if (!options_.jobs) co_return ok();
    std::string meaning = "priorities of new jobs are zero";
    if (Status done = co_await read<api::WorkloadPriorityClass>(meaning); !done) co_return done;
    if (Status done = co_await read<api::PriorityClass>(meaning); !done) co_return done;
    meaning = "new jobs request what they say";
    if (Status done = co_await read<api::LimitRange>(meaning); !done) co_return done;
    if (Status done = co_await read<api::RuntimeClass>(meaning); !done) co_return done;
    co_return co_await read<api::Job>("only what is a Workload already takes part");
  }

  template <class T>
  bool is_gap() const {
    const std::string resource = T::resource.group_resource();
    return std::any_of(out_.gaps.begin(), out_.gaps.end(),
                       [&](const Gap& gap) { return gap.resource == resource; });
  }

  void fill_in() {
    std::vector<Object> made;
    if (is_gap<api::Namespace>()) {
      std::set<std::string> names;
      for (const Object& object : out_.objects) {
        if (const auto* queue = std::get_if<api::LocalQueue>(&object)) {
          names.insert(queue->metadata.ns);
        }
      }
      for (const std::string& name : names) {
        api::Namespace ns;
        ns.metadata.name = name;
        ns.metadata.labels[std::string(api::labels::namespace_name)] = name;
        made.emplace_back(std::move(ns));
      }
    }
    if (is_gap<api::AdmissionCheck>()) {
      std::set<std::string> names;
      for (const Object& object : out_.objects) {
        const auto* queue = std::get_if<api::ClusterQueue>(&object);
        if (queue == nullptr) continue;
        for (const auto& rule : queue->spec.admission_checks) names.insert(rule.name);
      }
      for (const std::string& name : names) made.emplace_back(active_check(name));
    }
    for (Object& object : made) out_.objects.push_back(std::move(object));
  }

  static api::AdmissionCheck active_check(const std::string& name) {
    api::AdmissionCheck check;
    check.metadata.name = name;
    api::Condition active;
    active.type = api::conditions::active;
    active.status = api::ConditionStatus::True;
    check.status.conditions.push_back(std::move(active));
    return check;
  }

  kube::Client& client_;
  ReadOptions options_;
  ClusterPicture out_;
  std::string denial_;
};

}  // namespace

bool ClusterPicture::complete() const {
  return std::none_of(gaps.begin(), gaps.end(), [](const Gap& gap) { return gap.essential; });
}

Task<Result<ClusterPicture>> read_cluster(kube::Client& client, ReadOptions options) {
  ClusterReader reader(client, std::move(options));
  co_return co_await reader.run();
}

}  // namespace regatta::whatif
