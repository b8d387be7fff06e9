#include "manager/metrics/metrics_text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace regatta::manager {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

std::string text_of(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general);
  return {text.data(), end.ptr};
}

void add_escaped(const std::string& value, std::string* out) {
  for (const char c : value) {
    if (c == '\n') {
      *out += "\\n";
    } else {
      if (c == '\\' || c == '"') *out += '\\';
      *out += c;
    }
  }
}

class Writer {
 public:
  explicit Writer(std::string* out) : out_(*out) {}

  void family(const prometheus::MetricFamily& family) {
    const char* type = family.type == MetricType::Counter     ? "counter"
                       : family.type == MetricType::Histogram ? "histogram"
                                                              : "gauge";
    if (!family.help.empty()) out_ += "# HELP " + family.name + " " + family.help + "\n";
    out_ += "# TYPE " + family.name + " " + type + "\n";
    for (const ClientMetric& metric : family.metric) {
      if (family.type == MetricType::Histogram) {
        histogram(family.name, metric);
      } else {
        const bool counts = family.type == MetricType::Counter;
        line(family.name, metric, "", text_of(counts ? metric.counter.value : metric.gauge.value));
      }
    }
  }

 private:
  /// `le`: the upper bound of a bucket; empty: none.
  void line(const std::string& name, const ClientMetric& metric, const std::string& le,
            const std::string& value) {
    out_ += name;
    char between = '{';
    for (const ClientMetric::Label& label : metric.label) {
      out_ += between + label.name + "=\"";
      add_escaped(label.value, &out_);
      out_ += '"';
      between = ',';
    }
    if (!le.empty()) {
      out_ += between + std::string("le=\"") + le + '"';
      between = ',';
    }
    if (between == ',') out_ += '}';
    out_ += ' ' + value + '\n';
  }

  void histogram(const std::string& name, const ClientMetric& metric) {
    const ClientMetric::Histogram& all = metric.histogram;
    line(name + "_count", metric, "", std::to_string(all.sample_count));
    line(name + "_sum", metric, "", text_of(all.sample_sum));
    bool ends = false;
    for (const ClientMetric::Bucket& bucket : all.bucket) {
      line(name + "_bucket", metric, text_of(bucket.upper_bound),
           std::to_string(bucket.cumulative_count));
      ends = std::isinf(bucket.upper_bound);
    }
    if (!ends) line(name + "_bucket", metric, "+Inf", std::to_string(all.sample_count));
  }

  std::string& out_;
};

}  // namespace

std::string metrics_text(const std::vector<prometheus::MetricFamily>& families) {
  std::string out;
  Writer writer(&out);
  for (const prometheus::MetricFamily& family : families) writer.family(family);
  return out;
}

}  // namespace regatta::manager
