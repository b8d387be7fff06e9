#include "lib/manifest/schema/field_path.h"

namespace regatta::manifest {

std::string FieldPath::text(bool bracket_keys) const {
  if (kind == Kind::root || !parent) return {};
  auto out = parent->text(bracket_keys);
  if (kind == Kind::item) return out + "[" + std::to_string(index) + "]";
  if (kind == Kind::map_key && bracket_keys) return out.append("[").append(key).append("]");
  if (!out.empty()) out += '.';
  return out.append(key);
}

std::string join_path(std::string_view prefix, std::string_view rest) {
  std::string out(prefix);
  if (!out.empty() && !rest.empty() && rest.front() != '[') out += '.';
  return out.append(rest);
}

}  // namespace regatta::manifest
