#pragma once

/// Manifests as a user applies them, read as an API server with Kueue's webhooks would read them:
/// the CRDs and built-in kinds with their defaults, their validation and CEL rules, unknown fields
/// refused, v1beta1 converted, then Kueue's own defaults and rules.

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/rng.h"
#include "whatif/manifests/objects.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::manifest {
class Registry;
struct ResourceType;
}  // namespace regatta::manifest

namespace regatta::whatif {

constexpr std::size_t manifest_bytes_max = 256 << 20;
constexpr std::size_t manifest_objects_max = 1'000'000;

/// The position of an object in the input.
struct Place {
  std::shared_ptr<const std::string> source;
  std::size_t document = 0;         ///< from 1; 0 when there is only one document
  std::optional<std::size_t> item;  ///< index in a list

  std::string str() const;  ///< "queues.yaml: document 2: items[3]"
};

struct Manifests {
  std::vector<Object> objects;
  std::vector<Place> places;  ///< of each object
  /// "queues.yaml: document 2: ClusterQueue fleet: spec.cohortName: Invalid value: …"
  std::vector<std::string> errors;
  /// Kinds that do not matter, "ConfigMap (v1)", with the number of objects left out.
  std::map<std::string, std::size_t> ignored;
};

enum class ManifestOrigin : std::uint8_t {
  user,      ///< as `kubectl apply` sends it: the server sets status, uid and creationTimestamp
  snapshot,  ///< as a cluster has it: these fields are kept
};

class ManifestReader {
 public:
  /// `now` is the creationTimestamp of objects that a user applies; `seed` decides their uids.
  explicit ManifestReader(TimePoint now, std::uint64_t seed = 1);
  ~ManifestReader();
  ManifestReader(const ManifestReader&) = delete;
  ManifestReader& operator=(const ManifestReader&) = delete;

  /// Reads every document of a YAML stream, or of JSON; lists are split into their items. `source`
  /// is for errors.
  void read(std::string_view text, const std::string& source, Manifests* out,
            ManifestOrigin origin = ManifestOrigin::user);
  /// One object. `not_found` for a kind that does not matter.
  Result<Object> read_object(Json object, ManifestOrigin origin = ManifestOrigin::user);
  /// A file, or every .yaml, .yml and .json below a folder, sorted by path.
  void read_path(const std::string& path, Manifests* out);

 private:
  std::shared_ptr<const manifest::ResourceType> find_type(const std::string& group,
                                                          const std::string& version,
                                                          const std::string& kind);
  void load_definition(const std::string& plural);
  void take(Json document, const Place& place, Manifests* out, ManifestOrigin origin);
  void take_object(Json object, const Place& place, Manifests* out, ManifestOrigin origin);

  TimePoint now_;
  Rng rng_;
  std::unique_ptr<manifest::Registry> registry_;
};

}  // namespace regatta::whatif
