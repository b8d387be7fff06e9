#include "lib/api/pod.h"

#include "lib/api/codec.h"
#include "lib/api/placed.h"
#include "lib/api/template_pool.h"
#include "lib/base/rng.h"

#include <gtest/gtest.h>

namespace regatta::api {
namespace {

Quantity amount(std::string_view text) {
  return Quantity::parse(text).value();
}

Container container(std::string_view cpu, std::string_view policy = "") {
  Container out;
  out.restart_policy = policy;
  out.resources.requests["cpu"] = amount(cpu);
  return out;
}

std::int64_t cpu_of(const PodSpec& spec) {
  return pod_request_amounts(spec)["cpu"];
}

TEST(PodRequests, containers_add_up) {
  PodSpec spec;
  spec.containers = {container("100m"), container("1")};
  EXPECT_EQ(cpu_of(spec), 1100);
}

TEST(PodRequests, the_largest_init_container_counts_when_it_needs_more) {
  PodSpec spec;
  spec.containers = {container("1")};
  spec.init_containers = {container("500m"), container("3")};
  EXPECT_EQ(cpu_of(spec), 3000);
  spec.containers.push_back(container("5"));
  EXPECT_EQ(cpu_of(spec), 6000);
}

TEST(PodRequests, sidecars_run_beside_containers_and_later_init_containers) {
  PodSpec spec;
  spec.containers = {container("1")};
  // First the step of 3 alone, then the sidecar of 2 beside the step of 2, then sidecar and main.
  spec.init_containers = {container("3"), container("2", "Always"), container("2")};
  EXPECT_EQ(cpu_of(spec), 4000);
  spec.containers = {container("4")};
  EXPECT_EQ(cpu_of(spec), 6000);
}

TEST(PodRequests, very_many_init_containers_are_counted_one_by_one) {
  // Each step compared with all sidecars anew would be billions of names that are looked up.
  constexpr int number = 50'000;
  PodSpec spec;
  for (int i = 0; i < number; ++i) {
    Container& sidecar = spec.init_containers.emplace_back();
    sidecar.restart_policy = "Always";
    sidecar.resources.requests["example.com/" + std::to_string(i)] = amount("1");
  }
  spec.init_containers.resize(2 * number, container("3"));
  const ResourceList total = pod_requests(spec);
  EXPECT_EQ(total.size(), number + 1u);
  EXPECT_EQ(total.at("cpu"), amount("3"));
  EXPECT_EQ(total.at("example.com/7"), amount("1"));
}

/// The rule as it is told: every step is what its container and all sidecars before it ask for.
ResourceList requests_step_by_step(const PodSpec& spec) {
  ResourceList total, sidecars, largest;
  const auto add = [](ResourceList* to, const ResourceList& from) {
    for (const auto& [name, quantity] : from) (*to)[name] += quantity;
  };
  const auto raise = [](ResourceList* to, const ResourceList& from) {
    for (const auto& [name, quantity] : from) {
      const auto [known, fresh] = to->emplace(name, quantity);
      if (!fresh && known->second < quantity) known->second = quantity;
    }
  };
  for (const Container& one : spec.containers) add(&total, one.resources.requests);
  for (const Container& one : spec.init_containers) {
    ResourceList step = sidecars;
    add(&step, one.resources.requests);
    if (one.is_sidecar()) {
      sidecars = step;
      add(&total, one.resources.requests);
    }
    raise(&largest, step);
  }
  raise(&total, largest);
  return total;
}

std::string text_of(const ResourceList& list) {
  std::string out;
  for (const auto& [name, quantity] : list) out += name + "=" + quantity.str() + " ";
  return out;
}

TEST(PodRequests, are_those_of_the_largest_step_whatever_its_containers_name) {
  const std::uint64_t seed = 20'26;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  const char* names[] = {"cpu", "memory", "nvidia.com/gpu"};
  const char* amounts[] = {"0", "1", "500m", "1Gi", "-2", "1500m", "2e3"};
  const auto random = [&](const char* policy) {
    Container out;
    out.restart_policy = policy;
    for (const char* name : names) {
      if (rng.chance(0.5)) out.resources.requests[name] = amount(amounts[rng.between(0, 6)]);
    }
    return out;
  };
  for (int i = 0; i < 5'000; ++i) {
    PodSpec spec;
    for (auto n = rng.between(0, 2); n > 0; --n) spec.containers.push_back(random(""));
    for (auto n = rng.between(0, 5); n > 0; --n) {
      spec.init_containers.push_back(random(rng.chance(0.5) ? "Always" : ""));
    }
    ASSERT_EQ(text_of(pod_requests(spec)), text_of(requests_step_by_step(spec)));
  }
}

TEST(PodRequests, pod_level_requests_replace_and_overhead_adds) {
  PodSpec spec;
  spec.containers = {container("1")};
  spec.containers[0].resources.requests["nvidia.com/gpu"] = amount("2");
  spec.resources.emplace().requests = {{"cpu", amount("4")}, {"memory", amount("1Gi")}};
  spec.overhead = {{"cpu", amount("250m")}};
  const std::map<std::string, std::int64_t> wanted = {
      {"cpu", 4250}, {"memory", 1 << 30}, {"nvidia.com/gpu", 2}};
  EXPECT_EQ(pod_request_amounts(spec), wanted);
}

TEST(Toleration, tolerates_what_it_names) {
  const Taint taint{"gpu", "yes", "NoSchedule", {}};
  EXPECT_TRUE(tolerates({"gpu", "Exists", "", "", {}}, taint));
  EXPECT_TRUE(tolerates({"gpu", "", "yes", "NoSchedule", {}}, taint));
  EXPECT_TRUE(tolerates({"", "Exists", "", "", {}}, taint));
  EXPECT_FALSE(tolerates({"gpu", "Equal", "no", "", {}}, taint));
  EXPECT_FALSE(tolerates({"gpu", "Exists", "", "NoExecute", {}}, taint));
  EXPECT_FALSE(tolerates({"tpu", "Exists", "", "", {}}, taint));
}

TEST(NodeSelectorTerm, needs_every_expression_and_is_never_empty) {
  const StringMap labels{{"zone", "a"}};
  NodeSelectorTerm term;
  EXPECT_FALSE(matches(term, labels, "n1"));
  term.match_expressions = {{"zone", "In", {"a", "b"}}};
  EXPECT_TRUE(matches(term, labels, "n1"));
  term.match_fields = {{"metadata.name", "In", {"n2"}}};
  EXPECT_FALSE(matches(term, labels, "n1"));
  EXPECT_TRUE(matches(term, labels, "n2"));
}

TEST(PodTemplate, keeps_its_text_and_reads_it_once) {
  const auto made =
      PodTemplate::from(RawJson(R"({"metadata":{"labels":{"a":"b"}},"spec":{"new":1}})"));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->view().labels.at("a"), "b");
  EXPECT_EQ(made->raw().text(), R"({"metadata":{"labels":{"a":"b"}},"spec":{"new":1}})");
  const auto refused = PodTemplate::from(RawJson(R"({"spec":{"overhead":[]}})"), "spec.template");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what(), "spec.template.spec.overhead: expected an object, got a list");
  EXPECT_FALSE(PodTemplate::from(RawJson("{")));
}

TEST(Placed, annotations_say_which_pods_are_placed_by_topology) {
  const std::string prefix = "kueue.x-k8s.io/podset-";
  for (const char* mark : {"required-topology", "preferred-topology", "unconstrained-topology",
                           "slice-required-topology", "slice-required-topology-constraints"}) {
    EXPECT_TRUE(placed_by_topology({{prefix + mark, ""}})) << mark;
  }
  EXPECT_FALSE(placed_by_topology({{prefix + "slice-size", "3"}, {prefix + "group-name", "g"}}));
}

Workload workload_of(const std::string& name, const std::string& image) {
  const Json pod_template = {{"spec", {{"containers", {{{"name", "c"}, {"image", image}}}}}}};
  return from_json<Workload>({{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                              {"kind", "Workload"},
                              {"metadata", {{"name", name}}},
                              {"spec", {{"podSets", {{{"template", pod_template}}}}}}})
      .value();
}

Job job_of(int number, const std::string& image) {
  const Json pod_template = {{"metadata", {{"labels", {{"n", std::to_string(number)}}}}},
                             {"spec", {{"containers", {{{"name", "c"}, {"image", image}}}}}}};
  return from_json<Job>({{"apiVersion", "batch/v1"},
                         {"kind", "Job"},
                         {"metadata", {{"name", "j"}}},
                         {"spec", {{"template", pod_template}}}})
      .value();
}

TEST(TemplatePool, workloads_and_jobs_share_equal_specs_of_pods) {
  TemplatePool pool;
  Workload first = workload_of("a", "x"), second = workload_of("b", "x");
  Job job = job_of(1, "x"), other = job_of(2, "y");
  pool.share(&first);
  pool.share(&second);
  pool.share(&job);
  pool.share(&other);
  const PodTemplate& shared = first.spec.pod_sets[0].pod_template;
  const PodTemplate& same = second.spec.pod_sets[0].pod_template;
  EXPECT_EQ(&same.spec(), &shared.spec());
  EXPECT_EQ(&job.spec.pod_template.spec(), &shared.spec());
  EXPECT_NE(&other.spec.pod_template.spec(), &shared.spec());
  EXPECT_EQ(job.spec.pod_template.view().labels.at("n"), "1");
  EXPECT_EQ(other.spec.pod_template.spec().containers[0].image, "y");
}

TEST(TemplatePool, texts_keep_only_what_differs_and_read_the_same) {
  TemplatePool pool;
  Job first = job_of(1, "registry.example/train:1"),
      second = job_of(22, "registry.example/train:1");
  const Job plain = second;
  pool.share(&first);
  pool.share(&second);
  EXPECT_EQ(first.raw_spec.own_bytes(), first.raw_spec.text().size());
  EXPECT_LT(second.raw_spec.own_bytes(), plain.raw_spec.text().size() / 2);
  EXPECT_EQ(second.raw_spec.text(), plain.raw_spec.text());
  EXPECT_EQ(second.spec.pod_template.raw().text(), plain.spec.pod_template.raw().text());
  EXPECT_TRUE(second.spec.pod_template.raw().shares_text_with(second.raw_spec));
  EXPECT_EQ(second, plain);
  EXPECT_NE(second, first);
  EXPECT_EQ(to_json(second), to_json(plain));
}

TEST(TemplatePool, a_text_is_what_it_reads_as) {
  TemplatePool pool;
  Job first = job_of(1, "registry.example/train:1"), second = job_of(2, "registry.example/train:1");
  pool.share(&first);
  pool.share(&second);
  pool.share(&first);
  EXPECT_EQ(first.raw_spec.own_bytes(), first.raw_spec.size()) << "no text is like itself";
  for (const Job* job : {&first, &second}) {
    for (const RawJson& part : {job->raw_spec, job->spec.pod_template.raw()}) {
      std::string text = part.text();
      EXPECT_TRUE(part.is(text));
      EXPECT_FALSE(part.is(text + " "));
      text.back() = ']';
      EXPECT_FALSE(part.is(text));
    }
  }
  EXPECT_TRUE(RawJson().is(""));
  EXPECT_FALSE(RawJson().is("{}"));
}

TEST(TemplatePool, a_text_outlives_the_one_it_is_like) {
  TemplatePool pool;
  Job second = job_of(2, "registry.example/train:1");
  const std::string text = second.raw_spec.text();
  {
    Job first = job_of(1, "registry.example/train:1");
    pool.share(&first);
    pool.share(&second);
  }
  EXPECT_EQ(second.raw_spec.text(), text);
}

TEST(TemplatePool, what_is_not_held_is_forgotten) {
  TemplatePool pool;
  for (int i = 0; i < 1'000; ++i) {
    Workload workload = workload_of("a", std::to_string(i));
    pool.share(&workload);
  }
  EXPECT_LT(pool.size(), 200u);
}

}  // namespace
}  // namespace regatta::api
