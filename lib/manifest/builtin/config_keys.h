#pragma once

#include "lib/manifest/strategy.h"

#include <initializer_list>

namespace regatta::manifest::builtin {

/// What ConfigMap and Secret keys may look like.
void check_config_key(const std::string& key, const char* field, FieldErrors* errors);

/// A ConfigMap or Secret with `immutable` set keeps it, and the named members.
void check_frozen(const Json& object, const Json& old, std::initializer_list<const char*> members,
                  FieldErrors* errors);

}  // namespace regatta::manifest::builtin
