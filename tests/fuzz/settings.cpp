#include "kubeconfig/validate.h"
#include "manager/core_config.h"
#include "tests/fuzz/targets.h"

namespace regatta::fuzz {

void kubeconfig(std::string_view text) {
  (void)kubeconfig::from_bytes(text);
}

void configuration(std::string_view text) {
  const auto read = manager::load_configuration(text);
  if (read) (void)manager::core_config(*read, "fuzz");
}

}  // namespace regatta::fuzz
