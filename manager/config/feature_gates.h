#pragma once

#include "lib/base/error.h"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::manager {

enum class GateStage { alpha, beta, ga, deprecated };

struct FeatureGateInfo {
  std::string_view name;
  GateStage stage;
  bool enabled;            ///< by default
  std::string_view since;  ///< the Kueue version of this stage
  bool locked = false;     ///< cannot be changed
};

/// Every gate, by name. Names, stages and defaults are Kueue's, so that its configuration files
/// work. A gate of a feature that Regatta lacks changes nothing.
std::span<const FeatureGateInfo> all_feature_gates();

/// The gates that have an effect here, by name.
std::span<const std::string_view> feature_gates_with_effect();

using GateSettings = std::map<std::string, bool, std::less<>>;

/// Reads "A=true,B=false", the form of --feature-gates. `AllAlpha` and `AllBeta` stand for every
/// gate of that stage that is not named itself.
Result<GateSettings> parse_feature_gates_flag(std::string_view text);

/// `; did you mean "MultiKueue"?` when there is no such gate but one of nearly that name, or empty.
std::string similar_feature_gate(std::string_view name);

/// The features that are on.
class FeatureGates {
 public:
  /// The defaults.
  FeatureGates() = default;
  /// The defaults, overridden by settings, which may name gates of Kubernetes, too. Unknown and
  /// locked gates are refused, and so is a gate that is on while one it depends on is off.
  static Result<FeatureGates> make(GateSettings settings);

  /// `name` is one of all_feature_gates().
  bool enabled(std::string_view name) const;
  /// Gates without an effect here that were set to other than their default.
  std::vector<std::string> without_effect() const;

 private:
  GateSettings settings_;
};

}  // namespace regatta::manager
