#pragma once

#include "lib/base/clock.h"
#include "lib/base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace regatta::manifest {

/// One cause of an Invalid answer, as metav1.StatusCause: `reason` is FieldValueInvalid,
/// FieldValueRequired, FieldValueNotSupported, FieldValueForbidden, FieldValueDuplicate,
/// FieldValueTooLong, FieldValueTooMany, FieldValueTypeInvalid, FieldValueNotFound …; `message` is
/// the text after the field path, e.g. `Invalid value: -1: must be greater than or equal to 0`.
struct FieldError {
  std::string reason;
  std::string field;
  std::string message;
  friend bool operator==(const FieldError&, const FieldError&) = default;
};
using FieldErrors = std::vector<FieldError>;

struct TableColumn {
  std::string name;
  std::string type;    ///< string, integer, number, boolean, date
  std::string format;  ///< "name" for the name column, else mostly empty
  std::string description;
  int priority = 0;  ///< 0: always shown; 1: with -o wide
};

/// What metadata.name must look like.
enum class NameRule {
  subdomain,      ///< RFC 1123 subdomain, as most kinds
  label,          ///< RFC 1123 label: Namespace
  label_rfc1035,  ///< Service
  path_segment,   ///< anything that can stand in a URL path: the rbac kinds
};

/// What differs between one kind of object and another on its way into the store. Objects are JSON
/// in the version of the request's URL; `old` is what is stored. Implementations hold no state that
/// changes and do no I/O. Generic metadata (uid, creationTimestamp, resourceVersion, managedFields,
/// deletion, name and label syntax) is not theirs: the registry does it for every kind.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// Fills in defaults; for custom resources also prunes unknown fields. On every write, and on
  /// read of custom resources. Idempotent.
  virtual void set_defaults(Json& object) const { (void)object; }

  /// Before validation: drops what the writer may not set (status on create and update), keeps the
  /// old parts of the subresource that is not being written, and sets metadata.generation.
  /// On create, metadata.uid, name and namespace are already filled in.
  virtual void prepare_for_create(Json& object, TimePoint now) const = 0;
  virtual void prepare_for_update(Json& object, const Json& old, TimePoint now) const = 0;
  virtual void prepare_for_status_update(Json& object, const Json& old, TimePoint now) const = 0;

  virtual FieldErrors validate_create(const Json& object) const = 0;
  virtual FieldErrors validate_update(const Json& object, const Json& old) const = 0;
  virtual FieldErrors validate_status_update(const Json& object, const Json& old) const = 0;

  /// A write through another subresource that changes a part of the object (a Pod's
  /// ephemeralcontainers, resize): everything else is set back to `old`.
  virtual void prepare_for_part(std::string_view subresource, Json& object, const Json& old) const {
    (void)subresource, (void)object, (void)old;
  }
  virtual FieldErrors validate_part(std::string_view subresource, const Json& object,
                                    const Json& old) const {
    (void)subresource, (void)object, (void)old;
    return {};
  }

  /// Warning headers for a write; empty for none.
  virtual std::vector<std::string> warnings(const Json& object) const {
    (void)object;
    return {};
  }

  /// Table output, the name column included. One cell per column; a cell may be null.
  virtual std::vector<TableColumn> columns() const = 0;
  virtual std::vector<Json> cells(const Json& object, TimePoint now) const = 0;

  /// Fields that field selectors may name besides metadata.name and metadata.namespace, with their
  /// values in `object` (missing: empty).
  virtual std::vector<std::pair<std::string, std::string>> selectable_fields(
      const Json& object) const {
    (void)object;
    return {};
  }

  virtual NameRule name_rule() const { return NameRule::subdomain; }

  /// PUT and apply to a name that does not exist create it (Lease does).
  virtual bool allow_create_on_update() const { return false; }
  /// PUT without resourceVersion is accepted (not for custom resources and Lease).
  virtual bool allow_unconditional_update() const { return true; }
};

}  // namespace regatta::manifest
