find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS system url)
find_package(OpenSSL 3.0 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(prometheus-cpp REQUIRED COMPONENTS core)
find_library(RE2 NAMES re2 REQUIRED)

# The Boost and JSON settings every translation unit must agree on, and the one place where Asio and
# Beast are compiled.
add_library(regatta_boost STATIC cmake/boost.cpp)
target_compile_definitions(regatta_boost PUBLIC
  BOOST_ASIO_SEPARATE_COMPILATION
  BOOST_ASIO_NO_DEPRECATED
  BOOST_BEAST_SEPARATE_COMPILATION
  JSON_USE_IMPLICIT_CONVERSIONS=0
  JSON_DIAGNOSTICS=0)
target_link_libraries(regatta_boost PUBLIC
  regatta_options Threads::Threads Boost::headers Boost::system Boost::url
  OpenSSL::SSL OpenSSL::Crypto nlohmann_json::nlohmann_json)

option(REGATTA_JSON_ONCE "Code of JSON trees once and optimised, for builds without optimisation" OFF)
set(json_header <nlohmann/json.hpp>)
if(REGATTA_JSON_ONCE)
  set(json_header ${PROJECT_SOURCE_DIR}/cmake/json_once.h)
  target_sources(regatta_boost PRIVATE cmake/json_once.cpp)
  set_source_files_properties(cmake/json_once.cpp PROPERTIES
    COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
endif()

# What nearly every file includes, compiled once.
target_precompile_headers(regatta_boost PRIVATE
  <algorithm> <chrono> <deque> <functional> <map> <memory> <optional> <set> <string> <string_view>
  <utility> <variant> <vector>
  <boost/asio/any_io_executor.hpp> <boost/asio/awaitable.hpp> <boost/asio/co_spawn.hpp>
  <boost/asio/redirect_error.hpp> <boost/asio/steady_timer.hpp> <boost/asio/this_coro.hpp>
  <boost/asio/use_awaitable.hpp> <boost/system/result.hpp>
  ${json_header})
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Templates that the headers themselves use are instantiated with them, not in every source.
  target_compile_options(regatta_boost PRIVATE -fpch-instantiate-templates)
endif()

# Regatta's processes allocate all the time (JSON trees, typed objects, coroutine frames), and
# jemalloc takes a fifth less CPU for it than glibc. Sanitizers bring an allocator of their own.
add_library(regatta_allocator INTERFACE)
if(NOT REGATTA_SANITIZE)
  find_library(JEMALLOC NAMES libjemalloc_pic.a REQUIRED)
  target_link_libraries(regatta_allocator INTERFACE ${JEMALLOC} Threads::Threads ${CMAKE_DL_LIBS})
endif()
