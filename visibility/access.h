#pragma once

/// What a request asks permission for, and how an API server is asked.

#include "lib/base/json.h"
#include "visibility/front_proxy.h"

#include <string>
#include <string_view>

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

}  // namespace regatta::visibility
