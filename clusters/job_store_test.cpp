#include "clusters/job_store.h"

#include "jobs/batch/kind.h"
#include "jobs/jobset/kind.h"
#include "jobs/pod/kind.h"
#include "lib/kube/faulty_sender.h"
#include "lib/net/handler_sender.h"
#include "lib/runtime/task_scope.h"
#include "lib/sim/world.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::clusters {
namespace {

using namespace std::chrono_literals;

TEST(JobStoreAnswers, AJobInAnAnswerHasTheLengthOfTheWholeText) {
  const std::string text =
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"ns","name":"a"},"spec":
         {"template":{"spec":{"containers":[
           {"name":"main","image":"registry.example.com/team/image:v1.23"}]}}},"unknown":")" +
      std::string(1000, 'u') + R"("})";
  const JobStore store{JobStoreDeps()};
  const auto job = store.decode(*jobs::batch_job_kind(), text);
  ASSERT_TRUE(job);
  EXPECT_EQ((*job)->metadata().name, "a");
  EXPECT_EQ(job->bytes, text.size());
}

/// Ends after two minutes, in the middle of which it has a bookmark.
class QuietWatch final : public net::BodyStream {
 public:
  explicit QuietWatch(Clock& clock) : clock_(clock) {}
  Task<Result<std::optional<std::string>>> next() override {
    co_await clock_.sleep_for(1min);
    if (std::exchange(marked_, true)) co_return std::optional<std::string>();
    const Json bookmark = {{"type", "BOOKMARK"},
                           {"object", {{"metadata", {{"resourceVersion", "5"}}}}}};
    co_return std::optional<std::string>(dump_json(bookmark) + "\n");
  }

 private:
  Clock& clock_;
  bool marked_ = false;
};

/// Has one JobSet and one Job.
class TwoKinds final : public net::HttpHandler {
 public:
  explicit TwoKinds(Clock& clock) : clock_(clock) {}
  Task<net::HttpResponse> handle(net::HttpRequest request) override {
    const bool concerned = request.target.find(refused) != std::string::npos;
    if (refused_with != 0 && concerned) {
      co_return kube::status_response(refused_with, "Refused", "not here");
    }
    if (request.target.find("watch=1") != std::string::npos) {
      net::HttpResponse watch(200, "");
      watch.stream = std::make_shared<QuietWatch>(clock_);
      co_return watch;
    }
    const bool set = request.target.find("/jobsets") != std::string::npos;
    Json item = {
        {"apiVersion", set ? "jobset.x-k8s.io/v1alpha2" : "batch/v1"},
        {"kind", set ? "JobSet" : "Job"},
        {"metadata", {{"namespace", "ns"}, {"name", "a"}, {"uid", "u"}, {"resourceVersion", "4"}}},
        {"spec", Json::object()}};
    if (!set) {
      const Json container = {{"name", "c"}, {"image", "i"}};
      item["spec"]["template"]["spec"]["containers"] = Json::array({container});
    }
    const Json list = {{"metadata", {{"resourceVersion", "5"}}}, {"items", Json::array({item})}};
    co_return net::HttpResponse(200, dump_json(list));
  }

  std::string refused;  ///< part of the paths
  unsigned refused_with = 0;

 private:
  Clock& clock_;
};

class JobStores : public testing::Test {
 protected:
  ~JobStores() override {
    scope_.stop();
    world_.settle();
  }
  JobStoreDeps deps(std::vector<std::shared_ptr<const jobs::JobKind>> kinds) {
    JobStoreDeps deps;
    deps.kinds = jobs::JobKinds(std::move(kinds));
    deps.informer = [this](const jobs::JobKind&) {
      return kube::InformerDeps{client_, world_, world_.rng, world_.executor(), {}};
    };
    deps.options.list_after_loss = true;
    return deps;
  }

  sim::World world_{1};
  TaskScope scope_{world_.executor()};
  TwoKinds server_{world_};
  net::HandlerSender sender_{world_, server_};
  kube::Client client_{kube::ClientDeps{sender_, world_, world_.rng, nullptr, {}}};
};

TEST_F(JobStores, RememberAllMembersOfALargeGroupThatIsGone) {
  JobStore store(deps({jobs::pod_kind()}));
  const auto pod = [](int i) {
    return jobs::JobId{jobs::pod_kind().get(), {"ns", "p" + std::to_string(i)}};
  };
  constexpr int many = 2000;
  for (int i = 0; i < many; ++i) store.observe_absent(pod(i), nullptr);
  for (int i = 0; i < many; ++i) ASSERT_EQ(store.absence(pod(i)), kube::Absence::read) << i;
}

class WithdrawnKinds : public JobStores {
 protected:
  WithdrawnKinds() {
    store_.for_each_informer([this](const jobs::JobKind&, JobStore::Informer& informer) {
      scope_.spawn("informer", informer.run());
    });
    world_.run_for(10s);
  }
  /// The scope ends before the store goes.
  ~WithdrawnKinds() override {
    scope_.stop();
    world_.settle();
  }
  void refuse(const std::string& path, unsigned status) {
    server_.refused = path;
    server_.refused_with = status;
    world_.run_for(5min);
  }
  /// What holds of the store, and of JobSets in it.
  std::string how() const {
    const jobs::JobKind& sets = *jobs::jobset_kind();
    std::string text = store_.current() ? "current" : "lost";
    if (!store_.serves(sets)) text += ", not served";
    if (store_.withdrawn(sets)) text += ", withdrawn";
    if (store_.worst_health().last_error) text += ", an error";
    if (!store_.get({&sets, {"ns", "a"}})) text += ", gone";
    const auto heard = store_.heard();
    if (!heard || *heard + 3min < world_.now()) text += ", unheard of";
    return text;
  }

  JobStore store_{deps({jobs::batch_job_kind(), jobs::jobset_kind()})};
};

TEST_F(WithdrawnKinds, AKindOfWhichThereAreJobsConcernsNoOtherOneWhenItIsNoLongerServed) {
  EXPECT_EQ(how(), "current");
  for (const unsigned status : {404, 403}) {
    refuse("/jobsets", status);
    EXPECT_EQ(how(), "current, not served, withdrawn");
    refuse("/jobsets", 503);
    EXPECT_EQ(how(), "current, not served, withdrawn") << "another error is no news";
    refuse("/jobsets", 0);
    EXPECT_EQ(how(), "current");
  }
}

TEST_F(WithdrawnKinds, AServerThatFailsOtherwiseIsLost) {
  refuse("/jobsets", 500);
  EXPECT_EQ(how(), "lost, an error, unheard of");
  refuse("/jobsets", 401);
  EXPECT_EQ(how(), "lost, an error, unheard of");
  refuse("/jobsets", 0);
  EXPECT_EQ(how(), "current");
}

TEST_F(WithdrawnKinds, AServerThatDeniesWhatEveryServerHasIsLost) {
  for (const unsigned status : {404, 403}) {
    refuse("/jobs?", status);
    EXPECT_EQ(how(), "lost, an error, unheard of");
  }
}

}  // namespace
}  // namespace regatta::clusters
