#include "lib/kube/known_spec.h"

namespace regatta::kube {

bool is_spec(std::string_view text, const Outline& object, const api::ResourceInfo& resource,
             const api::RawJson& known) {
  return known.is(text) && object.api_version == resource.api_version();
}

bool cut_spec(std::string* text, const api::ResourceInfo& resource, const api::RawJson& known) {
  const auto outline = outline_of(*text);
  const auto spec = outline ? spec_after(*outline) : std::nullopt;
  if (!spec || !is_spec(spec->value, *outline, resource, known)) return false;
  cut(spec->whole, text);
  return true;
}

}  // namespace regatta::kube
