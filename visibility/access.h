#pragma once

/// What a request asks permission for, and the answers of the API server that are kept for a while.

#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "visibility/front_proxy.h"

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace regatta::visibility {

/// What a request would do, in the terms of a SubjectAccessReview.
struct Attributes {
  std::string verb;
  std::string path;  ///< of a request that names no resource; else empty
  std::string api_group;
  std::string version;
  std::string ns;
  std::string resource;  ///< "clusterqueues"
  std::string subresource;
  std::string name;
};
Attributes attributes_of(std::string_view method, std::string_view target);

/// The SubjectAccessReview to create.
Json review_of(const User& user, const Attributes& what);
/// Users that may do everything are not asked about, as in any Kubernetes API server.
bool always_allowed(const User& user);
/// Why the user may not, as Kubernetes words it, and the details of the Status.
std::string refusal_of(const User& user, const Attributes& what, std::string_view reason);
Json refusal_details(const Attributes& what);

struct Decision {
  bool allowed = false;
  std::string reason;
};

/// Decisions, each for a limited time, of a limited number. Not for several threads.
class AccessCache {
 public:
  AccessCache(std::size_t entries_max, Duration kept) : entries_max_(entries_max), kept_(kept) {}

  /// Null when the question is new or the answer too old.
  const Decision* find(const std::string& review, SteadyPoint now);
  void put(const std::string& review, Decision decision, SteadyPoint now);
  std::size_t size() const { return kept_decisions_.size(); }

 private:
  struct Kept {
    Decision decision;
    SteadyPoint until;
  };
  std::size_t entries_max_;
  Duration kept_;
  std::unordered_map<std::string, Kept> kept_decisions_;
  std::deque<std::pair<SteadyPoint, std::string>> order_;  ///< the first to expire at the front
};

}  // namespace regatta::visibility
