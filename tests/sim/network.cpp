#include "tests/sim/network.h"

#include "lib/base/json.h"
#include "tests/sim/garbage.h"
#include "tests/sim/kinds.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::simtest {
namespace {

/// A server as one author reaches it: the history learns whose request each change comes from.
class Door final : public net::HttpHandler {
 public:
  explicit Door(const LinkDeps& deps)
      : server_(deps.server),
        history_(deps.history),
        author_(deps.author),
        cluster_(deps.cluster),
        token_(deps.token) {}

  Task<net::HttpResponse> handle(net::HttpRequest request) override {
    if (history_ && history_->refuses(author_.cluster, cluster_, token_)) {
      co_return kube::status_response(401, "Unauthorized", "Unauthorized");
    }
    if (history_ && author_.cluster == cluster_ && history_->was_cut_off(author_)) {
      co_return kube::status_response(503, "ServiceUnavailable", "the server was stopped");
    }
    // The server makes each write in one step, without giving way to another request.
    if (history_) history_->begin_writes(&author_);
    net::HttpResponse response = co_await server_.handle(std::move(request));
    if (history_) history_->end_writes(&author_);
    co_return response;
  }

 private:
  net::HttpHandler& server_;
  History* history_;
  Author author_;
  std::string cluster_, token_;
};

/// The pieces of a watch, as a process reads them.
class ReadPieces final : public net::BodyStream {
 public:
  ReadPieces(std::shared_ptr<net::BodyStream> inner, std::string target, const LinkDeps& deps)
      : inner_(std::move(inner)),
        target_(std::move(target)),
        gate_(deps.gate),
        author_(deps.author),
        tampering_(deps.tampering),
        faults_(deps.faults),
        garbler_(deps.world.rng) {}

  Task<Result<std::optional<std::string>>> next() override {
    for (;;) {
      auto piece = co_await inner_->next();
      if (gate_ && !gate_->is_open()) co_await gate_->pass();
      if (piece && *piece) garbler_.perhaps_change(faults_->garbage, &**piece);
      if (!piece || !*piece || !tampering_ || !tampering_->piece) co_return piece;
      tampering_->piece(author_, target_, &**piece);
      if (!(*piece)->empty()) co_return piece;
    }
  }

 private:
  std::shared_ptr<net::BodyStream> inner_;
  std::string target_;
  std::shared_ptr<Gate> gate_;
  Author author_;
  const Tampering* tampering_;
  std::shared_ptr<const LinkFaults> faults_;
  Garbler garbler_;
};

bool is_read(const net::HttpRequest& request) {
  return request.method == "GET";
}

std::string path_of(const net::HttpRequest& request) {
  return request.target.substr(0, request.target.find('?'));
}

bool leads_to_jobs(const std::string& path) {
  const auto& kinds = kinds_of_jobs();
  return std::any_of(kinds.begin(), kinds.end(), [&](const KindOfJob& kind) {
    return path.ends_with("/" + std::string(kind.resource.plural));
  });
}

net::HttpResponse refused_by_webhook(unsigned status) {
  return kube::status_response(status, status == 422 ? "Invalid" : "Forbidden",
                               "admission webhook denied the request (fault)");
}

}  // namespace

bool creates_job(const net::HttpRequest& request) {
  return request.method == "POST" && leads_to_jobs(path_of(request));
}

bool creates_copy(const net::HttpRequest& request) {
  return request.method == "POST" && path_of(request).ends_with("/workloads");
}

bool deletes_work(const net::HttpRequest& request) {
  if (request.method != "DELETE") return false;
  std::string path = path_of(request);
  path.resize(path.rfind('/'));
  return leads_to_jobs(path) || path.ends_with("/workloads");
}

bool writes_job_status(const net::HttpRequest& request) {
  std::string path = path_of(request);
  if (is_read(request) || !path.ends_with("/status")) return false;
  path.resize(path.rfind('/', path.rfind('/') - 1));
  return leads_to_jobs(path);
}

void Gate::open() {
  open_ = true;
  opened_.notify_all();
}

Task<> Gate::pass() {
  while (!open_) co_await opened_.wait();
}

Task<> MachineClock::sleep_until(SteadyPoint t) {
  co_await world_.sleep_until(t);
  if (gate_ && !gate_->is_open()) co_await gate_->pass();
}

bool LinkFaults::sound() const {
  return !partitioned && late == 0 && hang_before == 0 && drop_before == 0 && lose_reply == 0 &&
         hang_reply == 0 && gone == 0 && too_many == 0 && server_error == 0 && cut_watch == 0 &&
         half_open_watch == 0 && gone_in_watch == 0 && garbage == 0;
}

struct LinkSender::Route {
  explicit Route(LinkDeps given)
      : deps(std::move(given)),
        door(deps),
        direct(deps.world, door, {deps.user, {"system:masters"}}),
        faulty(direct, deps.world, deps.world.rng, deps.faults),
        garbler(deps.world.rng) {}
  LinkDeps deps;
  Door door;
  net::HandlerSender direct;
  kube::FaultySender faulty;
  Garbler garbler;
};

struct LinkSender::Reply {
  explicit Reply(const Executor& executor) : arrived(executor) {}
  std::optional<Result<net::HttpResponse>> answer;
  Wakeup arrived;
};

LinkSender::LinkSender(LinkDeps deps) : route_(std::make_shared<Route>(std::move(deps))) {}

Task<Result<net::HttpResponse>> LinkSender::send(net::HttpRequest request,
                                                 net::SendOptions options) {
  const LinkDeps& deps = route_->deps;
  // The last moment at which the process decides. Its gate may be gone when the request arrives.
  if (options.gate) {
    const Status open = options.gate->may_send();
    if (!open) co_return open.error();
    options.gate = nullptr;
  }
  if (deps.tampering && deps.tampering->request) deps.tampering->request(deps.author, &request);
  if (deps.history) deps.history->sent(deps.author, deps.cluster, request);
  Task<Result<net::HttpResponse>> exchange =
      is_read(request) ? read(std::move(request), options) : write(std::move(request), options);
  auto answer = co_await std::move(exchange);
  if (answer) route_->garbler.perhaps_change(deps.faults->garbage, &*answer);
  if (route_->deps.gate && !route_->deps.gate->is_open()) co_await route_->deps.gate->pass();
  co_return answer;
}

Task<Result<net::HttpResponse>> LinkSender::read(net::HttpRequest request,
                                                 net::SendOptions options) {
  const std::string target = request.target;
  auto answer = co_await route_->faulty.send(std::move(request), options);
  if (answer && answer->stream) {
    answer->stream = std::make_shared<ReadPieces>(std::move(answer->stream), target, route_->deps);
  }
  co_return answer;
}

Task<Result<net::HttpResponse>> LinkSender::write(net::HttpRequest request,
                                                  net::SendOptions options) {
  LinkDeps& deps = route_->deps;
  const LinkFaults& faults = *deps.faults;
  if (faults.refuse_jobs != 0 && creates_job(request)) {
    co_return refused_by_webhook(faults.refuse_jobs);
  }
  if (faults.refuse_copies != 0 && creates_copy(request)) {
    co_return refused_by_webhook(faults.refuse_copies);
  }
  if (faults.keeps && deletes_work(request)) co_return refused_by_webhook(403);
  if (faults.refuse_statuses > 0 && writes_job_status(request) &&
      deps.world.rng.chance(faults.refuse_statuses)) {
    co_return refused_by_webhook(422);
  }
  if (faults.late > 0 && !faults.partitioned && deps.world.rng.chance(faults.late)) {
    const Duration after(deps.world.rng.between(0, faults.late_max.count()));
    deps.network.spawn("late request", deliver_late(route_, std::move(request), after));
    co_await deps.world.sleep_until(
        std::min(options.deadline, deps.world.steady() + kube::FaultySender::hang_max));
    co_return Error(Errc::timeout, "no answer (late)");
  }
  const auto reply = std::make_shared<Reply>(deps.world.executor());
  deps.network.spawn("request", carry(route_, reply, std::move(request), options));
  while (!reply->answer) co_await reply->arrived.wait();
  co_return std::move(*reply->answer);
}

Task<> LinkSender::carry(std::shared_ptr<Route> route, std::shared_ptr<Reply> reply,
                         net::HttpRequest request, net::SendOptions options) {
  reply->answer = co_await route->faulty.send(std::move(request), options);
  reply->arrived.notify_all();
}

Task<> LinkSender::deliver_late(std::shared_ptr<Route> route, net::HttpRequest request,
                                Duration after) {
  const LinkDeps& deps = route->deps;
  const std::string target = request.target;
  if (deps.history) deps.history->is_late(deps.cluster, target);
  co_await deps.world.sleep_for(after);
  if (deps.history) deps.history->is_there(deps.cluster, target);
  // A server is stopped while its state is restored, and the connections of its own manager end. On
  // the way to another cluster a proxy may keep what it has.
  const bool to_own = deps.author.cluster == deps.cluster;
  if (to_own && deps.history && deps.history->restored_within(deps.cluster, after)) co_return;
  const auto ignored = co_await route->direct.send(std::move(request), {});
  (void)ignored;
}

}  // namespace regatta::simtest
