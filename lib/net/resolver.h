#pragma once

#include "lib/net/dialer.h"

#include <functional>
#include <map>

namespace regatta::net {

using Addresses = Result<std::vector<std::string>>;
/// Looks a name up and calls `done` once, from any thread. It must not block.
using StartLookup =
    std::function<void(const std::string& host, std::function<void(Addresses)> done)>;

/// The C library's getaddrinfo_a(): up to twenty lookups at once, in threads of its own, for which
/// nothing waits when the process ends.
StartLookup system_lookup();

/// Asks for each name at most once at a time, however many ask here: so a name server that does not
/// answer costs one thread for each of its names, and delays no other name. A caller that is
/// cancelled leaves; the lookup goes on, and the next caller joins it.
class LookupResolver final : public Resolver {
 public:
  explicit LookupResolver(StartLookup start = system_lookup());
  ~LookupResolver() override;
  Task<Addresses> resolve(std::string host) override;

 private:
  struct Lookup;
  struct Home;
  StartLookup start_;
  std::shared_ptr<Home> home_;
};

struct RememberedNames {
  Duration fresh = std::chrono::seconds(30);  ///< not asked again for so long
  Duration stale = std::chrono::hours(1);     ///< what is used while the name server fails
  Duration patience{500};                     ///< with it, when there are addresses to use
};

/// Remembers the addresses of the names of one API server, so that neither the failure nor the
/// slowness of a name server breaks what worked.
class RememberingResolver final : public Resolver {
 public:
  RememberingResolver(Clock& clock, std::shared_ptr<Resolver> source, RememberedNames options = {})
      : clock_(clock), source_(std::move(source)), options_(options) {}
  Task<Addresses> resolve(std::string host) override;

 private:
  struct Remembered {
    std::vector<std::string> addresses;
    SteadyPoint at;
  };
  Clock& clock_;
  std::shared_ptr<Resolver> source_;
  RememberedNames options_;
  std::map<std::string, Remembered> names_;
};

}  // namespace regatta::net
