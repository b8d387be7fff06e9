#include "whatif/render/plot.h"

#include "whatif/table.h"
#include "whatif/timeline/duration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace regatta::whatif {
namespace {

constexpr std::size_t lines_max = 8;
constexpr int width = 1000;
constexpr int left = 64;
constexpr int right = 280;  // the legend
constexpr int panel_height = 220;
constexpr int panel_gap = 76;
constexpr int top = 56;
constexpr int plot_width = width - left - right;
constexpr std::size_t points_max = plot_width;

struct Line {
  std::string name;
  Series values;
};

struct Panel {
  std::string title;
  std::string axis;
  bool percent = false;
  std::vector<Line> lines;
};

/// The axis of time, from left to right.
struct TimeAxis {
  TimePoint start{};
  Duration step{0};
  std::size_t samples = 0;
  double seconds() const {
    return static_cast<double>(step.count()) / 1000 * static_cast<double>(samples);
  }
};

std::string number(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  std::string out = text.data();
  return out.ends_with(".0") ? out.substr(0, out.size() - 2) : out;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

std::string shortened(const std::string& text) {
  constexpr std::size_t longest = 32;
  if (width_of(text) <= longest) return text;
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    const bool starts = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
    if (starts && ++seen == longest) break;
  }
  return text.substr(0, end) + "…";
}

std::string text_at(double x, double y, const char* css, const std::string& text,
                    const char* anchor = "start", const std::string& more = "") {
  return "<text class=\"" + std::string(css) + "\" x=\"" + number(x) + "\" y=\"" + number(y) +
         "\" text-anchor=\"" + anchor + "\"" + more + ">" + escaped(text) + "</text>\n";
}

std::string line_at(double x1, double y1, double x2, double y2, const char* css) {
  return "<line class=\"" + std::string(css) + "\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) +
         "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) + "\"/>\n";
}

/// 1, 2 or 5 times a power of ten, such that about five steps make `highest`.
double nice_step(double highest) {
  const double rough = std::max(highest, 1e-9) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

/// A usual number of seconds, minutes or hours, such that there are at most eight steps.
double nice_seconds(double whole) {
  for (const double step : {1., 5., 10., 30., 60., 300., 600., 1800., 3600., 7200., 10800., 21600.,
                            43200., 86400., 172800., 604800., 2592000.}) {
    if (whole / step <= 8) return step;
  }
  return whole / 8;
}

/// Means over neighbours, so that there is one point per pixel.
Series thinned(const Series& values) {
  if (values.size() <= points_max) return values;
  const std::size_t each = (values.size() + points_max - 1) / points_max;
  Series out;
  for (std::size_t i = 0; i < values.size(); i += each) {
    const std::size_t end = std::min(values.size(), i + each);
    double sum = 0;
    for (std::size_t j = i; j < end; ++j) sum += values[j];
    out.push_back(sum / static_cast<double>(end - i));
  }
  return out;
}

double mean_of(const Series& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

void add(Series* sum, const Series& values) {
  sum->resize(std::max(sum->size(), values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) (*sum)[i] += values[i];
}

/// Keeps the lines with the highest means and joins the rest into one.
void keep_highest(std::vector<Line>* lines, bool others) {
  std::sort(lines->begin(), lines->end(), [](const Line& a, const Line& b) {
    const double left_mean = mean_of(a.values);
    const double right_mean = mean_of(b.values);
    return left_mean != right_mean ? left_mean > right_mean : a.name < b.name;
  });
  if (lines->size() <= lines_max) return;
  Line rest;
  rest.name = std::to_string(lines->size() - lines_max + 1) + " others";
  for (std::size_t i = lines_max - 1; i < lines->size(); ++i) add(&rest.values, (*lines)[i].values);
  lines->resize(others ? lines_max - 1 : lines_max);
  if (others) lines->push_back(std::move(rest));
}

std::string joined(std::initializer_list<std::string> parts) {
  std::string out;
  for (const std::string& part : parts) {
    if (!part.empty()) out += (out.empty() ? "" : "/") + part;
  }
  return out;
}

Series utilisation_of(const CapacityReport& capacity) {
  Series values;
  for (std::size_t i = 0; i < capacity.used.size(); ++i) {
    const double total = i < capacity.total.size() ? capacity.total[i] : capacity.capacity;
    values.push_back(total > 0 ? capacity.used[i] / total : 0);
  }
  return values;
}

std::vector<Line> utilisation_lines(const Report& report) {
  std::vector<Line> lines;
  for (const CapacityReport& capacity : report.capacity) {
    lines.push_back(
        {joined({capacity.cluster, capacity.flavor, capacity.resource}), utilisation_of(capacity)});
  }
  keep_highest(&lines, false);
  return lines;
}

std::vector<Line> queue_lines(const Report& report) {
  std::vector<Line> lines;
  for (const QueueReport& queue : report.queues) {
    lines.push_back({joined({queue.cluster, queue.name}), queue.waiting_length});
  }
  keep_highest(&lines, true);
  return lines;
}

/// One line of each report, so that reports can be compared.
std::vector<Panel> panels_of(const std::vector<const Report*>& reports) {
  Panel utilisation{"Utilisation", "of all quota", true, {}};
  Panel queues{"Workloads that wait", "workloads", false, {}};
  if (reports.size() == 1) {
    utilisation.lines = utilisation_lines(*reports[0]);
    queues.lines = queue_lines(*reports[0]);
    return {std::move(utilisation), std::move(queues)};
  }
  for (const Report* report : reports) {
    std::vector<Line> lines = utilisation_lines(*report);
    if (!lines.empty()) {
      utilisation.lines.push_back(
          {report->name + ": " + lines.front().name, std::move(lines.front().values)});
    }
    Line& all = queues.lines.emplace_back();
    all.name = report->name + ": all queues";
    for (const QueueReport& queue : report->queues) add(&all.values, queue.waiting_length);
  }
  return {std::move(utilisation), std::move(queues)};
}

/// Okabe and Ito's colours, darker or lighter where a background needs it. Without CSS variables,
/// because not every reader of SVG knows them.
constexpr std::string_view style = R"(<style>
text { font: 12px system-ui, sans-serif; fill: #1b1f24; }
.title { font-size: 16px; font-weight: 600; } .panel { font-size: 13px; font-weight: 600; }
.tick { fill: #5b626d; font-size: 11px; }
.ground { fill: #ffffff; } .grid { stroke: #e3e6ea; } .axis { stroke: #5b626d; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.c0 { stroke: #0072b2; } .c1 { stroke: #d55e00; } .c2 { stroke: #009e73; }
.c3 { stroke: #cc79a7; } .c4 { stroke: #b8860b; } .c5 { stroke: #3d9bd1; }
.c6 { stroke: #5b4ea3; } .c7 { stroke: #6b7280; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6e8eb; } .tick { fill: #9aa3ad; }
  .ground { fill: #14171a; } .grid { stroke: #30363d; } .axis { stroke: #9aa3ad; }
  .c0 { stroke: #56b4e9; } .c1 { stroke: #f08a3c; } .c2 { stroke: #2cc79b; }
  .c3 { stroke: #e29ac4; } .c4 { stroke: #f0e442; } .c5 { stroke: #8fd0f5; }
  .c6 { stroke: #a99cf0; } .c7 { stroke: #9aa3ad; }
}
</style>
)";

/// The attributes of the line of that index.
std::string line_class(std::size_t index) {
  static constexpr std::array<const char*, lines_max> dashes{"",     "7 3", "2 3", "9 3 2 3",
                                                             "12 4", "4 2", "1 4", "9 3 2 3 2 3"};
  const std::size_t i = index % lines_max;
  std::string out = " class=\"line c" + std::to_string(i) + "\"";
  if (*dashes[i] != 0) out += " stroke-dasharray=\"" + std::string(dashes[i]) + "\"";
  return out;
}

class Picture {
 public:
  explicit Picture(TimeAxis time) : time_(time) {}

  std::string draw(const std::string& title, const std::vector<Panel>& panels) {
    const int height =
        top + static_cast<int>(panels.size()) * (panel_height + panel_gap) - panel_gap + 56;
    const std::string size = std::to_string(width) + " " + std::to_string(height);
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 " + size +
           "\" width=\"" + std::to_string(width) + "\" height=\"" + std::to_string(height) +
           "\">\n<title>" + escaped(title) + "</title>\n" + std::string(style) +
           "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n" +
           text_at(left, 26, "title", title);
    int y = top;
    for (const Panel& panel : panels) {
      draw_panel(panel, y);
      y += panel_height + panel_gap;
    }
    return out_ + "</svg>\n";
  }

 private:
  void draw_panel(const Panel& panel, int y) {
    double highest = panel.percent ? 1 : 0;
    for (const Line& line : panel.lines) {
      for (const double value : line.values) highest = std::max(highest, value);
    }
    const double unit =
        panel.percent ? std::max(0.2, nice_step(highest)) : std::max(1.0, nice_step(highest));
    highest = std::max(unit, std::ceil(highest / unit - 1e-9) * unit);
    out_ += text_at(left, y - 10, "panel", panel.title);
    for (double at = 0; at <= highest + unit / 2; at += unit) {
      const double where = y + panel_height - at / highest * panel_height;
      out_ += line_at(left, where, left + plot_width, where, at == 0 ? "axis" : "grid");
      const std::string text = panel.percent ? number(at * 100) + " %" : number(at);
      out_ += text_at(left - 8, where + 4, "tick", text, "end");
    }
    const double middle = y + panel_height / 2.0;
    out_ += text_at(14, middle, "tick", panel.axis, "middle",
                    " transform=\"rotate(-90 14 " + number(middle) + ")\"");
    draw_time(y + panel_height);
    if (panel.lines.empty() || time_.samples == 0) {
      out_ += text_at(left + plot_width / 2.0, middle, "tick", "nothing to show", "middle");
    }
    for (std::size_t i = 0; i < panel.lines.size(); ++i) {
      draw_line(panel.lines[i], i, y, highest);
      draw_legend(panel.lines[i].name, i, y);
    }
  }

  void draw_time(double y) {
    const double whole = std::max(1.0, time_.seconds());
    const double step = nice_seconds(whole);
    for (double at = 0; at <= whole + 1e-6; at += step) {
      const double x = left + at / whole * plot_width;
      out_ += line_at(x, y, x, y + 4, "axis");
      out_ += text_at(x, y + 18, "tick",
                      format_duration(Duration(static_cast<std::int64_t>(at * 1000))), "middle");
    }
    out_ += text_at(left + plot_width / 2.0, y + 36, "tick",
                    "time since " + format_rfc3339(time_.start), "middle");
  }

  /// Each value at the middle of its interval.
  void draw_line(const Line& line, std::size_t index, int y, double highest) {
    const Series values = thinned(line.values);
    if (values.empty() || time_.samples == 0) return;
    const double part =
        static_cast<double>(line.values.size()) / static_cast<double>(time_.samples);
    std::string points;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double at = (static_cast<double>(i) + 0.5) / static_cast<double>(values.size()) * part;
      points += (points.empty() ? "" : " ") + number(left + at * plot_width) + "," +
                number(y + panel_height - values[i] / highest * panel_height);
    }
    out_ += "<polyline" + line_class(index) + " points=\"" + points + "\"><title>" +
            escaped(line.name) + "</title></polyline>\n";
  }

  void draw_legend(const std::string& name, std::size_t index, int y) {
    const double x = left + plot_width + 20;
    const double at = y + 10 + static_cast<double>(index) * 22;
    out_ += "<line" + line_class(index) + " x1=\"" + number(x) + "\" y1=\"" + number(at) +
            "\" x2=\"" + number(x + 28) + "\" y2=\"" + number(at) + "\"/>\n";
    out_ += text_at(x + 36, at + 4, "name", shortened(name));
  }

  TimeAxis time_;
  std::string out_;
};

}  // namespace

std::string plot_svg(const std::vector<const Report*>& reports) {
  TimeAxis time;
  std::string title;
  for (const Report* report : reports) {
    if (report->samples >= time.samples) {
      time = {report->start, report->step, report->samples};
    }
    title += (title.empty() ? "" : " against ") +
             (report->name.empty() ? std::string("Simulation") : report->name);
  }
  return Picture(time).draw(title, panels_of(reports));
}

}  // namespace regatta::whatif
