#include "whatif/command/load.h"

#include "lib/api/own_names.h"
#include "lib/api/selected_clusters.h"
#include "lib/base/joined.h"
#include "whatif/command/references.h"
#include "whatif/files.h"
#include "whatif/manifests/reader.h"
#include "whatif/timeline/duration.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace regatta::whatif {
namespace {

constexpr std::size_t workers_max = 1000;
constexpr std::uint64_t other_seed = 2;
constexpr std::size_t warnings_max = 20;

class Loader {
 public:
  explicit Loader(const SimulationOptions& options) : options_(options) {}

  LoadedSimulation load() {
    SimulationInput input;
    input.name = options_.name;
    input.admission = options_.admission;
    input.dispatch = options_.dispatch;
    input.lifecycle = options_.lifecycle;
    input.jobs = options_.jobs;
    input.start = start();
    input.until = length("--until", options_.until);
    if (!options_.step.empty()) input.step = length("--step", options_.step);
    input.behaviour.run = duration("--run", options_.run);
    if (input.step > Duration(0) && input.until / input.step > 1'000'000) {
      misuse("--step: more than a million samples");
    }
    set_dispatcher(&input.dispatch.nomination);
    ManifestReader reader(input.start);
    input.hub.objects = hub(input.start, &reader);
    std::vector<Places> places{std::exchange(places_, {})};
    for (auto& [name, paths] : workers()) {
      input.workers.push_back({name, read(paths, &reader)});
      places.push_back(std::exchange(places_, {}));
    }
    if (!options_.events.empty()) input.events = events(input.start, &reader);
    tell_too_late(input);
    add_namespaces(&input.hub, input.events, &reader);
    for (ClusterInput& worker : input.workers) add_namespaces(&worker, input.events, &reader);
    tell_left_out();
    if (out_.errors.empty() && out_.misuse.empty()) {
      look_for_slips(input, places);
      out_.input = std::move(input);
    }
    return std::move(out_);
  }

 private:
  using Places = std::map<std::string, Place>;  ///< by "Job team-a/train"

  void complain(std::string text) { out_.errors.push_back(std::move(text)); }
  void misuse(std::string text) { out_.misuse.push_back(std::move(text)); }

  Duration length(const std::string& flag, const std::string& text) {
    const std::size_t before = out_.misuse.size();
    const Duration value = duration(flag, text);
    if (value <= Duration(0) && out_.misuse.size() == before) {
      misuse(flag + ": must be longer than nothing");
    }
    return value;
  }

  Duration duration(const std::string& flag, const std::string& text) {
    const auto value = parse_duration(text);
    if (!value) misuse(flag + ": " + value.error().what());
    return value ? *value : Duration(0);
  }

  TimePoint start() {
    const std::string text = options_.start.empty() ? simulation_start : options_.start;
    const auto time = parse_rfc3339(text);
    if (!time) misuse("--start: expected a time like " + std::string(simulation_start));
    return time ? *time : TimePoint();
  }

  void set_dispatcher(placement::NominationConfig* config) {
    const std::string& name = options_.dispatcher;
    if (name.empty()) return;
    const auto named = placement::dispatcher_by_short_name(name);
    if (!named)
      return misuse("--dispatcher: write one of " + joined(placement::short_names(), ", "));
    config->dispatcher = *named;
  }

  /// The paths of each worker, in the order in which the names came first.
  std::vector<std::pair<std::string, std::vector<std::string>>> workers() {
    std::vector<std::pair<std::string, std::vector<std::string>>> all;
    for (const std::string& text : options_.workers) {
      const std::size_t sign = text.find('=');
      if (sign == std::string::npos || sign == 0 || sign + 1 == text.size()) {
        misuse("--worker: \"" + text + "\" is not NAME=PATH");
        continue;
      }
      const std::string name = text.substr(0, sign);
      auto known =
          std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
      if (known == all.end()) known = all.insert(all.end(), {name, {}});
      known->second.push_back(text.substr(sign + 1));
    }
    if (all.size() > workers_max) {
      misuse("--worker: more than " + std::to_string(workers_max) + " workers");
      all.clear();
    }
    return all;
  }

  std::vector<Object> read(const std::vector<std::string>& paths, ManifestReader* reader) {
    Manifests manifests;
    for (const std::string& path : paths) {
      const std::size_t before = manifests.objects.size() + manifests.errors.size();
      reader->read_path(path, &manifests);
      if (manifests.objects.size() + manifests.errors.size() > before) continue;
      warn(path + ": nothing in it has an effect here");
    }
    for (std::string& error : manifests.errors) complain(std::move(error));
    for (const auto& [kind, count] : manifests.ignored) ignored_[kind] += count;
    for (std::size_t i = 0; i < manifests.objects.size(); ++i) {
      const std::string name = describe(manifests.objects[i]);
      const auto [known, fresh] = places_.try_emplace(name, manifests.places[i]);
      if (fresh) continue;
      warn(manifests.places[i].str() + ": " + name + ": there already (" + known->second.str() +
           "); the later one counts");
      known->second = manifests.places[i];
    }
    return std::move(manifests.objects);
  }

  void warn(std::string text) {
    if (out_.warnings.size() < warnings_max) return out_.warnings.push_back(std::move(text));
    if (out_.warnings.size() > warnings_max) return;
    out_.warnings.emplace_back("and more of that kind");
  }

  /// Once for all manifests, by kind.
  void tell_left_out() {
    std::string text;
    for (const auto& [kind, count] : ignored_) {
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
    }
    if (!text.empty()) out_.notes.push_back("left out, because it has no effect here: " + text);
  }

  /// Adds the namespaces that manifests of queues and jobs usually leave out.
  void add_namespaces(ClusterInput* cluster, const std::vector<TimedEvent>& events,
                      ManifestReader* reader) {
    std::string told;
    for (const std::string& name :
         namespaces_without_manifest(cluster->objects, events, cluster->name)) {
      auto made = reader->read_object(
          {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
      if (!made) continue;
      cluster->objects.push_back(std::move(*made));
      told += (told.empty() ? "" : ", ") + name;
    }
    if (told.empty()) return;
    out_.notes.push_back((cluster->name.empty() ? "" : cluster->name + ": ") +
                         "no manifest defines these namespaces, so they have no labels: " + told);
  }

  void tell_too_late(const SimulationInput& input) {
    const auto first = std::partition_point(
        input.events.begin(), input.events.end(),
        [&](const TimedEvent& one) { return one.at <= input.start + input.until; });
    if (first == input.events.end()) return;
    const auto late = input.events.end() - first;
    out_.notes.push_back(options_.events + ": " + std::to_string(late) +
                         (late == 1 ? " event comes" : " events come") +
                         " after the end (--until " + options_.until + "), the first at " +
                         format_rfc3339(first->at));
  }

  void look_for_slips(const SimulationInput& input, const std::vector<Places>& places) {
    const auto look = [&](const ClusterInput& cluster, const Places& known) {
      const auto where = [&](const ObjectName& name) {
        const auto found = known.find(name.kind + " " + name.key.str());
        return found == known.end() ? std::string() : found->second.str() + ": ";
      };
      for (std::string& text :
           dangling_references(cluster.objects, input.events, cluster.name, where)) {
        warn(std::move(text));
      }
    };
    look(input.hub, places.front());
    for (std::size_t i = 0; i < input.workers.size(); ++i) look(input.workers[i], places[i + 1]);
    look_for_workers(input);
  }

  /// The clusters of a MultiKueueConfig must be among those of --worker.
  void look_for_workers(const SimulationInput& input) {
    if (input.workers.empty()) return;
    std::set<std::string> listed, given;
    for (const ClusterInput& worker : input.workers) given.insert(worker.name);
    std::vector<const api::ObjectMeta*> clusters;
    for (const Object& object : input.hub.objects) {
      const auto* cluster = std::get_if<api::MultiKueueCluster>(&object);
      if (cluster) clusters.push_back(&cluster->metadata);
    }
    for (const Object& object : input.hub.objects) {
      const auto* config = std::get_if<api::MultiKueueConfig>(&object);
      if (!config) continue;
      const std::string where = "MultiKueueConfig " + config->metadata.name + ": ";
      const auto names = api::listed_clusters(*config, clusters);
      if (!names) {
        warn(where + std::string(api::annotations::select_clusters) +
             ": selects nothing: " + names.error().what());
      }
      for (const std::string& name : names ? *names : config->spec.clusters) {
        listed.insert(name);
        if (given.contains(name)) continue;
        warn(where + "there are no manifests of " + name + " (--worker " + name +
             "=PATH), so no job runs there");
      }
    }
    for (const std::string& name : given) {
      if (!listed.contains(name)) {
        warn("--worker " + name + ": no MultiKueueConfig of the hub lists it; no job runs there");
      }
    }
  }

  std::vector<Object> hub(TimePoint start, ManifestReader* reader) {
    std::vector<Object> objects = options_.given;
    const bool inherits = !options_.base_paths.empty();
    std::vector<Object> own = read(inherits ? options_.base_paths : options_.paths, reader);
    if (inherits) {
      // A reader of its own: the UIDs of jobs must not depend on the compared configuration.
      ManifestReader other(start, other_seed);
      Places base = std::exchange(places_, {});
      own = inherit(std::move(own), read(options_.paths, &other));
      places_.merge(base);
    }
    std::move(own.begin(), own.end(), std::back_inserter(objects));
    return objects;
  }

  std::vector<TimedEvent> events(TimePoint start, ManifestReader* reader) {
    const auto text = read_file(options_.events, events_bytes_max);
    if (!text) {
      complain(text.error().what());
      return {};
    }
    Timeline timeline = read_timeline(*text, options_.events, start, reader);
    for (std::string& error : timeline.errors) complain(std::move(error));
    return std::move(timeline.events);
  }

  const SimulationOptions& options_;
  LoadedSimulation out_;
  Places places_;  ///< of the manifests that were read last
  std::map<std::string, std::size_t> ignored_;
};

template <class T>
bool holds_any(const std::vector<Object>& objects) {
  return std::any_of(objects.begin(), objects.end(),
                     [](const Object& object) { return std::holds_alternative<T>(object); });
}

}  // namespace

std::vector<Object> inherit(std::vector<Object> base, std::vector<Object> own) {
  std::set<std::size_t> kinds;
  for (const Object& object : own) kinds.insert(object.index());
  const bool own_queues = holds_any<api::ClusterQueue>(own);
  std::vector<Object> all;
  for (Object& object : base) {
    const bool cohort = std::holds_alternative<api::Cohort>(object);
    if (kinds.contains(object.index()) || (cohort && own_queues)) continue;
    all.push_back(std::move(object));
  }
  std::move(own.begin(), own.end(), std::back_inserter(all));
  return all;
}

const std::vector<std::string>& dispatcher_names() {
  return placement::short_names();
}

LoadedSimulation load_simulation(const SimulationOptions& options) {
  return Loader(options).load();
}

}  // namespace regatta::whatif
