#pragma once

namespace regatta::admission::bench {

/// Sums up the CPU time of this process between start() and stop().
class Meter {
 public:
  void start();
  void stop();
  double seconds() const { return seconds_; }

 private:
  double began_ = 0;
  double seconds_ = 0;
};

/// Resident memory of this process: its peak, and its present size.
double peak_mb();
double resident_mb();

}  // namespace regatta::admission::bench
