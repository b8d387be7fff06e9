#include "whatif/timeline/substitute.h"

#include <nlohmann/json.hpp>

#include <string_view>

namespace regatta::whatif {
namespace {

/// "name.member.member" in `values`; null when there is none.
const Json* look_up(const Json& values, std::string_view path) {
  const Json* at = &values;
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string key(path.substr(0, dot));
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
    if (dot == std::string_view::npos) return at;
    path.remove_prefix(dot + 1);
  }
}

Status substitute_text(Json* value, const Json& values) {
  const std::string text = value->get<std::string>();
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = text.find("$("); at != std::string::npos; at = text.find("$(", done)) {
    const std::size_t end = text.find(')', at);
    if (end == std::string::npos) break;
    const std::string_view path = std::string_view(text).substr(at + 2, end - at - 2);
    const Json* found = look_up(values, path);
    if (!found) {
      return Error(Errc::invalid, "$(" + std::string(path) + ") was not picked; there are index " +
                                      "and the names under pick");
    }
    if (at == 0 && end + 1 == text.size()) {
      *value = *found;
      return ok();
    }
    out += text.substr(done, at - done);
    out += found->is_string() ? found->get<std::string>() : dump_json(*found);
    done = end + 1;
  }
  if (done > 0) *value = out + text.substr(done);
  return ok();
}

}  // namespace

Status substitute(Json* value, const Json& values) {
  if (value->is_string()) return substitute_text(value, values);
  if (!value->is_structured()) return ok();
  for (Json& item : *value) {
    if (const Status done = substitute(&item, values); !done) return done;
  }
  return ok();
}

bool mentions(const Json& value, const std::string& name) {
  if (value.is_string()) {
    return value.get_ref<const std::string&>().find("$(" + name + ")") != std::string::npos;
  }
  if (!value.is_structured()) return false;
  for (const Json& item : value) {
    if (mentions(item, name)) return true;
  }
  return false;
}

}  // namespace regatta::whatif
