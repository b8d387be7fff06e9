#pragma once

#include "admission/preemption.h"

#include <map>
#include <optional>
#include <vector>

namespace regatta::admission {

/// The victims of the running cycle. Later entries of the cycle are judged with all of them gone,
/// so a tree stays in that state after its first victim. Code that needs the usage with the victims
/// calls bring_back() first. Usage is summed for each ClusterQueue, so bringing it back costs
/// little for many victims.
class Leaving {
 public:
  explicit Leaving(Trial& trial) : trial_(trial) {}
  ~Leaving();
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;

  bool contains(WorkloadId id) const { return trial_.access().asked().contains(id); }
  /// Adds victims, which must be new. Not inside a nested trial.
  void add(std::span<const Target> targets);

  /// While it lives, the victims of one tree are gone. Must not begin inside a nested trial.
  class Gone {
   public:
    Gone(Leaving& leaving, NodeId root) { leaving.go(root, &nested_); }

   private:
    std::optional<Trial::Nested> nested_;
  };
  /// While it lives, the victims of one tree count and can be found as if they had not been chosen.
  class Back {
   public:
    Back(Leaving& leaving, NodeId root) : leaving_(leaving), root_(root) {
      leaving_.bring_back(root_);
      leaving_.show(root_, true);
    }
    ~Back() { leaving_.show(root_, false); }
    Back(const Back&) = delete;
    Back& operator=(const Back&) = delete;

   private:
    Leaving& leaving_;
    NodeId root_;
  };
  /// Makes the usage of the victims count again, until the next add() or Gone. Not inside a nested
  /// trial.
  void bring_back(NodeId root);
  /// The victims' part of a ClusterQueue's usage, if it is not counted at the moment; else 0.
  Amount missing(NodeId queue, FrId fr) const;

  /// Lowers the usage of one ClusterQueue (QuotaForest::lower_own_usage). From then on, usage in
  /// its tree depends on the order of changes, so victims are removed anew each time.
  void lower_own_usage(NodeId queue, FrId fr, Amount by);

 private:
  struct Tree {
    std::map<NodeId, std::vector<FrAmount>> usage;  ///< by ClusterQueue
    bool gone = false;                              ///< removed from the quota tree
    bool in_order = false;                          ///< the order of changes matters
  };

  void go(NodeId root, std::optional<Trial::Nested>* nested);
  void take_off(const Tree& tree);
  void show(NodeId root, bool here);

  Trial& trial_;
  std::map<NodeId, Tree> trees_;  ///< by root
  std::vector<std::pair<WorkloadId, QueueId>> asked_;
};

}  // namespace regatta::admission
