#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/manifest/cel/program.h"
#include "placement/rank.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace regatta::placement {

/// What users write about workers in CEL, by annotations of an AdmissionCheck; docs/placement.md
/// has the variables `workload` and `worker`.
struct ExpressionTexts {
  std::string filter;  ///< bool: whether the worker may have the workload; empty: none
  std::string score;   ///< a number: more is better; empty: none

  bool empty() const { return filter.empty() && score.empty(); }
  friend auto operator<=>(const ExpressionTexts&, const ExpressionTexts&) = default;
};
ExpressionTexts expression_texts_of(const api::StringMap& annotations_of_check);

/// Both, compiled. Immutable. An evaluation has a limit of its cost, and its errors are answers.
class Expressions {
 public:
  /// `invalid` with the annotation and what is wrong in it, and where.
  static Result<std::shared_ptr<const Expressions>> compile(const ExpressionTexts& texts);

  struct Verdict {
    std::string objection;        ///< a predicate of the worker; empty: it may have the workload
    std::optional<double> score;  ///< nullopt: none is asked for, or `no_score` says why
    std::string no_score;
  };
  /// What one workload is in expressions, made once for all workers.
  static Json document_of(const WorkloadFacts& workload);
  Verdict judge(const WorkloadFacts& workload, const Json& document, const WorkerFacts& worker,
                RoomKind room) const;

 private:
  std::optional<manifest::cel::Program> filter_, score_;
};

/// Keeps what was compiled, since the texts hardly ever change.
class ExpressionCache {
 public:
  using Compiled = Result<std::shared_ptr<const Expressions>>;
  /// Null without texts.
  Compiled get(const ExpressionTexts& texts);

 private:
  static constexpr std::size_t entries_max = 64;
  std::map<ExpressionTexts, Compiled> entries_;
};

}  // namespace regatta::placement
