#include "tests/component/federation.h"

#include <algorithm>
#include <numeric>

namespace regatta::test_support {
namespace {

/// What is wrong with a worker.
struct Trouble {
  const char* name;
  std::function<void(kube::NetworkFaults& faults)> begin;
  std::size_t elsewhere_min = jobs;  ///< of the jobs, so many start on the others

  static constexpr std::size_t jobs = 60;
};

void PrintTo(const Trouble& trouble, std::ostream* out) {
  *out << trouble.name;
}

bool creates_job(const net::HttpRequest& request) {
  return request.method == "POST" && request.target.find("/jobs") != std::string::npos;
}
bool writes(const net::HttpRequest& request) {
  return request.method != "GET";
}

/// Three workers with room for everything, behind a network. `east` is to misbehave.
class TimesToStart : public Federation, public testing::WithParamInterface<Trouble> {
 protected:
  void start() {
    for (const char* name : {"east", "north", "west"}) {
      network_.faults(name).delay_min = 2ms;
      network_.faults(name).delay_max = 10ms;
    }
    manager::CoreConfig hub;
    hub.dispatch.plan.head_start = 100ms;
    start_all({"east", "north", "west"}, std::move(hub));
    for (auto& [name, worker] : workers_) {
      give(name, "1000");
      worker.cluster->server().store().on_change = [this, name = name](const auto& shelf,
                                                                       const auto& change) {
        const bool made = change.type == apiserver::ChangeType::added;
        if (!made || shelf.name() != "jobs.batch" || name == "east") return;
        started_[change.object->name()] = world_.steady();
      };
    }
    give(cluster_, "1000");
    settle();
  }
  /// From submission to the creation on a worker other than `east`, sorted.
  std::vector<Duration> times_of(const std::string& batch) {
    std::map<std::string, SteadyPoint> submitted;
    for (std::size_t i = 0; i < Trouble::jobs; ++i) {
      const std::string name = batch + std::to_string(i);
      submitted[name] = world_.steady();
      apply(lasting_job_yaml(name));
    }
    settle(20s);
    std::vector<Duration> times;
    for (const auto& [name, since] : submitted) {
      if (const auto start = started_.find(name); start != started_.end()) {
        times.push_back(start->second - since);
      }
    }
    std::sort(times.begin(), times.end());
    return times;
  }
  static void tell(const std::vector<Duration>& before, const std::vector<Duration>& now) {
    std::cout << GetParam().name << ": mean " << mean(before).count() << " ms, then "
              << mean(now).count() << "; the last " << before.back().count() << ", then "
              << now.back().count() << "\n";
  }
  static Duration mean(const std::vector<Duration>& times) {
    const Duration sum = std::accumulate(times.begin(), times.end(), Duration(0));
    return sum / std::max<std::int64_t>(1, std::ssize(times));
  }

  std::map<std::string, SteadyPoint> started_;
};

/// It has the first copies of a third of the jobs until it is known.
TEST_P(TimesToStart, GrowByLittleOnTheOtherWorkers) {
  start();
  const std::vector<Duration> before = times_of("a");
  ASSERT_GE(before.size(), 20u);
  GetParam().begin(network_.faults("east"));
  const std::vector<Duration> with = times_of("b");
  ASSERT_GE(with.size(), GetParam().elsewhere_min);
  tell(before, with);
  EXPECT_LT(mean(with), mean(before) + 100ms);
  EXPECT_LT(with.back(), before.back() + 250ms);
  const std::vector<Duration> later = times_of("c");
  ASSERT_GE(later.size(), GetParam().elsewhere_min);
  tell(before, later);
  EXPECT_LT(mean(later), mean(before) + 20ms);
  EXPECT_LT(later.back(), before.back() + 30ms);
}

INSTANTIATE_TEST_SUITE_P(
    OneWorker, TimesToStart,
    testing::Values(
        Trouble{"hangs", [](auto& faults) { faults.hang_before = 1; }},
        Trouble{"hangs_after_it_acted", [](auto& faults) { faults.hang_reply = 1; }, 20},
        Trouble{"loses_answers", [](auto& faults) { faults.lose_reply = 1; }, 20},
        Trouble{"does_not_pass_anything_on", [](auto& faults) { faults.partitioned = true; }},
        Trouble{"refuses_connections", [](auto& faults) { faults.drop_before = 1; }},
        Trouble{"has_too_many_requests", [](auto& faults) { faults.too_many = 1; }},
        Trouble{"fails", [](auto& faults) { faults.server_error = 1; }},
        Trouble{"fails_to_create_jobs",
                [](auto& faults) {
                  faults.concerns = creates_job;
                  faults.server_error = 1;
                },
                10},
        Trouble{"hangs_at_writes",
                [](auto& faults) {
                  faults.concerns = writes;
                  faults.hang_before = 1;
                }},
        Trouble{"has_webhooks_that_refuse", [](auto& faults) { faults.refused = 1; }},
        Trouble{"has_silent_watches", [](auto& faults) { faults.half_open_watch = 1; }},
        Trouble{"breaks_watches", [](auto& faults) { faults.cut_watch = 1; }, 20},
        Trouble{"is_slow", [](auto& faults) { faults.delay_min = faults.delay_max = 2s; }}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace regatta::test_support
