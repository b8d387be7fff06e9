#include "manager/metrics/metrics_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <prometheus/text_serializer.h>

namespace regatta::manager {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily gauge(std::vector<std::pair<std::string, double>> values) {
  MetricFamily family;
  family.name = "kueue_share";
  family.help = "A share";
  family.type = MetricType::Gauge;
  for (const auto& [label, value] : values) {
    ClientMetric& metric = family.metric.emplace_back();
    if (!label.empty()) metric.label = {{"cohort", label}, {"role", "leader"}};
    metric.gauge.value = value;
  }
  return family;
}

TEST(MetricsText, AValueHasAsManyDigitsAsItTakes) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(metrics_text({gauge({{"a", 2000.0 / 9},
                                 {"b", 4},
                                 {"c", 10737418240.0},
                                 {"d", infinite},
                                 {"e", -infinite},
                                 {"f", std::numeric_limits<double>::quiet_NaN()},
                                 {"line\n\"quoted\" \\", 0.1},
                                 {"", 0}})}),
            R"(# HELP kueue_share A share
# TYPE kueue_share gauge
kueue_share{cohort="a",role="leader"} 222.22222222222223
kueue_share{cohort="b",role="leader"} 4
kueue_share{cohort="c",role="leader"} 1.073741824e+10
kueue_share{cohort="d",role="leader"} +Inf
kueue_share{cohort="e",role="leader"} -Inf
kueue_share{cohort="f",role="leader"} NaN
kueue_share{cohort="line\n\"quoted\" \\",role="leader"} 0.1
kueue_share 0
)");
}

TEST(MetricsText, EverythingElseIsAsTheLibraryHasIt) {
  MetricFamily counter;
  counter.name = "kueue_done_total";
  counter.help = "Done";
  counter.type = MetricType::Counter;
  counter.metric.emplace_back().counter.value = 17;
  MetricFamily histogram;
  histogram.name = "kueue_wait_seconds";
  histogram.help = "Waits";
  histogram.type = MetricType::Histogram;
  for (const bool ends : {false, true}) {
    ClientMetric& metric = histogram.metric.emplace_back();
    metric.label = {{"ends", ends ? "yes" : "no"}};
    metric.histogram.sample_count = 3;
    metric.histogram.sample_sum = 4.5;
    metric.histogram.bucket = {{1, 0.5}, {2, 2.5}};
    if (ends) metric.histogram.bucket.push_back({3, std::numeric_limits<double>::infinity()});
  }
  const std::vector<MetricFamily> all = {gauge({{"a", 1}}), counter, histogram};
  EXPECT_EQ(metrics_text(all), prometheus::TextSerializer().Serialize(all));
}

}  // namespace
}  // namespace regatta::manager
