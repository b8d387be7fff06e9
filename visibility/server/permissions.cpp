#include "visibility/server/permissions.h"

#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::visibility {
namespace {

// As long as any API server keeps such answers.
constexpr Duration decision_kept = std::chrono::seconds(10);
constexpr std::size_t decisions_max = 4096;
/// Questions to the API server at one time; more requests have to come again.
constexpr std::size_t questions_max = 32;

constexpr api::ResourceInfo reviews{"authorization.k8s.io", "v1", "SubjectAccessReview",
                                    "subjectaccessreviews", false};

struct Counted {
  explicit Counted(std::size_t* count) : count(count) { ++*count; }
  ~Counted() { --*count; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  std::size_t* count;
};

}  // namespace

Permissions::Permissions(kube::Client& client, Clock& clock)
    : client_(client), clock_(clock), kept_(decisions_max) {}

Task<Result<Decision>> Permissions::decide(User user, Attributes what) {
  if (always_allowed(user)) co_return Decision{true, ""};
  const std::string review = dump_json(review_of(user, what));
  if (const Decision* kept = kept_.find(review, clock_.steady())) co_return *kept;
  if (asking_ >= questions_max) co_return Error(Errc::unavailable, "too many questions at once");
  const Counted counted(&asking_);
  const Result<std::string> answer = co_await client_.create_raw(reviews, "", review);
  if (!answer) co_return answer.error();
  const Result<Json> read = parse_json(*answer);
  if (!read) co_return read.error();
  const Json& status = object_or_empty(*read, {"status"});
  const Decision decision{true_at(status, "allowed"), text_at(status, "reason")};
  kept_.put(review, decision, clock_.steady(), decision_kept);
  co_return decision;
}

}  // namespace regatta::visibility
