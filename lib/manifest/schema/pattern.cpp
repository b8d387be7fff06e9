#include "lib/manifest/schema/pattern.h"

#include <re2/re2.h>
#include <string>

namespace regatta::manifest {
namespace {

/// Go accepts `(?<name>…)` as well as `(?P<name>…)` for a named group; RE2 before 2023 accepts the
/// second form only. The characters `(?<` in a class, behind a backslash or between \Q and \E do
/// not begin a group.
std::string with_named_groups(std::string_view expression) {
  std::string out;
  bool in_class = false;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const std::string_view rest = expression.substr(at);
    if (rest.starts_with("\\Q")) {
      const std::size_t length = std::min(rest.find("\\E"), rest.size());
      out += rest.substr(0, length);
      at += length - 1;
      continue;
    }
    if (rest.front() == '\\') {
      out += rest.substr(0, 2);
      ++at;
      continue;
    }
    out += rest.front();
    if (in_class) {
      in_class = rest.front() != ']';
    } else if (rest.front() == '[') {
      in_class = true;
      // A closing bracket at the beginning is a member of the class.
      for (const std::string_view first : {"[^]", "[]", "[^"}) {
        if (!rest.starts_with(first)) continue;
        out += first.substr(1);
        at += first.size() - 1;
        break;
      }
    } else if (rest.starts_with("(?<") && !rest.starts_with("(?<=") && !rest.starts_with("(?<!")) {
      out += "?P";
      ++at;
    }
  }
  return out;
}

/// Go's words for what is wrong.
const char* problem_of(RE2::ErrorCode code) {
  switch (code) {
    case RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case RE2::ErrorBadCharClass:
      return "invalid character class";
    case RE2::ErrorBadCharRange:
      return "invalid character class range";
    case RE2::ErrorMissingBracket:
      return "missing closing ]";
    case RE2::ErrorMissingParen:
      return "missing closing )";
    case RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    default:
      return "expression too large";
  }
}

}  // namespace

Result<Pattern> Pattern::compile(std::string_view expression) {
  if (expression.size() > pattern_length_max) {
    return Error(Errc::invalid, "regular expression is longer than " +
                                    std::to_string(pattern_length_max) + " bytes");
  }
  RE2::Options options;
  options.set_log_errors(false);
  options.set_never_capture(true);
  auto program = std::make_shared<const RE2>(with_named_groups(expression), options);
  if (!program->ok()) {
    return Error(Errc::invalid, std::string("error parsing regexp: ") +
                                    problem_of(program->error_code()) + ": `" +
                                    program->error_arg() + "`");
  }
  Pattern out;
  out.program_ = std::move(program);
  return out;
}

bool Pattern::search(std::string_view text) const {
  return !program_ || RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *program_);
}

}  // namespace regatta::manifest
