# regatta_library(<name> SRCS ... DEPS ... [PRIVATE_DEPS ...] [TESTS ...] [TEST_DEPS ...])
#
# One folder, one static library `regatta_<name>` (alias regatta::<name>), one gtest binary beside
# it. Headers are included from the source root: #include "lib/base/error.h".
function(regatta_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS;PRIVATE_DEPS;TESTS;TEST_DEPS" ${ARGN})
  set(target regatta_${name})
  add_library(${target} STATIC ${ARG_SRCS})
  add_library(regatta::${name} ALIAS ${target})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC regatta_boost ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
  target_precompile_headers(${target} REUSE_FROM regatta_boost)
  if(ARG_TESTS AND REGATTA_TESTS)
    regatta_test(${target}_test SRCS ${ARG_TESTS} DEPS regatta::${name} ${ARG_TEST_DEPS})
  endif()
endfunction()

# Every gtest binary of regatta_test() is what runs under the sanitizers in `./dev test`.
if(REGATTA_TESTS)
  add_custom_target(regatta_unit_tests)
endif()

# regatta_test(<target> SRCS ... DEPS ... [TIMEOUT seconds] [SLOW])  One gtest binary. SLOW: it plays
# too much to run under the sanitizers each time; `./dev test` runs it beside the simulation.
function(regatta_test target)
  if(NOT REGATTA_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "SLOW" "TIMEOUT" "SRCS;DEPS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(REGATTA_SANITIZE)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 5")
  endif()
  add_executable(${target} ${ARG_SRCS})
  # Tests name their fixtures and helpers freely, so each is compiled by itself.
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  target_link_libraries(${target} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  target_precompile_headers(${target} REUSE_FROM regatta_boost)
  add_test(NAME ${target} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(ARG_SLOW)
    set_tests_properties(${target} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS component)
  else()
    set_tests_properties(${target} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS unit)
    add_dependencies(regatta_unit_tests ${target})
  endif()
endfunction()
