#pragma once

#include "lib/base/kept_answers.h"
#include "lib/kube/client.h"
#include "visibility/access.h"

namespace regatta::visibility {

/// Asks the API server what users may do, and keeps each answer for ten seconds. Few questions are
/// under way at a time.
class Permissions {
 public:
  /// `client` creates SubjectAccessReviews; every replica may. Both outlive this.
  Permissions(kube::Client& client, Clock& clock);

  /// `unavailable` when too many questions wait for answers already, or the error of the question.
  Task<Result<Decision>> decide(User user, Attributes what);

 private:
  kube::Client& client_;
  Clock& clock_;
  KeptAnswers<Decision> kept_;
  std::size_t asking_ = 0;
};

}  // namespace regatta::visibility
