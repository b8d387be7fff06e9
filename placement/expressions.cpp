#include "placement/expressions.h"

#include "lib/api/own_names.h"

#include <array>
#include <cmath>

namespace regatta::placement {
namespace {

namespace cel = manifest::cel;

/// Of one evaluation: a filter over a hundred labels costs a few hundred.
constexpr std::int64_t cost_max = 20'000;

const char* name_of(RoomKind room) {
  switch (room) {
    case RoomKind::free:
      return "free";
    case RoomKind::borrows:
      return "borrows";
    case RoomKind::unknown:
      return "unknown";
    case RoomKind::preempts:
      return "preempts";
    case RoomKind::full:
      return "full";
    case RoomKind::never:
      return "never";
  }
  return "";
}

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// Cores of cpu, units of everything else.
double readable(const std::string& resource, std::int64_t amount) {
  return static_cast<double>(amount) / (resource == "cpu" ? 1000 : 1);
}

Json readable(const Amounts& amounts) {
  Json out = Json::object();
  for (const auto& [resource, amount] : amounts) out[resource] = readable(resource, amount);
  return out;
}

Json flavors_of(const QueueFacts& queue) {
  Json out = Json::object();
  for (const auto& group : queue.groups) {
    for (const FlavorFacts& flavor : group) {
      Json& resources = out[flavor.name] = Json::object();
      for (const auto& [name, quota] : flavor.resources) {
        resources[name] = {{"nominal", readable(name, quota.nominal)},
                           {"used", readable(name, quota.used)},
                           {"borrowable", readable(name, quota.borrowable)}};
      }
    }
  }
  return out;
}

/// What is not known is absent. All numbers are doubles, so that they can be added to each other.
Json document_of(const WorkloadFacts& workload, const WorkerFacts& worker, RoomKind room) {
  Json out = {{"name", worker.name},
              {"labels", worker.labels ? Json(*worker.labels) : Json::object()},
              {"region", worker.region},
              {"room", name_of(room)},
              {"workloads", double(worker.workloads)},
              {"onTheWay", readable(worker.in_flight)}};
  if (worker.price) out["price"] = static_cast<double>(*worker.price) / 1000;
  if (worker.admits_after) out["admitsAfterSeconds"] = seconds(*worker.admits_after);
  if (worker.latency) out["latencySeconds"] = seconds(*worker.latency);
  if (worker.queue && room != RoomKind::unknown) {
    out["flavors"] = flavors_of(*worker.queue);
    out["waiting"] = double(waiting_before(workload, *worker.queue));
  }
  return out;
}

Result<std::optional<cel::Program>> compiled(const std::string& text, std::string_view annotation,
                                             bool a_number) {
  if (text.empty()) return std::optional<cel::Program>();
  const auto wrong = [&](const std::string& what) {
    return Error(Errc::invalid, "annotation " + std::string(annotation) + ": " + what);
  };
  auto program = cel::Program::compile(text, {{"workload", {}}, {"worker", {}}});
  if (!program) return wrong(program.error().what());
  const cel::Kind kind = program->type().kind;
  const bool number = kind == cel::Kind::integer || kind == cel::Kind::unsigned_integer ||
                      kind == cel::Kind::number;
  const bool fits = kind == cel::Kind::dynamic || (a_number ? number : kind == cel::Kind::boolean);
  if (!fits) {
    return wrong("must evaluate to " + std::string(a_number ? "a number" : "bool") + ", not " +
                 program->type().name());
  }
  return std::optional<cel::Program>(std::move(*program));
}

std::string failure_of(const cel::Value& value, const std::string& wanted) {
  if (const auto* failure = value.as<cel::Failure>()) return *failure->what;
  return "is " + std::string(value.type_name()) + ", not " + wanted;
}

}  // namespace

ExpressionTexts expression_texts_of(const api::StringMap& annotations) {
  const auto text = [&](std::string_view name) {
    const auto found = annotations.find(std::string(name));
    return found == annotations.end() ? std::string() : found->second;
  };
  return {text(api::annotations::worker_filter), text(api::annotations::worker_score)};
}

Result<std::shared_ptr<const Expressions>> Expressions::compile(const ExpressionTexts& texts) {
  auto out = std::make_shared<Expressions>();
  auto filter = compiled(texts.filter, api::annotations::worker_filter, false);
  if (!filter) return filter.error();
  auto score = compiled(texts.score, api::annotations::worker_score, true);
  if (!score) return score.error();
  out->filter_ = std::move(*filter);
  out->score_ = std::move(*score);
  return std::shared_ptr<const Expressions>(std::move(out));
}

Json Expressions::document_of(const WorkloadFacts& workload) {
  Json out = {{"name", workload.key.name},
              {"namespace", workload.key.ns},
              {"queue", workload.queue},
              {"labels", Json(workload.labels)},
              {"kind", workload.kind},
              {"priority", double(workload.priority)},
              {"waitedSeconds", seconds(workload.waited)},
              {"region", workload.region},
              {"podSets", Json::array()},
              {"requests", Json::object()},
              {"refusedSecondsAgo", Json::object()}};
  Amounts sum;
  for (const Amounts& set : workload.pod_sets) {
    out["podSets"].push_back(readable(set));
    for (const auto& [resource, amount] : set) sum[resource] += amount;
  }
  out["requests"] = readable(sum);
  for (const auto& [cluster, refusal] : workload.refusals) {
    out["refusedSecondsAgo"][cluster] = seconds(refusal.ago);
  }
  return out;
}

Expressions::Verdict Expressions::judge(const WorkloadFacts& workload, const Json& document,
                                        const WorkerFacts& worker, RoomKind room) const {
  const Json of_worker = placement::document_of(workload, worker, room);
  const std::array values{cel::Value::from_json(document, nullptr),
                          cel::Value::from_json(of_worker, nullptr)};
  Verdict out;
  if (filter_) {
    cel::Budget budget{.left = cost_max};
    const cel::Value answer = filter_->evaluate(values, budget);
    const auto passes = answer.boolean();
    if (!passes) {
      out.objection = "cannot be judged by the worker-filter: " + failure_of(answer, "bool");
    } else if (!*passes) {
      out.objection = "does not pass the worker-filter";
    }
  }
  if (score_ && out.objection.empty()) {
    cel::Budget budget{.left = cost_max};
    const cel::Value answer = score_->evaluate(values, budget);
    if (answer.is_number() && std::isfinite(answer.number())) {
      out.score = answer.number();
    } else {
      out.no_score = "has no worker-score: " + failure_of(answer, "a finite number");
    }
  }
  return out;
}

ExpressionCache::Compiled ExpressionCache::get(const ExpressionTexts& texts) {
  if (texts.empty()) return std::shared_ptr<const Expressions>();
  if (const auto found = entries_.find(texts); found != entries_.end()) return found->second;
  if (entries_.size() >= entries_max) entries_.clear();
  return entries_.emplace(texts, Expressions::compile(texts)).first->second;
}

}  // namespace regatta::placement
