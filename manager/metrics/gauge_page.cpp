#include "manager/metrics/gauge_page.h"

#include "admission/units/amount.h"

#include <limits>
#include <utility>

namespace regatta::manager {

GaugePage::GaugePage(std::string role) : role_(std::move(role)) {}

void GaugePage::add(const char* name, const char* help, prometheus::Labels labels, double value) {
  prometheus::MetricFamily& family = families_[name];
  family.name = name;
  family.help = help;
  family.type = prometheus::MetricType::Gauge;
  labels["replica_role"] = role_;
  prometheus::ClientMetric& metric = family.metric.emplace_back();
  for (const auto& [key, text] : labels) metric.label.push_back({key, text});
  metric.gauge.value = value;
}

std::vector<prometheus::MetricFamily> GaugePage::families() && {
  std::vector<prometheus::MetricFamily> out;
  for (auto& [name, family] : families_) out.push_back(std::move(family));
  return out;
}

double cores_or_units(std::string_view resource, std::int64_t amount) {
  if (amount == admission::unlimited) return std::numeric_limits<double>::infinity();
  return static_cast<double>(amount) / (resource == "cpu" ? 1000.0 : 1.0);
}

double gauge_value(std::string_view resource, const api::Quantity& quantity) {
  return cores_or_units(resource, api::resource_amount(resource, quantity));
}

}  // namespace regatta::manager
