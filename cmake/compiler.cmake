# g++ before 14 destroys temporaries twice inside co_await expressions, which corrupts memory at run
# time and shows nothing at compile time; so it is refused here rather than worked around.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  message(FATAL_ERROR
    "g++ ${CMAKE_CXX_COMPILER_VERSION} miscompiles coroutines (temporaries in a co_await expression "
    "are destroyed twice). Use clang++ 16 or newer, or g++ 14 or newer:\n"
    "  apt-get install clang-19 lld-19 && cmake --preset dev")
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
  message(FATAL_ERROR "clang++ ${CMAKE_CXX_COMPILER_VERSION} is too old: 16 or newer is needed "
    "(apt-get install clang-19 lld-19 && cmake --preset dev).")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_SOURCE_DIR}/cmake/ccache.sh ${CMAKE_SOURCE_DIR} ${CCACHE})
endif()

set(REGATTA_SANITIZE "" CACHE STRING "Value of -fsanitize=, empty for none")

add_library(regatta_options INTERFACE)
target_compile_options(regatta_options INTERFACE -Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
target_link_options(regatta_options INTERFACE -fuse-ld=lld)
option(REGATTA_WERROR "Warnings are errors; for development, not for packages" OFF)
if(REGATTA_WERROR)
  target_compile_options(regatta_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # No result depends on where the checkout lies, nor on when the precompiled header was made, which
  # holds all of <PCH_HEADER>. ccache writes paths as seen from the build.
  file(RELATIVE_PATH from_build ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
  target_compile_options(regatta_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp"
    -ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${from_build}=)
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
endif()
option(REGATTA_LTO "Optimise across sources when linking (clang and lld)" OFF)
if(REGATTA_LTO)
  target_compile_options(regatta_options INTERFACE -flto=thin)
  target_link_options(regatta_options INTERFACE
    -flto=thin -Wl,--thinlto-cache-dir=${CMAKE_BINARY_DIR}/lto)
  # lld reads the members of an archive itself and needs no index. Without one, ar does not look
  # into the members, for which it would load the LTO plugin of any LLVM that is installed.
  find_program(REGATTA_AR ar REQUIRED)
  set(CMAKE_AR ${REGATTA_AR})
  set(CMAKE_CXX_ARCHIVE_CREATE "<CMAKE_AR> qcS <TARGET> <LINK_FLAGS> <OBJECTS>")
  set(CMAKE_CXX_ARCHIVE_APPEND "<CMAKE_AR> qS <TARGET> <LINK_FLAGS> <OBJECTS>")
  set(CMAKE_CXX_ARCHIVE_FINISH "")
endif()
if(REGATTA_SANITIZE)
  target_compile_options(regatta_options INTERFACE
    -fsanitize=${REGATTA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(REGATTA_SANITIZE MATCHES "undefined")
    # Checks at every use of a pointer, which take two fifths of what the sanitizers add to a
    # compilation. The address sanitizer reports what is read through a null pointer anyway.
    target_compile_options(regatta_options INTERFACE -fno-sanitize=null,alignment,vptr)
  endif()
  target_link_options(regatta_options INTERFACE -fsanitize=${REGATTA_SANITIZE})
  # Asio recycles coroutine frames, which hides use-after-free of a frame from the sanitizer.
  target_compile_definitions(regatta_options INTERFACE
    REGATTA_SANITIZED BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING)
endif()
option(REGATTA_ASSERTIONS "Check operator[], front(), optional's * and the like" OFF)
if(REGATTA_ASSERTIONS)
  target_compile_definitions(regatta_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()
option(REGATTA_HARDEN "Checks of the stack and of copies, and a layout that is hard to attack" OFF)
if(REGATTA_HARDEN)
  # FORTIFY needs -O1 or more.
  target_compile_options(regatta_options INTERFACE
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -fPIE)
  target_link_options(regatta_options INTERFACE -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()
option(REGATTA_COVERAGE "Count which lines run (clang)" OFF)
if(REGATTA_COVERAGE)
  target_compile_options(regatta_options INTERFACE -fprofile-instr-generate -fcoverage-mapping)
  target_link_options(regatta_options INTERFACE -fprofile-instr-generate)
endif()
