#include "cli/commands.h"
#include "lib/api/yaml.h"
#include "lib/base/json.h"
#include "manager/version.h"

#include <nlohmann/json.hpp>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

namespace regatta::cli {
namespace {

int print_version(const std::string& format) {
  Json about = Json::object();
  about["version"] = manager::version;
  about["compiler"] = __VERSION__;
  about["apiVersions"] = {"kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1beta1"};
  if (format == "json") {
    std::cout << dump_json_pretty(about) << '\n';
  } else if (format == "yaml") {
    std::cout << api::dump_yaml(about);
  } else {
    std::cout << "regatta " << manager::version << '\n';
  }
  return 0;
}

}  // namespace

void add_version_command(CLI::App* app, Action* action) {
  CLI::App* command = app->add_subcommand("version", "Print the version");
  auto format = std::make_shared<std::string>();
  command->add_option("-o,--output", *format, "json or yaml; otherwise one line of text")
      ->check(CLI::IsMember({"json", "yaml"}));
  command->callback([format, action] { *action = [format] { return print_version(*format); }; });
}

}  // namespace regatta::cli
