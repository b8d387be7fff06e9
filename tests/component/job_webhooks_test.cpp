#include "lib/api/yaml.h"
#include "lib/base/base64.h"
#include "lib/base/json_access.h"
#include "manager/webhooks/job_reviews.h"
#include "tests/component/one_cluster.h"

namespace regatta::test_support {
namespace {

/// The webhooks of jobs, over the caches of a manager.
class JobWebhooks : public OneCluster {
 protected:
  void serve() {
    start_with_queues();
    jobs::JobWebhookConfig config;
    manager::add_job_webhooks(&handler_,
                              {manager_->core().local(), config, true, [this] { return synced_; }});
  }
  static Json parsed(const std::string& yaml) { return api::parse_yaml(yaml).value(); }
  /// The response to a review.
  Json review(const std::string& path, const std::string& operation, const Json& object,
              const Json& before = nullptr) {
    const Json body{
        {"request",
         {{"uid", "u"}, {"operation", operation}, {"object", object}, {"oldObject", before}}}};
    net::HttpRequest request("POST", path);
    request.headers.set("Content-Type", "application/json");
    request.body = body.dump();
    const net::HttpResponse response = run(world_, handler_.handle(std::move(request)));
    EXPECT_EQ(response.status, 200u) << response.body;
    return Json::parse(response.body).at("response");
  }
  /// Collects every version of every job from now on.
  void follow_jobs() {
    auto opened = run(world_, cluster_.admin().watch(api::Job::resource, "default", {}));
    ASSERT_TRUE(opened);
    watch_.emplace(std::move(*opened));
    scope_.spawn("watch", collect());
  }
  Task<> collect() {
    for (;;) {
      const auto event = co_await watch_->next();
      if (!event || !*event) co_return;
      if ((*event)->object) versions_.push_back(*(*event)->object);
    }
  }
  ~JobWebhooks() override {
    scope_.stop();
    world_.settle();
  }

  bool synced_ = true;
  webhooks::WebhookHandler handler_{webhooks::Gates()};
  std::optional<kube::WatchStream> watch_;
  std::vector<Json> versions_;
  TaskScope scope_{world_.executor()};
};

TEST_F(JobWebhooks, a_new_job_is_suspended_and_other_changes_suspend_nothing) {
  serve();
  Json job = parsed(job_yaml("j"));
  job["spec"]["suspend"] = false;
  const Json answer = review("/mutate-batch-v1-job", "CREATE", job);
  EXPECT_EQ(Json::parse(base64_decode(text_at(answer, "patch")).value()),
            Json::parse(R"([{"op": "replace", "path": "/spec/suspend", "value": true}])"));
  EXPECT_FALSE(review("/mutate-batch-v1-job", "UPDATE", job, job).contains("patch"));
  EXPECT_TRUE(review("/validate-batch-v1-job", "DELETE", nullptr, job).at("allowed"));
}

TEST_F(JobWebhooks, a_wrong_job_is_refused_with_everything_that_is_wrong) {
  serve();
  const Json job =
      parsed(job_yaml("j", 1, "Not_a_name", "{kueue.x-k8s.io/admission-gated-by: nonsense}"));
  const Json answer = review("/validate-batch-v1-job", "CREATE", job);
  EXPECT_FALSE(answer.at("allowed"));
  EXPECT_EQ(answer.at("status").at("code"), 403);
  const std::string& message = text_at(answer, {"status", "message"});
  EXPECT_THAT(message, testing::HasSubstr("metadata.labels[kueue.x-k8s.io/queue-name]"));
  EXPECT_THAT(message, testing::HasSubstr("must be a domain-prefixed path"));
}

TEST_F(JobWebhooks, no_job_is_let_in_before_the_caches_are_complete) {
  serve();
  synced_ = false;
  const Json answer = review("/mutate-batch-v1-job", "CREATE", parsed(job_yaml("j")));
  EXPECT_FALSE(answer.at("allowed"));
  EXPECT_EQ(answer.at("status").at("code"), 503);
}

TEST_F(JobWebhooks, a_job_may_be_a_moment_younger_than_its_owner) {
  serve();
  single_out("/jobs");
  manager_->faults().half_open_watch = 1;
  settle(20min);
  apply(job_yaml("maker"));
  ASSERT_TRUE(manager_->core().local().jobs.list().empty()) << "the watch is silent";
  Json made = parsed(job_yaml("made"));
  made["spec"]["suspend"] = false;
  made["metadata"]["ownerReferences"] = {{{"apiVersion", "batch/v1"},
                                          {"kind", "Job"},
                                          {"name", "maker"},
                                          {"uid", job("maker").metadata.uid},
                                          {"controller", true}}};
  Json answer = review("/mutate-batch-v1-job", "CREATE", made);
  EXPECT_TRUE(answer.at("allowed")) << answer.dump();
  EXPECT_FALSE(answer.contains("patch")) << "its owner is in a queue";

  made["metadata"]["ownerReferences"][0]["name"] = "nobody";
  answer = review("/mutate-batch-v1-job", "CREATE", made);
  EXPECT_THAT(answer.dump(), testing::HasSubstr("jobs.batch \\\"nobody\\\" not found"));

  manager_->faults().withheld = 1;
  manager_->faults().withheld_with = 503;
  answer = review("/mutate-batch-v1-job", "CREATE", made);
  EXPECT_FALSE(answer.at("allowed"));
  EXPECT_EQ(answer.at("status").at("code"), 500) << answer.dump();
  // A kind that may not be read is known by its watch alone.
  manager_->faults().withheld_with = 403;
  answer = review("/mutate-batch-v1-job", "CREATE", made);
  EXPECT_EQ(answer.at("status").at("code"), 400) << answer.dump();
}

TEST_F(JobWebhooks, everything_that_the_manager_writes_to_a_job_is_accepted) {
  serve();
  // Six pods are asked for, and there is room for four: partial admission changes the size.
  follow_jobs();
  apply(job_yaml("j", 6, "main", "{kueue.x-k8s.io/job-min-parallelism: \"2\"}"));
  settle();
  EXPECT_EQ(job("j").spec.parallelism, 4);
  run_job("j", 4);
  settle();
  const auto workload = workload_of("j");
  ASSERT_TRUE(workload);
  const Status stopped = cluster_.patch(api::Workload::resource, workload->metadata.key(),
                                        R"({"spec": {"active": false}})");
  ASSERT_TRUE(stopped) << stopped.error().what();
  settle();
  patch_job_status("j", R"({"status": {"active": null, "ready": 0}})");
  settle();
  EXPECT_EQ(job("j").spec.parallelism, 6);
  EXPECT_EQ(job("j").spec.suspend, true);
  ASSERT_GE(versions_.size(), 6u);
  for (std::size_t i = 1; i < versions_.size(); ++i) {
    const Json answer = review("/validate-batch-v1-job", "UPDATE", versions_[i], versions_[i - 1]);
    EXPECT_TRUE(answer.at("allowed")) << answer.dump() << versions_[i].dump();
  }
}

}  // namespace
}  // namespace regatta::test_support
