#pragma once

#include "lib/base/error.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

// The contents of a kubeconfig file, read without trusting it. These types hold credentials: they
// are never logged and have no formatter.
namespace regatta::kubeconfig {

constexpr std::size_t size_max = 1u << 20;
constexpr int depth_max = 64;
constexpr std::size_t values_max = 100'000;

struct Cluster {
  std::string server;
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority;       ///< a path
  std::string certificate_authority_data;  ///< decoded: PEM
  std::string proxy_url;
  bool disable_compression = false;
  std::string extensions;  ///< as JSON; empty for none
};

struct User {
  std::string client_certificate;       ///< a path
  std::string client_certificate_data;  ///< decoded: PEM
  std::string client_key;               ///< a path
  std::string client_key_data;          ///< decoded: PEM
  std::string token;
  std::string token_file;
  std::string username;
  std::string password;
  std::string impersonate;
  std::string impersonate_uid;
  std::vector<std::string> impersonate_groups;
  std::map<std::string, std::vector<std::string>> impersonate_extra;
  std::string auth_provider;  ///< as JSON; empty for none
  std::string exec;           ///< as JSON; empty for none
  std::string extensions;
};

struct Context {
  std::string cluster;
  std::string user;
  std::string default_namespace;
  std::string extensions;
};

struct Kubeconfig {
  std::map<std::string, Cluster> clusters;
  std::map<std::string, User> users;
  std::map<std::string, Context> contexts;
  std::string current_context;
  std::string preferences;  ///< as JSON; empty for none
  std::string extensions;
};

/// Reads JSON or YAML. `invalid`, naming the field ("clusters[0].cluster.server: expected a string,
/// got a number"), for what is malformed, larger than size_max, nested deeper than depth_max, or
/// uses YAML aliases, which can blow up. Unknown fields are ignored.
Result<Kubeconfig> parse(std::string_view text);

}  // namespace regatta::kubeconfig
