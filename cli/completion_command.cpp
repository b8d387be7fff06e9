#include "cli/commands.h"
#include "lib/base/joined.h"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <sstream>

namespace regatta::cli {
namespace {

/// The words that may follow a (sub)command: "simulate" -> "--until --events …".
struct Words {
  std::string path;  ///< of the command, without the program's name
  std::vector<std::string> words;
  /// Options that take a value ("--dispatcher"), and their choices; without choices the value is
  /// mostly a file.
  std::vector<std::pair<std::string, std::string>> values;
};

/// "TEXT:{table,json,yaml}" -> "table json yaml".
std::string choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t from = type.find(":{");
  const std::size_t to = type.rfind('}');
  if (from == std::string::npos || to == std::string::npos) return {};
  std::string words = type.substr(from + 2, to - from - 2);
  std::replace(words.begin(), words.end(), ',', ' ');
  return words;
}

void collect(const CLI::App& app, const std::string& path, std::vector<Words>* out) {
  Words here{path, {}};
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;
    here.words.push_back(command->get_name());
    collect(*command, path.empty() ? command->get_name() : path + " " + command->get_name(), out);
  }
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) here.words.push_back("--" + name);
    if (option->get_items_expected_max() == 0) continue;
    const std::string choices = choices_of(*option);
    for (const std::string& name : option->get_lnames()) {
      here.values.emplace_back("--" + name, choices);
    }
    for (const std::string& name : option->get_snames()) {
      here.values.emplace_back("-" + name, choices);
    }
  }
  out->push_back(std::move(here));
}

std::string for_bash(const std::vector<Words>& all) {
  std::ostringstream out;
  out << "_regatta() {\n"
         "  local word path=\"\" i\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    word=${COMP_WORDS[i]}\n"
         "    [[ $word == -* ]] || path=\"${path:+$path }$word\"\n"
         "  done\n"
         "  local words=\"\"\n"
         "  case $path in\n";
  for (const Words& entry : all) {
    const std::string pattern =
        entry.path.empty() ? "\"\"" : "\"" + entry.path + "\" | \"" + entry.path + " \"*";
    out << "    " << pattern << ") words=\"" << joined(entry.words, " ") << "\" ;;\n";
  }
  out << "  esac\n"
         "  case \"$path ${COMP_WORDS[COMP_CWORD - 1]}\" in\n";
  for (const Words& entry : all) {
    for (const auto& [option, choices] : entry.values) {
      out << "    \"" << entry.path << " " << option << "\" | \"" << entry.path << " \"*\" "
          << option << "\") words=\"" << choices << "\" ;;\n";
    }
  }
  out << "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "}\n"
         "complete -o bashdefault -o default -F _regatta regatta\n";
  return out.str();
}

std::string for_fish(const std::vector<Words>& all) {
  std::ostringstream out;
  out << "function __regatta_at\n"
         "  set -l words\n"
         "  for word in (commandline -opc)[2..-1]\n"
         "    string match -q -- '-*' $word; or set -a words $word\n"
         "  end\n"
         "  test \"$words\" = \"$argv[1]\"\n"
         "end\n";
  for (const Words& entry : all) {
    out << "complete -c regatta -n '__regatta_at \"" << entry.path << "\"' -a '"
        << joined(entry.words, " ") << "'\n";
  }
  return out.str();
}

int print_completion(const CLI::App& app, const std::string& shell) {
  std::vector<Words> all;
  collect(app, "", &all);
  if (shell == "fish") {
    std::cout << for_fish(all);
  } else {
    if (shell == "zsh") std::cout << "autoload -U +X bashcompinit && bashcompinit\n";
    std::cout << for_bash(all);
  }
  return 0;
}

}  // namespace

void add_completion_command(CLI::App* app, Action* action) {
  CLI::App* command = app->add_subcommand(
      "completion", "Print a completion script: source <(regatta completion bash)");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback(
      [app, shell, action] { *action = [app, shell] { return print_completion(*app, *shell); }; });
}

}  // namespace regatta::cli
