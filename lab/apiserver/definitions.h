#pragma once

#include "lab/apiserver/writer.h"
#include "lib/runtime/wakeup.h"

#include <deque>
#include <string>
#include <utility>

namespace regatta::apiserver {

/// Carries out CustomResourceDefinitions: accepts their names, serves their resources, and deletes
/// the objects of a deleted definition first. Works within the request that made the change, unless
/// ServerOptions::definition_delay says otherwise.
class Definitions {
 public:
  Definitions(Core& core, ObjectWriter& writer)
      : core_(core), writer_(writer), written_(core.executor) {}

  /// Registers the CustomResourceDefinition kind itself.
  void add_type();
  /// Serves the resources of the restored definitions.
  void restore();
  /// Establishes what waits for ServerOptions::definition_delay. Runs until cancelled.
  Task<> run();
  /// Called after a change of any object.
  void after_write(const ResourceType& type, const std::string& name, const Json* object);
  /// DELETE of a definition: marks it, deletes its objects, and ends it when none are left.
  Answer<Deleted> remove(const Target& target, const DeleteOptions& options);
  /// The reason why no object of a custom type may be created now.
  static std::optional<Failure> refuse_create(Core& core, const ResourceType& type,
                                              const std::string& name);

 private:
  void establish_in_time(const std::string& name, const Json& definition);
  void establish(const std::string& name);
  void serve(const Json& definition);
  void stop_serving(const Json& definition);
  void clean_up(const std::string& name);
  void finish_if_empty(const std::string& name);
  std::vector<Json> all() const;
  Json definition(const std::string& name) const;
  void put_status(Json definition, const Json& before);

  Core& core_;
  ObjectWriter& writer_;
  ResourceTypePtr type_;
  bool busy_ = false, delayed_ = false;
  std::deque<std::pair<SteadyPoint, std::string>> waiting_;
  Wakeup written_;
};

}  // namespace regatta::apiserver
