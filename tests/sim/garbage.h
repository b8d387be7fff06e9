#pragma once

#include "lib/base/rng.h"
#include "lib/net/http.h"

#include <string>

namespace regatta::simtest {

/// The answers of an API server that says anything at all: other statuses, other bodies, half of a
/// body, values that no version knows, lists without an end, times that are years away.
class Garbler {
 public:
  explicit Garbler(Rng& rng) : rng_(rng) {}
  /// With that probability.
  void perhaps_change(double chance, net::HttpResponse* answer);
  /// A piece of a watch.
  void perhaps_change(double chance, std::string* piece);

 private:
  std::size_t any(std::size_t below);
  void change_text(std::string* body);

  Rng& rng_;
  std::string earlier_;  ///< the body of an answer that was given before
};

}  // namespace regatta::simtest
