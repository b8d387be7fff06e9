#pragma once

#include "lib/kube/client.h"
#include "operate/examination.h"
#include "operate/worker_account.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Questions to an API server whose answers several checks need.
namespace regatta::operate {

Task<Result<Json>> get_json(kube::Client& client, std::string path);
Task<Result<std::vector<Json>>> list_json(kube::Client& client, api::ResourceInfo resource,
                                          std::string ns = {}, std::string selector = {});
/// The plurals that the API version at that path serves; empty when it is not served.
Task<Result<std::set<std::string>>> served_at(kube::Client& client, std::string path);
/// How far the server's clock is ahead of ours; nullopt when it does not tell.
Task<std::optional<Duration>> clock_ahead(kube::Client& client, Clock& clock);
/// Whether `user` may, or with an empty one the client itself.
Task<Result<bool>> may(kube::Client& client, std::string user, Permission what);
std::string describe(const Permission& what);
/// Of the object's status; null when it has none of that type. Lives as long as the object.
const Json* condition_of(const Json& object, std::string_view type);
/// The names of objects.
std::set<std::string> names_of(const std::vector<Json>& objects);

}  // namespace regatta::operate
