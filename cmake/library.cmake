# regatta_library(<name> SRCS ... DEPS ... [PRIVATE_DEPS ...]
#                 [TESTS ...] [TESTS_APART ...] [TEST_DEPS ...])
#
# One folder, one static library `regatta_<name>` (alias regatta::<name>), one gtest binary beside
# it. Headers are included from the source root: #include "lib/base/error.h".
# TESTS_APART: tests with file-local names that other tests of the folder have too; each is compiled
# by itself.
function(regatta_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS;PRIVATE_DEPS;TESTS;TESTS_APART;TEST_DEPS" ${ARGN})
  set(target regatta_${name})
  add_library(${target} STATIC ${ARG_SRCS})
  add_library(regatta::${name} ALIAS ${target})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC regatta_boost ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
  target_precompile_headers(${target} REUSE_FROM regatta_boost)
  if(ARG_TESTS_APART)
    set_source_files_properties(${ARG_TESTS_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  if((ARG_TESTS OR ARG_TESTS_APART) AND REGATTA_TESTS)
    regatta_test(${target}_test SRCS ${ARG_TESTS} ${ARG_TESTS_APART} DEPS regatta::${name} ${ARG_TEST_DEPS})
  endif()
endfunction()

# The gtest binaries with the label `unit`.
if(REGATTA_TESTS)
  add_custom_target(regatta_unit_tests)
endif()

# regatta_test(<target> SRCS ... DEPS ... [TIMEOUT seconds] [LABEL label] [SHARDS number])
#
# One gtest binary, and its tests in so many parts that run side by side. Label `unit` if none is
# given.
function(regatta_test target)
  if(NOT REGATTA_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "TIMEOUT;LABEL;SHARDS" "SRCS;DEPS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(REGATTA_SANITIZE)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 5")
  endif()
  add_executable(${target} ${ARG_SRCS})
  # Four at once, in the presets with batches: tests hold more code than the other sources.
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 4)
  target_link_libraries(${target} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  target_precompile_headers(${target} REUSE_FROM regatta_boost)
  if(NOT ARG_SHARDS)
    add_test(NAME ${target} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${target} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS ${ARG_LABEL})
  else()
    foreach(shard RANGE 1 ${ARG_SHARDS})
      math(EXPR index "${shard} - 1")
      add_test(NAME ${target}_${shard} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
      set_tests_properties(${target}_${shard} PROPERTIES
        TIMEOUT ${ARG_TIMEOUT} LABELS ${ARG_LABEL} COST ${ARG_TIMEOUT}  # these begin first
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${index}")
    endforeach()
  endif()
  if(ARG_LABEL STREQUAL "unit")
    add_dependencies(regatta_unit_tests ${target})
  endif()
endfunction()
