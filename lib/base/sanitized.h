#pragma once

namespace regatta {

/// The build checks memory, undefined behaviour or threads, which makes it many times slower and
/// larger. See REGATTA_SANITIZE in cmake/compiler.cmake.
#ifdef REGATTA_SANITIZED
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

}  // namespace regatta
