// What reading a Workload of 6 KB, and a list of 500, costs today and with other parsers: time, the
// bytes one reading allocates, and the most that it has at a time.

#include "bench/json/readers.h"
#include "lib/api/codec.h"
#include "lib/api/workload.h"
#include "lib/kube/outline.h"

#include <nlohmann/json.hpp>

#include <benchmark/benchmark.h>
#include <fstream>
#include <iterator>
#include <jemalloc/jemalloc.h>

namespace regatta::bench {
namespace {

std::string workload_text() {
  std::ifstream file(WORKLOAD_FILE);
  std::string text(std::istreambuf_iterator<char>(file), {});
  text.pop_back();
  return text;
}

std::string list_text(int count) {
  std::string out = R"({"kind":"WorkloadList","apiVersion":"kueue.x-k8s.io/v1beta2","items":[)";
  const std::string one = workload_text();
  for (int i = 0; i < count; ++i) out += (i == 0 ? "" : ",") + one;
  return out + R"(],"metadata":{"resourceVersion":"184470"}})";
}

constexpr int list_length = 500;

std::string text_of(benchmark::State& state) {
  return state.range(0) == 1 ? workload_text() : list_text(static_cast<int>(state.range(0)));
}

std::uint64_t allocated() {
  std::uint64_t bytes = 0;
  std::size_t size = sizeof bytes;
  mallctl("thread.allocated", &bytes, &size, nullptr, 0);
  return bytes;
}

/// The most that this thread has had since it was told to begin anew.
std::uint64_t peak() {
  std::uint64_t bytes = 0;
  std::size_t size = sizeof bytes;
  mallctl("thread.peak.read", &bytes, &size, nullptr, 0);
  return bytes;
}

/// Times `read`, and counts what it allocates.
template <class Read>
void measure(benchmark::State& state, std::size_t bytes, Read read) {
  read();
  mallctl("thread.peak.reset", nullptr, nullptr, nullptr, 0);
  const std::uint64_t before = allocated();
  read();
  state.counters["allocated"] = static_cast<double>(allocated() - before);
  state.counters["peak"] = static_cast<double>(peak());
  for (auto _ : state) read();
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void parse_today(benchmark::State& state) {
  const std::string text = text_of(state);
  measure(state, text.size(), [&] { benchmark::DoNotOptimize(parse_json(text)); });
}

void decode_today(benchmark::State& state) {
  const Json tree = *parse_json(workload_text());
  measure(state, workload_text().size(),
          [&] { benchmark::DoNotOptimize(api::from_json<api::Workload>(tree)); });
}

/// As a watch does: what is known is found in the text, managedFields are cut out, the rest is
/// parsed and decoded.
void outline_today(benchmark::State& state) {
  const std::string text = workload_text();
  measure(state, text.size(), [&] { benchmark::DoNotOptimize(kube::outline_of(text)); });
}

template <class Parse>
void decode_items(const std::string& text, bool list, Parse parse) {
  if (!list) {
    const Json tree = parse(kube::without_managed_fields(text));
    benchmark::DoNotOptimize(api::from_json<api::Workload>(tree));
    return;
  }
  const Json tree = parse(text);
  for (const Json& item : tree.at("items")) {
    benchmark::DoNotOptimize(api::from_json<api::Workload>(item));
  }
}

Status decode_one(std::string_view text) {
  const Result<Json> tree = parse_json(kube::without_managed_fields(std::string(text)));
  if (!tree) return tree.error();
  benchmark::DoNotOptimize(api::from_json<api::Workload>(*tree));
  return ok();
}

/// Of a list one item at a time.
void whole_today(benchmark::State& state) {
  const std::string text = text_of(state);
  const bool list = state.range(0) != 1;
  measure(state, text.size(), [&] {
    if (!list) return (void)decode_one(text);
    benchmark::DoNotOptimize(kube::for_each_item(text, decode_one));
  });
}

template <std::unique_ptr<Reader> (*make)()>
void parse_with(benchmark::State& state) {
  const std::string text = text_of(state);
  const auto reader = make();
  measure(state, text.size(), [&] { reader->parse(text); });
}

template <std::unique_ptr<Reader> (*make)()>
void visit_with(benchmark::State& state) {
  const std::string text = text_of(state);
  const auto reader = make();
  measure(state, text.size(), [&] { benchmark::DoNotOptimize(reader->parse_and_visit(text)); });
}

/// The whole path with the parser alone exchanged, of a list with a tree of all of it.
template <std::unique_ptr<Reader> (*make)()>
void whole_with(benchmark::State& state) {
  const std::string text = text_of(state);
  const auto reader = make();
  measure(state, text.size(), [&] {
    decode_items(text, state.range(0) != 1,
                 [&](const std::string& one) { return reader->parse_to_json(one); });
  });
}

BENCHMARK(outline_today);
BENCHMARK(parse_today)->Arg(1)->Arg(list_length);
BENCHMARK(decode_today);
BENCHMARK(whole_today)->Arg(1)->Arg(list_length);
BENCHMARK(parse_with<make_simdjson>)->Arg(1)->Arg(list_length);
BENCHMARK(visit_with<make_simdjson>)->Arg(1)->Arg(list_length);
BENCHMARK(whole_with<make_simdjson>)->Arg(1)->Arg(list_length);
BENCHMARK(parse_with<make_boost_json>)->Arg(1)->Arg(list_length);
BENCHMARK(visit_with<make_boost_json>)->Arg(1)->Arg(list_length);
BENCHMARK(whole_with<make_boost_json>)->Arg(1)->Arg(list_length);

}  // namespace
}  // namespace regatta::bench

BENCHMARK_MAIN();
