#include "clusters/job_store.h"

#include "jobs/batch/kind.h"

#include <gtest/gtest.h>

namespace regatta::clusters {
namespace {

TEST(JobStoreAnswers, AJobInAnAnswerHasTheLengthOfTheWholeText) {
  const std::string text =
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"ns","name":"a"},"spec":
         {"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}},"unknown":")" +
      std::string(1000, 'u') + R"("})";
  const JobStore store{JobStoreDeps()};
  const auto job = store.decode(*jobs::batch_job_kind(), text);
  ASSERT_TRUE(job);
  EXPECT_EQ((*job)->metadata().name, "a");
  EXPECT_EQ(job->bytes, text.size());
}

}  // namespace
}  // namespace regatta::clusters
