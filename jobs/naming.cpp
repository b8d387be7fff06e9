#include "jobs/naming.h"

#include "lib/base/digest.h"

namespace regatta::jobs {
namespace {

constexpr std::size_t name_max = 253;
constexpr std::size_t brief_name_max = 63;  ///< the limit of a label's value
constexpr std::size_t hash_length = 5;

}  // namespace

std::string workload_name(std::string_view kind, std::string_view group, std::string_view name,
                          std::string_view uid, std::string_view generation, bool brief) {
  std::string hashed;
  for (const std::string_view part : {kind, group, name, uid}) {
    if (!hashed.empty()) hashed += '\n';
    hashed += part;
  }
  if (!generation.empty()) (hashed += '\n') += generation;
  std::string out;
  for (const char c : kind) out += c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  (out += '-') += name;
  const std::size_t room = (brief ? brief_name_max : name_max) - hash_length - 1;
  if (out.size() > room) out.resize(room);
  return out + "-" + sha1_hex(hashed).substr(0, hash_length);
}

}  // namespace regatta::jobs
