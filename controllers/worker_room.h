#pragma once

#include "clusters/fleet.h"
#include "clusters/local_cluster.h"
#include "dispatch/room_book.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace regatta::controllers {

/// Feeds the book that dispatchers compare workers by (dispatch/room_book.h). It watches nothing
/// and keeps nothing before such a dispatcher is in use, by the configuration or by an annotation
/// of a check.
class WorkerRoom final : private dispatch::FleetPicture {
 public:
  WorkerRoom(clusters::LocalCluster& hub, clusters::Fleet& fleet, const dispatch::PlanConfig& plan);
  WorkerRoom(const WorkerRoom&) = delete;

  /// The queues of a worker changed, so that it may have room now.
  std::function<void(const std::string& cluster)> on_room;

  /// Begins to act.
  void start();
  bool in_use() const { return in_use_; }
  /// Whether the dispatcher of the workload compares workers.
  bool compares(const dispatch::LocalView& local) const;

  const dispatch::RoomBook& book() const { return book_; }
  /// These nominations are about to be written.
  void nominate(const api::Workload& workload, const api::WorkloadStatus& status,
                const std::vector<std::string>& clusters);

 private:
  std::shared_ptr<const api::MultiKueueCluster> cluster(const std::string& name) const override;
  Seen look(const std::string& name, const jobs::JobKind* kind) const override;

  void use_if_wanted();

  clusters::LocalCluster& hub_;
  clusters::Fleet& fleet_;
  const dispatch::PlanConfig& plan_;
  bool started_ = false;
  bool in_use_ = false;
  dispatch::RoomBook book_;
};

}  // namespace regatta::controllers
