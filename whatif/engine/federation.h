#pragma once

#include "dispatch/group.h"
#include "dispatch/room_book.h"
#include "whatif/engine/cluster.h"

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace regatta::whatif {

/// MultiKueue between a hub and its workers: runs dispatch::plan() for every workload that changed,
/// and carries out its actions at once.
class Federation final : public dispatch::FleetView, private dispatch::FleetPicture {
 public:
  /// `clusters`: the hub comes first. They must outlive the Federation.
  Federation(std::vector<Cluster*> clusters, dispatch::PlanConfig config, Agenda* agenda,
             Records* records);

  Status set_connected(const std::string& cluster, bool connected, TimePoint now);
  void wake(const Wake& wake);
  /// Plans for all workloads that changed. Whether any action was carried out.
  bool act(TimePoint now);

  void for_each_worker(const api::ObjectKey& workload, const std::vector<std::string>& listed,
                       const Visit& visit) const override;

 private:
  struct Member {
    Cluster* cluster = nullptr;
    bool connected = true;
    std::optional<TimePoint> lost_since;
  };

  /// The last race between copies of a workload. It is over when its epoch is not that of the
  /// workload.
  struct Race {
    TimePoint since{};
    std::uint32_t epoch = 0;
  };

  // FleetPicture
  std::shared_ptr<const api::MultiKueueCluster> cluster(const std::string& name) const override;
  Seen look(const std::string& name, const jobs::JobKind* kind) const override;

  /// Writes into the book what changed, once a dispatcher that compares workers is in use.
  void note_changes(const std::set<api::ObjectKey>& on_hub, TimePoint now);
  void compare(const api::ObjectKey& key, dispatch::GroupView* group);
  /// Workloads that wait are looked at again when workers have other room, at most so often.
  void look_at_room(TimePoint now);

  /// The race that runs for the workload, or null.
  const Race* race_of(const Course& course) const;
  bool dispatch(const api::ObjectKey& key, TimePoint now);
  bool apply(Course* course, const std::string& check, const dispatch::Action& action,
             TimePoint now);
  Cluster* find(const std::string& name);
  void look_again(Course* course, TimePoint at);

  Cluster& hub_;
  std::map<std::string, Member> workers_;
  dispatch::PlanConfig config_;
  Agenda* agenda_;
  Records* records_;
  std::set<api::ObjectKey> due_;
  dispatch::RoomBook book_;
  bool compares_ = false;              ///< the book is in use
  std::set<api::ObjectKey> compared_;  ///< workloads that workers are compared for
  bool room_news_ = false;
  TimePoint next_look_{};
  std::optional<TimePoint> look_planned_;
  std::unordered_map<api::ObjectKey, Race, KeyHash> races_;
};

}  // namespace regatta::whatif
