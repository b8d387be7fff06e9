#include "cli/frameworks_flag.h"

#include "operate/worker_account.h"

#include <CLI/CLI.hpp>

namespace regatta::cli {

void add_frameworks(CLI::App* command, std::vector<std::string>* into) {
  command
      ->add_option(
          "--frameworks", *into,
          "Kinds of jobs that the hub sends: A,B, as integrations.frameworks names them, or "
          "RESOURCE.GROUP")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check([](const std::string& name) {
        const auto known = operate::resource_of(name);
        return known ? std::string() : std::string(known.error().what());
      })
      ->capture_default_str();
}

}  // namespace regatta::cli
