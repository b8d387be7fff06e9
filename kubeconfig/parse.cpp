#include "kubeconfig/kubeconfig.h"
#include "kubeconfig/yaml_guard.h"
#include "lib/api/yaml.h"
#include "lib/base/base64.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::kubeconfig {
namespace {

std::string_view kind_of(const Json& value) {
  if (value.is_string()) return "a string";
  if (value.is_boolean()) return "a boolean";
  if (value.is_number()) return "a number";
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  return "null";
}

/// Reads the fields of one object and keeps the first error. A field that is null counts as absent.
class Fields {
 public:
  Fields(const Json& object, std::string path, std::optional<Error>& problem)
      : object_(object), path_(std::move(path)), problem_(problem) {
    if (!object.is_object()) complain("", object, "an object");
  }

  void string(const char* name, std::string* out) const {
    const Json* value = find(name);
    if (!value) return;
    if (!value->is_string()) return complain(name, *value, "a string");
    *out = value->get<std::string>();
    if (out->find('\0') != std::string::npos) fail(name, "contains a zero byte");
  }
  void boolean(const char* name, bool* out) const {
    const Json* value = find(name);
    if (!value) return;
    if (!value->is_boolean()) return complain(name, *value, "a boolean");
    *out = value->get<bool>();
  }
  void base64(const char* name, std::string* out) const {
    std::string text;
    string(name, &text);
    std::erase_if(text, [](char c) { return c == ' ' || c == '\t'; });  // folded by YAML
    auto decoded = base64_decode(text);
    if (!decoded) return fail(name, decoded.error().what());
    *out = std::move(*decoded);
  }
  void strings(const char* name, std::vector<std::string>* out) const {
    const Json* value = find(name);
    if (value) read_strings(name, *value, out);
  }
  void string_lists(const char* name, std::map<std::string, std::vector<std::string>>* out) const {
    const Json* value = find(name);
    if (!value) return;
    if (!value->is_object()) return complain(name, *value, "an object");
    for (const auto& [key, list] : value->items()) {
      read_strings(std::string(name) + "." + key, list, &(*out)[key]);
    }
  }
  /// Kept as text, because its contents are not read here.
  void raw(const char* name, std::string* out) const {
    if (const Json* value = find(name)) *out = dump_json(*value);
  }
  /// A list of {name: …, <member>: {…}}, as a map. Names are unique.
  template <class T, class Read>
  void named(const char* name, const char* member, std::map<std::string, T>* out, Read read) const {
    const Json* list = find(name);
    if (!list) return;
    if (!list->is_array()) return complain(name, *list, "a list");
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string path = path_of(name) + "[" + std::to_string(i) + "]";
      const Fields entry((*list)[i], path, problem_);
      std::string key;
      entry.string("name", &key);
      const auto [at, fresh] = out->try_emplace(key);
      if (!fresh) entry.fail("name", "duplicate name \"" + key + "\"");
      const Json* value = entry.find(member);
      if (value) read(Fields(*value, path + "." + member, problem_), &at->second);
    }
  }
  void fail(const std::string& name, const std::string& what) const {
    if (!problem_) problem_ = Error(Errc::invalid, path_of(name) + ": " + what);
  }

 private:
  const Json* find(const char* name) const { return member(object_, name); }
  std::string path_of(const std::string& name) const {
    if (path_.empty() && name.empty()) return "kubeconfig";
    return path_.empty() || name.empty() ? path_ + name : path_ + "." + name;
  }
  void complain(const std::string& name, const Json& value, const char* want) const {
    fail(name, std::string("expected ") + want + ", got " + std::string(kind_of(value)));
  }
  void read_strings(const std::string& name, const Json& value,
                    std::vector<std::string>* out) const {
    if (!value.is_array()) return complain(name, value, "a list");
    for (const Json& item : value) {
      if (!item.is_string()) return complain(name, item, "a list of strings");
      out->push_back(item.get<std::string>());
    }
  }

  const Json& object_;
  std::string path_;
  std::optional<Error>& problem_;
};

void read_cluster(const Fields& fields, Cluster* out) {
  fields.string("server", &out->server);
  fields.string("tls-server-name", &out->tls_server_name);
  fields.boolean("insecure-skip-tls-verify", &out->insecure_skip_tls_verify);
  fields.string("certificate-authority", &out->certificate_authority);
  fields.base64("certificate-authority-data", &out->certificate_authority_data);
  fields.string("proxy-url", &out->proxy_url);
  fields.boolean("disable-compression", &out->disable_compression);
  fields.raw("extensions", &out->extensions);
}

void read_user(const Fields& fields, User* out) {
  fields.string("client-certificate", &out->client_certificate);
  fields.base64("client-certificate-data", &out->client_certificate_data);
  fields.string("client-key", &out->client_key);
  fields.base64("client-key-data", &out->client_key_data);
  fields.string("token", &out->token);
  fields.string("tokenFile", &out->token_file);
  fields.string("username", &out->username);
  fields.string("password", &out->password);
  fields.string("as", &out->impersonate);
  fields.string("as-uid", &out->impersonate_uid);
  fields.strings("as-groups", &out->impersonate_groups);
  fields.string_lists("as-user-extra", &out->impersonate_extra);
  fields.raw("auth-provider", &out->auth_provider);
  fields.raw("exec", &out->exec);
  fields.raw("extensions", &out->extensions);
}

void read_context(const Fields& fields, Context* out) {
  fields.string("cluster", &out->cluster);
  fields.string("user", &out->user);
  fields.string("namespace", &out->default_namespace);
  fields.raw("extensions", &out->extensions);
}

int depth_of(std::string_view json) {
  int depth = 0, deepest = 0;
  bool quoted = false, escaped = false;
  for (const char c : json) {
    if (escaped) {
      escaped = false;
    } else if (quoted) {
      escaped = c == '\\';
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

Result<Json> read_document(std::string_view text) {
  if (text.size() > size_max) {
    return Error(Errc::invalid, "larger than " + std::to_string(size_max) + " bytes");
  }
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') {
    if (depth_of(text) > depth_max) return Error(Errc::invalid, "nested too deeply");
    auto value = parse_json(text);
    if (value) return value;  // else it may be YAML in flow style
  }
  const std::string copy(text);
  const Status allowed = check_yaml(copy);
  if (!allowed) return allowed.error();
  return api::parse_yaml(copy);
}

}  // namespace

Result<Kubeconfig> parse(std::string_view text) {
  auto document = read_document(text);
  if (!document) return document.error();
  Kubeconfig config;
  if (document->is_null()) return config;
  std::optional<Error> problem;
  const Fields fields(*document, "", problem);
  std::string kind = "Config", version = "v1";
  fields.string("kind", &kind);
  fields.string("apiVersion", &version);
  if (kind != "Config" && !kind.empty()) fields.fail("kind", "expected Config, got " + kind);
  if (version != "v1" && !version.empty()) fields.fail("apiVersion", "expected v1, got " + version);
  fields.named("clusters", "cluster", &config.clusters, read_cluster);
  fields.named("users", "user", &config.users, read_user);
  fields.named("contexts", "context", &config.contexts, read_context);
  fields.string("current-context", &config.current_context);
  fields.raw("preferences", &config.preferences);
  fields.raw("extensions", &config.extensions);
  if (problem) return *problem;
  return config;
}

}  // namespace regatta::kubeconfig
