#include "whatif/manifests/objects.h"

namespace regatta::whatif {

ObjectName name_of(const Object& object) {
  return std::visit(
      [](const auto& one) {
        return ObjectName{std::string(std::decay_t<decltype(one)>::resource.kind),
                          one.metadata.key()};
      },
      object);
}

std::string describe(const Object& object) {
  const ObjectName name = name_of(object);
  return name.kind + " " + name.key.str();
}

}  // namespace regatta::whatif
