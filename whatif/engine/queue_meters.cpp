#include "whatif/engine/queue_meters.h"

namespace regatta::whatif {

double in_units(const std::string& resource, std::int64_t amount) {
  return resource == "cpu" ? double(amount) / 1000 : double(amount);
}

void QueueMeters::set_capacity(const Amounts& capacity, TimePoint now) {
  for (auto& [what, meters] : capacity_) {
    if (!capacity.contains(what)) meters.total.set(now, 0);
  }
  for (const auto& [what, amount] : capacity) {
    auto& meters = capacity_.try_emplace(what, Capacity{Meter(grid_), Meter(grid_)}).first->second;
    meters.total.set(now, amount);
  }
}

void QueueMeters::set_used(Queue* queue, const FlavorResource& what, double used, double nominal,
                           TimePoint now) {
  const auto fresh = [this] { return Usage{0, Meter(grid_), Meter(grid_)}; };
  auto found = queue->usage.find(what);
  if (found == queue->usage.end()) found = queue->usage.emplace(what, fresh()).first;
  Usage& usage = found->second;
  const double before = usage.used.value();
  usage.nominal = nominal;
  usage.used.set(now, used);
  usage.borrowed.set(now, std::max(0.0, used - nominal));
  if (used == before) return;
  auto& total = capacity_.try_emplace(what, Capacity{Meter(grid_), Meter(grid_)}).first->second;
  total.used.set(now, total.used.value() + used - before);
}

double QueueMeters::dominant_share(const Queue& queue) const {
  std::map<std::string, std::pair<double, double>> by_resource;  // used, capacity
  for (const auto& [what, usage] : queue.usage) {
    by_resource[what.second].first += usage.used.value();
  }
  for (const auto& [what, meters] : capacity_) {
    const auto found = by_resource.find(what.second);
    if (found != by_resource.end()) found->second.second += meters.total.value();
  }
  double share = 0;
  for (const auto& [resource, amounts] : by_resource) {
    if (amounts.second > 0) share = std::max(share, amounts.first / amounts.second);
  }
  return queue.weight > 0 ? share / queue.weight : 0;
}

void QueueMeters::observe(const admission::StatusReader& reader, const std::string& name,
                          TimePoint now) {
  const admission::QueueInfo* info = reader.find_queue(name);
  auto found = queues_.find(name);
  if (found == queues_.end()) {
    if (!info) return;
    found = queues_.emplace(name, Queue{"", 1, {}, Meter(grid_), Meter(grid_), Meter(grid_)}).first;
  }
  Queue& queue = found->second;
  if (!info) {
    for (const auto& [what, usage] : queue.usage) set_used(&queue, what, 0, 0, now);
    queue.waiting.set(now, 0);
    queue.running.set(now, 0);
    queue.share.set(now, 0);
    return;
  }
  queue.cohort = info->spec.cohort_name;
  queue.weight =
      info->spec.fair_sharing ? double(info->spec.fair_sharing->weight.milli_value()) / 1000 : 1;
  for (const admission::FrId fr : info->frs) {
    const std::string& resource = reader.names().resource_name(fr);
    const double used = in_units(resource, reader.forest().usage(info->node, fr));
    const double nominal = in_units(resource, reader.forest().nominal(info->node, fr));
    set_used(&queue, {reader.names().flavor_name(fr), resource}, used, nominal, now);
  }
  queue.waiting.set(now, double(info->pending.size()));
  queue.running.set(now, double(info->reserved.size()));
  queue.share.set(now, dominant_share(queue));
}

std::vector<QueueReport> QueueMeters::queues(const std::string& cluster, TimePoint end) {
  std::vector<QueueReport> out;
  for (auto& [name, queue] : queues_) {
    QueueReport report;
    report.cluster = cluster;
    report.name = name;
    report.cohort = queue.cohort;
    report.weight = queue.weight;
    for (auto& [what, usage] : queue.usage) {
      UsageReport line;
      line.flavor = what.first;
      line.resource = what.second;
      line.nominal = usage.nominal;
      line.mean = usage.used.mean(end);
      line.peak = usage.used.peak();
      line.borrowed_mean = usage.borrowed.mean(end);
      line.used = usage.used.series(end);
      report.usage.push_back(std::move(line));
    }
    report.pending = static_cast<std::size_t>(queue.waiting.value());
    report.waiting_length = queue.waiting.series(end);
    report.running = queue.running.series(end);
    report.weighted_share = queue.share.series(end);
    report.weighted_share_mean = queue.share.mean(end);
    out.push_back(std::move(report));
  }
  return out;
}

std::vector<CapacityReport> QueueMeters::capacity(const std::string& cluster, TimePoint end) {
  std::vector<CapacityReport> out;
  for (auto& [what, meters] : capacity_) {
    CapacityReport report;
    report.cluster = cluster;
    report.flavor = what.first;
    report.resource = what.second;
    report.capacity = meters.total.value();
    const double total = meters.total.mean(end);
    report.utilisation = total > 0 ? meters.used.mean(end) / total : 0;
    report.used = meters.used.series(end);
    report.total = meters.total.series(end);
    out.push_back(std::move(report));
  }
  return out;
}

}  // namespace regatta::whatif
