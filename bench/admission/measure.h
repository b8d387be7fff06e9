#pragma once

namespace regatta::admission::bench {

/// CPU time of this process between start() and stop(), summed up.
class Meter {
 public:
  void start();
  void stop();
  double seconds() const { return seconds_; }

 private:
  double began_ = 0;
  double seconds_ = 0;
};

/// Resident memory of this process: the most it ever was, and what it is.
double peak_mb();
double resident_mb();

}  // namespace regatta::admission::bench
