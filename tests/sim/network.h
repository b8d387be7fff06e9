#pragma once

#include "lib/base/rng.h"
#include "lib/kube/faulty_sender.h"
#include "lib/net/handler_sender.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/wakeup.h"
#include "lib/sim/world.h"
#include "tests/sim/history.h"

#include <functional>
#include <memory>
#include <string>

/// What the processes of a simulated federation run on: clocks that differ, a scheduler that may
/// pause a process, and links that lose, delay and refuse.
namespace regatta::simtest {

bool creates_job(const net::HttpRequest& request);
bool creates_copy(const net::HttpRequest& request);
/// A job or a Workload.
bool deletes_work(const net::HttpRequest& request);
bool writes_job_status(const net::HttpRequest& request);

/// Whether a process is scheduled. Nothing of a paused process runs: its timers, the answers to its
/// requests and the pieces of its watches wait. Requests that it has sent are on their way.
class Gate {
 public:
  explicit Gate(const Executor& executor) : opened_(executor) {}
  void close() { open_ = false; }
  void open();
  bool is_open() const { return open_; }
  Task<> pass();

 private:
  bool open_ = true;
  Wakeup opened_;
};

/// The clock of one machine: its wall time differs from that of others, its steady time passes as
/// theirs does. Timers of a process that is paused end when it goes on.
class MachineClock final : public Clock {
 public:
  MachineClock(sim::World& world, std::shared_ptr<const Duration> offset,
               std::shared_ptr<Gate> gate = nullptr)
      : world_(world), offset_(std::move(offset)), gate_(std::move(gate)) {}
  TimePoint now() const override { return world_.now() + *offset_; }
  SteadyPoint steady() const override { return world_.steady(); }
  Task<> sleep_until(SteadyPoint t) override;

 private:
  sim::World& world_;
  std::shared_ptr<const Duration> offset_;
  std::shared_ptr<Gate> gate_;
};

/// What goes wrong on a link, besides what any link may do wrong.
struct LinkFaults : kube::NetworkFaults {
  double late = 0;  ///< a write arrives after its sender has given up waiting for the answer
  Duration late_max{0};
  unsigned refuse_jobs = 0;  ///< an answer to each creation of a Job, as an admission webhook gives
  unsigned refuse_copies = 0;  ///< the same for Workloads
  bool keeps = false;          ///< each deletion of a Job or Workload is refused
  double refuse_statuses = 0;  ///< the status of a job is, as an admission webhook does
  double garbage = 0;          ///< of each answer and each piece of a watch: see Garbler

  /// A process on the other side is seen to work, within moments.
  bool sound() const;
};

/// Changes what a process sends and reads, so that it behaves like a broken one. Either may be
/// null.
struct Tampering {
  std::function<void(const Author&, net::HttpRequest*)> request;
  /// Events of watches; an empty piece is left out.
  std::function<void(const Author&, const std::string& target, std::string* piece)> piece;
};

struct LinkDeps {
  sim::World& world;
  TaskScope& network;  ///< carries requests on when their sender has died
  net::HttpHandler& server;
  std::string cluster;  ///< of the server
  std::string user;
  Author author;
  std::string token;  ///< what the sender shows; empty: the server does not ask
  std::shared_ptr<const LinkFaults> faults;
  std::shared_ptr<Gate> gate;            ///< of the sender
  History* history = nullptr;            ///< may be null
  const Tampering* tampering = nullptr;  ///< may be null
};

/// The way from one process to one API server. A request that was sent arrives, if it does,
/// whatever becomes of its sender.
class LinkSender final : public net::HttpSender {
 public:
  explicit LinkSender(LinkDeps deps);
  Task<Result<net::HttpResponse>> send(net::HttpRequest request, net::SendOptions options) override;

 private:
  struct Route;
  struct Reply;
  static Task<> carry(std::shared_ptr<Route> route, std::shared_ptr<Reply> reply,
                      net::HttpRequest request, net::SendOptions options);
  static Task<> deliver_late(std::shared_ptr<Route> route, net::HttpRequest request,
                             Duration after);
  Task<Result<net::HttpResponse>> write(net::HttpRequest request, net::SendOptions options);
  Task<Result<net::HttpResponse>> read(net::HttpRequest request, net::SendOptions options);

  std::shared_ptr<Route> route_;
};

}  // namespace regatta::simtest
