#include "lab/servers/apply.h"

#include "lib/api/batch.h"
#include "lib/api/core.h"
#include "lib/api/kueue.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace regatta::lab {
namespace {

constexpr Duration poll_every{50};
constexpr std::string_view rbac = "rbac.authorization.k8s.io";

constexpr api::ResourceInfo crd_resource{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                         "customresourcedefinitions", false};

/// Null for a kind that sandboxes do not use.
const api::ResourceInfo* resource_of(const std::string& api_version, const std::string& kind) {
  static const std::array known = {
      api::Namespace::resource,
      api::Secret::resource,
      api::ResourceInfo{"", "v1", "ServiceAccount", "serviceaccounts", true},
      api::ResourceInfo{"", "v1", "ConfigMap", "configmaps", true},
      api::ResourceInfo{rbac, "v1", "ClusterRole", "clusterroles", false},
      api::ResourceInfo{rbac, "v1", "ClusterRoleBinding", "clusterrolebindings", false},
      api::ResourceInfo{rbac, "v1", "Role", "roles", true},
      api::ResourceInfo{rbac, "v1", "RoleBinding", "rolebindings", true},
      api::PriorityClass::resource,
      api::Job::resource,
      api::AdmissionCheck::resource,
      api::MultiKueueConfig::resource,
      api::MultiKueueCluster::resource,
      api::ResourceFlavor::resource,
      api::WorkloadPriorityClass::resource,
      api::ClusterQueue::resource,
      api::LocalQueue::resource,
      api::Cohort::resource,
      crd_resource,
  };
  for (const api::ResourceInfo& resource : known) {
    if (resource.kind == kind && resource.api_version() == api_version) return &resource;
  }
  return nullptr;
}

bool is_established(const std::string& text) {
  const auto crd = parse_json(text);
  if (!crd) return false;
  const Json none = Json::array();
  const Json& status = crd->contains("status") ? crd->at("status") : none;
  if (!status.is_object() || !status.contains("conditions")) return false;
  for (const Json& condition : status.at("conditions")) {
    if (text_at(condition, "type") == "Established") return text_at(condition, "status") == "True";
  }
  return false;
}

/// Whether to try again while a cluster starts: the kind or the server is not there yet.
bool may_come(const Error& error) {
  return error.code() == Errc::not_found || error.retryable();
}

}  // namespace

Task<Status> Applier::apply(std::vector<Json> objects, SteadyPoint deadline) {
  for (Json& object : objects) {
    const Status applied = co_await apply_one(std::move(object), deadline);
    if (!applied) co_return applied.error();
  }
  co_return ok();
}

Task<Status> Applier::apply_one(Json object, SteadyPoint deadline) {
  const std::string kind = text_at(object, "kind");
  const api::ResourceInfo* resource = resource_of(text_at(object, "apiVersion"), kind);
  if (!resource || !object.contains("metadata")) {
    co_return Error(Errc::invalid, "cannot apply an object of kind \"" + kind + "\"");
  }
  const Json& metadata = object.at("metadata");
  const api::ObjectKey key(resource->namespaced ? text_at(metadata, "namespace") : "",
                           text_at(metadata, "name"));
  const std::string body = dump_json(object);
  kube::ApplyOptions options;
  options.field_manager = field_manager;
  options.force = true;
  while (true) {
    const auto applied = co_await client_.apply_raw(*resource, key, body, options);
    if (applied) co_return ok();
    if (!may_come(applied.error()) || clock_.steady() >= deadline) {
      co_return applied.error().within("applying " + kind + " " + key.str());
    }
    co_await clock_.sleep_for(poll_every);
  }
}

Task<Status> Applier::install_crds(std::vector<Json> crds, SteadyPoint deadline) {
  std::vector<std::string> names;
  for (const Json& crd : crds) {
    names.push_back(text_at(crd.at("metadata"), "name"));
    kube::WriteOptions options;
    options.field_manager = field_manager;
    std::string body = dump_json(crd);
    const auto created =
        co_await client_.create_raw(crd_resource, "", std::move(body), std::move(options));
    if (!created && created.error().code() != Errc::already_exists) {
      co_return created.error().within("creating CRD " + names.back());
    }
  }
  for (std::string& name : names) {
    const Status served = co_await wait_established(std::move(name), deadline);
    if (!served) co_return served.error();
  }
  co_return ok();
}

Task<Status> Applier::wait_established(std::string crd, SteadyPoint deadline) {
  const api::ObjectKey key(crd);
  while (true) {
    const auto text = co_await client_.get_raw(crd_resource, key);
    if (text && is_established(*text)) co_return ok();
    if (clock_.steady() >= deadline) {
      const std::string why = text ? "not Established in time" : text.error().what();
      co_return Error(Errc::timeout, "CRD " + crd + ": " + why);
    }
    co_await clock_.sleep_for(poll_every);
  }
}

}  // namespace regatta::lab
