// What calls of webhooks cost the manager, over TLS as an API server makes them.
#include "bench/measure.h"
#include "lab/servers/files.h"
#include "lib/net/http_client.h"
#include "lib/net/pki.h"
#include "lib/net/tls.h"
#include "lib/runtime/deadline.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace regatta::bench {
namespace {

constexpr Duration patience = std::chrono::seconds(30);
constexpr const char* host = "127.0.0.1";

/// One webhook, and the review that it is asked to answer.
struct Case {
  std::string name;
  std::string path;
  std::string body;
};

Json pod_template() {
  Json container{{"name", "main"}, {"image", "registry.example/work:1"}};
  container["resources"]["requests"] = {{"cpu", "1"}, {"memory", "1Gi"}};
  Json pod{{"restartPolicy", "Never"}};
  pod["containers"] = Json::array({std::move(container)});
  return Json{{"spec", std::move(pod)}};
}

Json job() {
  Json made{{"apiVersion", "batch/v1"}, {"kind", "Job"}};
  made["metadata"] = {{"name", "train"},
                      {"namespace", "default"},
                      {"labels", {{"kueue.x-k8s.io/queue-name", "main"}}}};
  made["spec"] = {{"parallelism", 4}, {"completions", 4}, {"template", pod_template()}};
  return made;
}

Json workload() {
  Json made{{"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", "Workload"}};
  made["metadata"] = {{"name", "job-train"}, {"namespace", "default"}};
  Json set{{"name", "main"}, {"count", 4}, {"template", pod_template()}};
  made["spec"] = {{"queueName", "main"}, {"podSets", Json::array({std::move(set)})}};
  return made;
}

std::string review_of(Json object, const char* group, const char* version, const char* resource) {
  Json request{{"uid", "705ab4f5-6393-11e8-b7cc-42010a800002"}, {"operation", "CREATE"}};
  request["kind"] = {{"group", group}, {"version", version}, {"kind", object["kind"]}};
  request["resource"] = {{"group", group}, {"version", version}, {"resource", resource}};
  request["namespace"] = "default";
  request["name"] = object["metadata"]["name"];
  request["userInfo"] = {{"username", "ann"}, {"groups", {"system:authenticated"}}};
  request["object"] = std::move(object);
  return dump_json({{"apiVersion", "admission.k8s.io/v1"},
                    {"kind", "AdmissionReview"},
                    {"request", std::move(request)}});
}

std::vector<Case> cases() {
  const std::string of_job = review_of(job(), "batch", "v1", "jobs");
  const std::string of_workload = review_of(workload(), "kueue.x-k8s.io", "v1beta2", "workloads");
  return {{"job defaults", "/mutate-batch-v1-job", of_job},
          {"job validation", "/validate-batch-v1-job", of_job},
          {"workload defaults", "/mutate-kueue-x-k8s-io-v1beta2-workload", of_workload},
          {"workload validation", "/validate-kueue-x-k8s-io-v1beta2-workload", of_workload}};
}

/// Where the manager serves webhooks, and how to trust it.
struct Target {
  std::shared_ptr<net::Dialer> dialer;
  std::uint16_t port = 0;
};

Task<Status> call(Ground ground, net::HttpClient& http, Case one) {
  net::HttpRequest request("POST", one.path);
  request.headers.set("Content-Type", "application/json");
  request.body = one.body;
  net::SendOptions options;
  options.deadline = ground.clock.steady() + patience;
  const auto answer = co_await http.send(std::move(request), options);
  if (!answer) co_return answer.error().within(one.path);
  const bool allowed = answer->body.find("\"allowed\":true") != std::string::npos;
  if (answer->status == 200 && allowed) co_return ok();
  co_return Error(Errc::invalid, one.path + ": " + std::to_string(answer->status) + " " +
                                     answer->body.substr(0, 300));
}

std::unique_ptr<net::HttpClient> client_of(const Ground& ground, const Target& target) {
  return std::make_unique<net::HttpClient>(ground.executor, ground.clock, target.dialer, host,
                                           target.port);
}

Task<> call_often(Ground ground, Target target, Case one, int count, Status* outcome) {
  const auto http = client_of(ground, target);
  for (int i = 0; i < count && *outcome; ++i) {
    const Status done = co_await call(ground, *http, one);
    if (!done) *outcome = done;
  }
}

Task<Result<Json>> measure_case(Ground ground, const Process& manager, Target target, Case one,
                                WebhookOptions options) {
  Status outcome = ok();
  const Usage before = manager.usage();
  const SteadyPoint begun = ground.clock.steady();
  std::vector<Task<>> callers;
  for (int i = 0; i < options.connections; ++i) {
    callers.push_back(
        call_often(ground, target, one, options.requests / options.connections, &outcome));
  }
  co_await all_of(std::move(callers));
  if (!outcome) co_return outcome.error();
  const double seconds = std::chrono::duration<double>(ground.clock.steady() - begun).count();
  const double cpu = manager.usage().cpu_seconds - before.cpu_seconds;
  const int sent = options.requests / options.connections * options.connections;
  co_return Json{{"case", one.name},
                 {"requests_per_second", sent / seconds},
                 {"cpu_us_per_request", 1e6 * cpu / sent}};
}

/// Resident memory, in MB, of so many connections that were used once and stay open.
Task<Result<double>> measure_open(Ground ground, const Process& manager, Target target, int count,
                                  Case one) {
  const Usage before = manager.usage();
  std::vector<std::unique_ptr<net::HttpClient>> open;
  for (int i = 0; i < count; ++i) {
    open.push_back(client_of(ground, target));
    const Status done = co_await call(ground, *open.back(), one);
    if (!done) co_return done.error();
  }
  co_return static_cast<double>(manager.usage().rss_bytes - before.rss_bytes) / 1e6;
}

/// A manager with webhooks, on an empty cluster.
Task<Result<Target>> serve(Ground ground, Cluster& cluster) {
  const TimePoint now = ground.clock.now();
  constexpr Duration day = std::chrono::hours(24);
  const auto authority = net::CertificateAuthority::create("bench", now, day);
  if (!authority) co_return authority.error();
  const auto pair = authority->issue_server({"webhooks", {}, {host}}, now, day);
  if (!pair) co_return pair.error();
  const std::filesystem::path folder = ground.folder / "certs";
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  for (const auto& [name, text] :
       {std::pair("tls.crt", &pair->certificate_pem), std::pair("tls.key", &pair->key_pem)}) {
    const Status written = lab::write_private(folder / name, *text);
    if (!written) co_return written.error();
  }
  Target target;
  {
    const auto probe = net::listen_tcp(ground.executor, host, 0);
    if (!probe) co_return probe.error();
    target.port = (*probe)->port();
  }
  const Status started = cluster.start_manager(
      "internalCertManagement: {enable: false}\nwebhook: {host: 127.0.0.1, port: " +
      std::to_string(target.port) + ", certDir: " + folder.string() + "}\n");
  if (!started) co_return started.error();
  net::TlsClientOptions trust;
  trust.ca_pem = authority->certificate_pem();
  auto dialer = net::TlsDialer::create(ground.clock, trust);
  if (!dialer) co_return dialer.error();
  target.dialer = std::move(*dialer);
  co_return target;
}

Task<Result<Json>> measure_all(Ground ground, WebhookOptions options) {
  auto cluster = co_await Cluster::start(ground, "solo");
  if (!cluster) co_return cluster.error();
  const auto target = co_await serve(ground, **cluster);
  if (!target) co_return target.error();
  const Process& manager = (*cluster)->manager();
  const std::vector<Case> all = cases();
  const SteadyPoint deadline = ground.clock.steady() + patience;
  const auto first = client_of(ground, *target);
  for (const Case& one : all) {
    Status answered = co_await call(ground, *first, one);
    while (!answered && ground.clock.steady() < deadline && manager.running()) {
      co_await ground.clock.sleep_for(std::chrono::milliseconds(100));
      answered = co_await call(ground, *first, one);
    }
    if (!answered) co_return answered.error();
  }
  Json results = Json::array();
  for (const Case& one : all) {
    auto measured = co_await measure_case(ground, manager, *target, one, options);
    if (!measured) co_return measured.error();
    results.push_back(std::move(*measured));
  }
  const auto open = co_await measure_open(ground, manager, *target, options.open, all.front());
  if (!open) co_return open.error();
  co_return Json{{"cases", std::move(results)},
                 {"open_connections", options.open},
                 {"open_connections_mb", *open},
                 {"rss_mb", static_cast<double>(manager.usage().rss_bytes) / 1e6}};
}

}  // namespace

Task<int> webhooks(Ground ground, WebhookOptions options) {
  const auto result = co_await measure_all(ground, options);
  if (!result) {
    std::fprintf(stderr, "regatta_bench: %s; logs are in %s\n", result.error().what().c_str(),
                 ground.folder.c_str());
    co_return 1;
  }
  if (options.json) {
    std::printf("%s\n", dump_json(*result).c_str());
  } else {
    for (const Json& one : (*result)["cases"]) {
      std::printf("%-22s %8.0f requests/s %8.0f us of CPU each\n",
                  one["case"].get<std::string>().c_str(), one["requests_per_second"].get<double>(),
                  one["cpu_us_per_request"].get<double>());
    }
    std::printf("%d open connections take %.1f MB; the manager has %.1f MB\n", options.open,
                (*result)["open_connections_mb"].get<double>(), (*result)["rss_mb"].get<double>());
  }
  std::fflush(stdout);
  co_return 0;
}

}  // namespace regatta::bench
