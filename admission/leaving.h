#pragma once

#include "admission/preemption.h"

#include <map>
#include <optional>
#include <vector>

namespace regatta::admission {

/// Those whom a cycle asked to go. Entries later in the cycle are judged with all of them gone, so
/// that is how their trees stay once somebody in them was asked; whoever needs the usage as it
/// still is brings it back first. Nothing is done per victim more than once.
class Leaving {
 public:
  explicit Leaving(Trial& trial) : trial_(trial) {}
  ~Leaving();
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;

  bool contains(WorkloadId id) const { return trial_.access().asked().contains(id); }
  /// None of them was asked before. Not inside a nested trial.
  void add(std::span<const Target> targets);

  /// While it lives, those of one tree are gone. Not inside a nested trial when it begins.
  class Gone {
   public:
    Gone(Leaving& leaving, NodeId root) { leaving.go(root, &nested_); }

   private:
    std::optional<Trial::Nested> nested_;
  };
  /// While it lives, those of one tree are there as if nobody had asked them to go.
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
  /// Their usage counts again, until somebody is added or supposed gone. Not inside a nested trial.
  void bring_back(NodeId root);
  /// What they hold of one ClusterQueue's usage and is not counted there at the moment.
  Amount missing(NodeId queue, FrId fr) const;

  /// The usage of one ClusterQueue alone is lowered (QuotaForest::lower_own_usage): from then on
  /// usage in its tree depends on the order of changes, and those leaving it are taken away anew
  /// every time.
  void lower_own_usage(NodeId queue, FrId fr, Amount by);

 private:
  struct Tree {
    std::map<NodeId, std::vector<FrAmount>> usage;  ///< by ClusterQueue
    bool gone = false;                              ///< taken off the tree
    bool in_order = false;                          ///< order of changes matters
  };

  void go(NodeId root, std::optional<Trial::Nested>* nested);
  void take_off(const Tree& tree);
  void show(NodeId root, bool here);

  Trial& trial_;
  std::map<NodeId, Tree> trees_;  ///< by root
  std::vector<std::pair<WorkloadId, QueueId>> asked_;
};

}  // namespace regatta::admission
