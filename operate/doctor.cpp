#include "operate/doctor.h"

#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::operate {

Task<Result<Examination>> examine(DoctorDeps deps) {
  Examination out;
  const auto version = co_await deps.hub.get_path("/version");
  if (!version) co_return version.error().within("the hub cannot be asked");
  const Picture picture = co_await examine_hub(deps, &out);
  co_await examine_servers(deps, &out);
  for (const Json& member : picture.workers) {
    const auto found = picture.needs.find(text_at(member, {"metadata", "name"}));
    const Needs needs = found == picture.needs.end() ? Needs() : found->second;
    co_await examine_worker(deps, member, needs, picture.ahead, &out);
  }
  co_return out;
}

}  // namespace regatta::operate
