#include "bench/objects.h"
#include "bench/race_report.h"
#include "bench/report/comparison.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace regatta::bench {
namespace {

/// The folder of etcd and kube-apiserver.
Result<std::string> find_assets() {
  const char* named = std::getenv("KUBEBUILDER_ASSETS");
  if (!named || !*named) {
    return Error(Errc::invalid,
                 "--servers real: set KUBEBUILDER_ASSETS to the folder with etcd and "
                 "kube-apiserver");
  }
  const std::filesystem::path folder = std::filesystem::absolute(named);
  for (const char* program : {"etcd", "kube-apiserver"}) {
    if (::access((folder / program).c_str(), X_OK) == 0) continue;
    return Error(Errc::invalid, "--servers real: KUBEBUILDER_ASSETS names " + folder.string() +
                                    ", which has no program " + program);
  }
  return folder.string();
}

/// Completes the ground, or says which options do not go together.
Status prepare(Ground* ground, const RaceOptions& options) {
  ground->server_latency_ms = options.server_latency_ms;
  const bool real = options.servers == "real";
  if (!options.manager.empty() && !real) {
    return Error(Errc::invalid, "--manager needs --servers real");
  }
  if (!options.manager.empty() && options.kind != "job") {
    return Error(Errc::invalid,
                 "--manager needs --kind job: Kueue reads the other kinds by CRDs of other "
                 "projects, which are not kept here");
  }
  if (!real) return ok();
  if (options.server_latency_ms > 0) {
    return Error(Errc::invalid,
                 "--server-latency is of embedded API servers; leave it out with "
                 "--servers real");
  }
  auto assets = find_assets();
  if (!assets) return assets.error();
  ground->assets = std::move(*assets);
  return ok();
}

int failed(const Error& error) {
  std::fprintf(stderr, "regatta_bench: %s\n", error.what().c_str());
  return 1;
}

bool is_complete(const Measured& measured, const lab::RacedKind& kind, const RaceOptions& options) {
  return measured.completed == static_cast<std::size_t>(options.jobs * kind.objects(group_pods));
}

void print(const Measured& measured, const RaceOptions& options) {
  if (options.json) {
    std::printf("%s\n", dump_json(summary(measured, options)).c_str());
  } else {
    print_tables(measured, options);
  }
  std::fflush(stdout);
}

/// The summaries of one manager's races.
struct Contender {
  const char* name;
  std::string kueue;  ///< for the ground
  std::vector<Json> races;
};

Task<Result<bool>> race_once(Ground ground, const lab::RacedKind& kind, RaceOptions options,
                             int round, Contender& contender) {
  const std::string what = std::string(contender.name) + ", round " + std::to_string(round) +
                           " of " + std::to_string(options.rounds);
  ground.progress(what);
  ground.kueue = contender.kueue;
  ground.folder /= std::string(contender.name) + "-" + std::to_string(round);
  const auto measured = co_await run_race(ground, kind, options);
  if (!measured) co_return measured.error().within(what);
  contender.races.push_back(summary(*measured, options));
  if (!options.json) {
    std::printf("\n%s\n", what.c_str());
    print_tables(*measured, options);
    std::fflush(stdout);
  }
  co_return is_complete(*measured, kind, options);
}

Task<int> compare(Ground ground, const lab::RacedKind& kind, RaceOptions options) {
  const std::string kueue = std::filesystem::absolute(options.manager);
  Contender regatta{"Regatta", "", {}}, other{"Kueue", kueue, {}};
  bool complete = true;
  for (int round = 1; round <= options.rounds; ++round) {
    for (Contender* contender : {&regatta, &other}) {
      const auto whole = co_await race_once(ground, kind, options, round, *contender);
      if (!whole) co_return failed(whole.error());
      complete = complete && *whole;
    }
  }
  const Json ours = middle_of(regatta.races), theirs = middle_of(other.races);
  if (options.json) {
    const Json all = {{"rounds", options.rounds},
                      {"regatta", ours},
                      {"kueue", theirs},
                      {"ratios", ratios(ours, theirs)}};
    std::printf("%s\n", dump_json(all).c_str());
  } else {
    std::printf("\n%s", comparison_table(ours, theirs).c_str());
  }
  std::fflush(stdout);
  co_return complete ? 0 : 1;
}

}  // namespace

Task<int> race(Ground ground, RaceOptions options) {
  const auto kind = lab::raced_kind(options.kind);
  Status ready = kind ? ok() : kind.error();
  if (ready) ready = prepare(&ground, options);
  if (!ready) {
    failed(ready.error());
    co_return options_are_wrong;
  }
  if (!options.manager.empty()) co_return co_await compare(ground, **kind, options);
  const auto measured = co_await run_race(ground, **kind, options);
  if (!measured) co_return failed(measured.error());
  print(*measured, options);
  co_return is_complete(*measured, **kind, options) ? 0 : 1;
}

}  // namespace regatta::bench
