#pragma once

#include "lab/apiserver/hook_caller.h"
#include "lab/apiserver/output.h"

#include <nlohmann/json.hpp>

#include <map>
#include <memory>

namespace regatta::apiserver {

/// What webhooks made of stored objects, for reads of a version other than the stored one.
class ConvertedObjects {
 public:
  bool has(const Json& stored, const std::string& api_version) const;
  void keep(const Json& stored, const std::string& api_version, Json converted);
  /// The object in that version. Of an object whose own version is not kept, the one before it with
  /// its resourceVersion: the last state of an object that left a watch.
  Json find(const Json& stored, const ResourceType& type) const;
  void forget() { kept_.clear(); }

 private:
  using Versions = std::map<std::uint64_t, Json>;
  std::map<std::pair<std::string, std::string>, Versions> kept_;  ///< by uid and apiVersion
};

/// Converts the objects of CustomResourceDefinitions with the conversion strategy Webhook. A stored
/// object is converted once for each version that is asked for; prepare() does so, and from then on
/// in_version() answers without a call.
class Conversions {
 public:
  Conversions(Core& core, HookCaller& caller) : core_(core), caller_(caller) {}

  /// Makes a type of `definition` read what webhooks converted, where that is how it is converted.
  void attach(const Json& definition, ResourceType& type);
  /// Whether objects of the type are converted by a webhook.
  static bool concerns(const ResourceType& type) { return type.custom && type.from_stored; }
  /// The type of the stored version; `type` itself when no webhook converts it.
  ResourceTypePtr stored_type(const ResourceTypePtr& type) const;

  std::vector<StoredPtr> missing(const ResourceType& type, std::vector<StoredPtr> objects) const;
  /// Converts what is missing, in one call. Does nothing for types that no webhook converts.
  Task<std::optional<Failure>> prepare(const ResourceType& type, std::vector<StoredPtr> objects);
  /// Any object of `from` in the version of another type of the same resource.
  Task<Answer<Json>> convert(Json object, const ResourceType& from, const ResourceType& to);

 private:
  Task<Answer<std::vector<Json>>> call(const ResourceType& type, std::string from_version,
                                       std::string to_version, std::vector<Json> objects);

  Core& core_;
  HookCaller& caller_;
  std::map<std::string, Json> seen_;  ///< spec.conversion by the name of the definition
  std::shared_ptr<ConvertedObjects> converted_ = std::make_shared<ConvertedObjects>();
};

}  // namespace regatta::apiserver
