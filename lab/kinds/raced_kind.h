#pragma once

#include "lib/api/resource.h"
#include "lib/base/error.h"
#include "lib/base/json.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace regatta::lab {

/// A kind of job that is raced.
struct RacedKind {
  std::string_view name;       ///< on the command line: "jobset"
  std::string_view framework;  ///< of the configuration: "jobset.x-k8s.io/jobset"
  api::ResourceInfo resource;
  /// Where `suspend` and `managedBy` are.
  Json::json_pointer settings{"/spec"};
  Json (*spec)(const Json& pod_template);  ///< the rest of it, of one pod or a few
  /// What its status says at its end: a condition, or the value of a field.
  std::string_view complete = "Complete";
  std::string_view ends_in = {};  ///< the field; empty: a condition

  std::string_view started = {};  ///< field of its status, absent until its pods are started

  bool group = false;  ///< a job is several objects, which are Pods

  /// The objects of one with that metadata and these pods, suspended and left to MultiKueue: one
  /// object, or a group of `size` Pods, as the webhook lets them in.
  std::vector<Json> make(Json metadata, const Json& pod_template, int size) const;
  /// How many objects make() makes.
  int objects(int size) const { return group ? size : 1; }
  /// The name of the job that this object belongs to.
  std::string job_of(const Json& object) const;
  // Of one object:
  bool is_complete(const Json& job) const;
  bool has_failed(const Json& job) const;
  /// It is not suspended, and was started where its status says so.
  bool is_started(const Json& job) const;
  /// Its CRD, which allows everything; null for what every API server has.
  Json definition() const;
};

/// `invalid` names those that there are.
Result<const RacedKind*> raced_kind(std::string_view name);
/// The same for each of several, none of them twice. There is at least one.
Result<std::vector<const RacedKind*>> raced_kinds(const std::vector<std::string>& names);
std::vector<std::string> raced_kind_names();
const RacedKind& plain_jobs();

}  // namespace regatta::lab
