#pragma once

#include "lib/base/clock.h"

#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

namespace regatta {

/// Answers to questions, each for a limited time, of a limited number. Not for several threads.
template <class T>
class KeptAnswers {
 public:
  explicit KeptAnswers(std::size_t entries_max) : entries_max_(entries_max) {}

  /// Null when the question is new or the answer too old.
  const T* find(const std::string& question, SteadyPoint now) const {
    const auto found = kept_.find(question);
    return found == kept_.end() || found->second.until <= now ? nullptr : &found->second.answer;
  }

  /// Beyond the limit the answer goes that was put first.
  void put(const std::string& question, T answer, SteadyPoint now, Duration kept) {
    const SteadyPoint until = now + kept;
    kept_.insert_or_assign(question, Kept{std::move(answer), until});
    order_.emplace_back(until, question);
    while (!order_.empty() && (order_.size() > entries_max_ || order_.front().first <= now)) {
      const auto& [expired, key] = order_.front();
      // A later answer to the same question stays.
      const auto it = kept_.find(key);
      if (it != kept_.end() && it->second.until == expired) kept_.erase(it);
      order_.pop_front();
    }
  }

  std::size_t size() const { return kept_.size(); }

 private:
  struct Kept {
    T answer;
    SteadyPoint until;
  };
  std::size_t entries_max_;
  std::unordered_map<std::string, Kept> kept_;
  std::deque<std::pair<SteadyPoint, std::string>> order_;  ///< as they were put
};

}  // namespace regatta
