#include "lib/net/resolver.h"

#include "lib/runtime/deadline.h"
#include "lib/runtime/wakeup.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <arpa/inet.h>
#include <csignal>
#include <mutex>
#include <netdb.h>
#include <sys/socket.h>

namespace regatta::net {
namespace {

std::string address_text(const addrinfo& entry) {
  char text[INET6_ADDRSTRLEN] = "";
  const void* address = nullptr;
  if (entry.ai_family == AF_INET) {
    address = &reinterpret_cast<const sockaddr_in*>(entry.ai_addr)->sin_addr;
  } else if (entry.ai_family == AF_INET6) {
    address = &reinterpret_cast<const sockaddr_in6*>(entry.ai_addr)->sin6_addr;
  }
  if (!address || !::inet_ntop(entry.ai_family, address, text, sizeof text)) return {};
  return text;
}

/// One call of getaddrinfo_a(). It owns itself until the C library is done with it.
struct SystemLookup {
  SystemLookup(std::string name, std::function<void(Addresses)> call)
      : host(std::move(name)), done(std::move(call)) {
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG;
    request.ar_name = host.c_str();
    request.ar_request = &hints;
  }
  ~SystemLookup() {
    if (request.ar_result) ::freeaddrinfo(request.ar_result);
  }

  Addresses addresses() {
    const int failure = ::gai_error(&request);
    if (failure != 0) return Error(Errc::unavailable, ::gai_strerror(failure));
    std::vector<std::string> found;
    for (const addrinfo* at = request.ar_result; at; at = at->ai_next) {
      if (std::string text = address_text(*at); !text.empty()) found.push_back(std::move(text));
    }
    return found;
  }

  std::string host;
  std::function<void(Addresses)> done;
  addrinfo hints{};
  gaicb request{};
};

void lookup_ended(sigval value) {
  const std::unique_ptr<SystemLookup> lookup(static_cast<SystemLookup*>(value.sival_ptr));
  lookup->done(lookup->addresses());
}

}  // namespace

StartLookup system_lookup() {
  return [](const std::string& host, std::function<void(Addresses)> done) {
    auto lookup = std::make_unique<SystemLookup>(host, std::move(done));
    sigevent notify{};
    notify.sigev_notify = SIGEV_THREAD;
    notify.sigev_notify_function = lookup_ended;
    notify.sigev_value.sival_ptr = lookup.get();
    gaicb* requests[] = {&lookup->request};
    const int failure = ::getaddrinfo_a(GAI_NOWAIT, requests, 1, &notify);
    if (failure != 0) return lookup->done(Error(Errc::unavailable, ::gai_strerror(failure)));
    // lookup_ended() owns it from now on.
    [[maybe_unused]] const SystemLookup* theirs = lookup.release();
  };
}

struct LookupResolver::Lookup {
  explicit Lookup(const Executor& executor) : ended(executor) {}
  std::optional<Addresses> found;
  Wakeup ended;
};

/// What a lookup that ends finds of the resolver. The mutex is for `closed` alone, which a thread
/// of the C library reads: everything else belongs to the control thread.
struct LookupResolver::Home {
  std::mutex mutex;
  bool closed = false;
  std::map<std::string, std::shared_ptr<Lookup>> under_way;
};

LookupResolver::LookupResolver(StartLookup start)
    : start_(std::move(start)), home_(std::make_shared<Home>()) {}

LookupResolver::~LookupResolver() {
  const std::lock_guard lock(home_->mutex);
  home_->closed = true;
  home_->under_way.clear();  // here: the threads must not see the executor's timers
}

Task<Addresses> LookupResolver::resolve(std::string host) {
  const Executor executor = co_await asio::this_coro::executor;
  std::shared_ptr<Lookup>& slot = home_->under_way[host];
  std::shared_ptr<Lookup> lookup = slot;
  if (!lookup) {
    lookup = slot = std::make_shared<Lookup>(executor);
    const auto home = home_;
    start_(host, [home, host, executor](Addresses found) {
      const std::lock_guard lock(home->mutex);
      if (home->closed) return;  // and the executor may be gone
      asio::post(executor, [home, host, found = std::move(found)]() mutable {
        const auto ended = home->under_way.extract(host);
        if (ended.empty()) return;
        ended.mapped()->found = std::move(found);
        ended.mapped()->ended.notify_all();
      });
    });
  }
  while (!lookup->found) co_await lookup->ended.wait();
  co_return *lookup->found;
}

Task<Addresses> RememberingResolver::resolve(std::string host) {
  const SteadyPoint now = clock_.steady();
  const auto known = names_.find(host);
  const bool usable = known != names_.end() && now - known->second.at < options_.stale;
  if (usable && now - known->second.at < options_.fresh) co_return known->second.addresses;
  Addresses found = Error(Errc::timeout, "the name server does not answer");
  Task<Addresses> asking = source_->resolve(host);
  if (usable) {
    found = co_await with_deadline(clock_, now + options_.patience, std::move(asking));
  } else {
    found = co_await std::move(asking);
  }
  if (found && !found->empty()) {
    names_.insert_or_assign(host, Remembered{*found, clock_.steady()});
    co_return found;
  }
  const auto still = names_.find(host);
  if (usable && still != names_.end()) co_return still->second.addresses;
  co_return found;
}

}  // namespace regatta::net
