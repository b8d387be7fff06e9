#pragma once

#include <string>
#include <string_view>

/// Assertions that stay in the release build: for state that must never be wrong, where going on
/// would do more harm than ending. A CHECK guards what only a bug can break; bad input is an Error.
///
///   REGATTA_CHECK(parent.usage >= child.usage, "usage of " + name + " exceeds its parent's");
///
/// When the condition is false the process prints the condition, the explanation, and the place on
/// standard error, and aborts. The explanation is only evaluated then. A condition costs a few
/// instructions at most; sums over whole tables belong in REGATTA_DEBUG_CHECK, which the release
/// build leaves out.
///
/// What is printed ends up in logs: an explanation names objects, kinds and numbers, never what a
/// Secret, a token or a kubeconfig says. The core file that abort() leaves where the machine keeps
/// core files does hold the memory of the process, and with it credentials: it is kept like them.
namespace regatta {

[[noreturn]] void check_failed(const char* condition, std::string_view explanation,
                               const char* file, int line);

}  // namespace regatta

#define REGATTA_CHECK(condition, explanation)                                      \
  do {                                                                             \
    if (!(condition)) [[unlikely]]                                                 \
      ::regatta::check_failed(#condition, (explanation), __FILE_NAME__, __LINE__); \
  } while (false)

#ifdef NDEBUG
#define REGATTA_DEBUG_CHECK(condition, explanation) \
  do {                                              \
  } while (false)
#else
#define REGATTA_DEBUG_CHECK(condition, explanation) REGATTA_CHECK(condition, explanation)
#endif
