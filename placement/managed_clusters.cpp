#include "placement/managed_clusters.h"

#include "lib/api/names.h"
#include "lib/base/base64.h"
#include "lib/base/duration.h"
#include "lib/base/joined.h"
#include "placement/provide.h"

namespace regatta::placement {
namespace {

using Verb = ManagedClusterStep::Verb;
namespace ocm = api::managed_clusters;

constexpr const char* profile_manager_label = "x-k8s.io/cluster-manager";
constexpr const char* profile_manager = "open-cluster-management";

bool is_hub(const api::ManagedCluster& cluster, const std::string& hub_uid) {
  if (cluster.metadata.name == ocm::hub_name) return true;
  if (cluster.metadata.label(std::string(ocm::hub_label)) == "true") return true;
  for (const api::ManagedClusterClaim& claim : cluster.claims) {
    if (claim.name == ocm::id_claim && !hub_uid.empty() && claim.value == hub_uid) return true;
  }
  return false;
}

/// The condition that says whether the cluster has the rights; null while nothing says it.
const api::Condition* applied_condition(const api::ClusterPermission& permission) {
  const auto* by_work = api::find_condition(permission.conditions, ocm::applied_by_work);
  return by_work ? by_work : api::find_condition(permission.conditions, ocm::applied);
}

std::string value_of(const api::Secret& secret, const std::string& key) {
  const auto found = secret.data.find(key);
  return found == secret.data.end() ? std::string() : found->second;
}

Json rules_json(const std::vector<api::PolicyRule>& rules) {
  Json out = Json::array();
  for (const api::PolicyRule& rule : rules) {
    out.push_back(
        {{"apiGroups", rule.api_groups}, {"resources", rule.resources}, {"verbs", rule.verbs}});
  }
  return out;
}

class MemberPlanner {
 public:
  MemberPlanner(const ManagedClusterView& view, const ManagedClusterRules& rules, TimePoint now)
      : view_(view), rules_(rules), now_(now) {}

  ManagedClusterPlan plan() {
    decide();
    if (!lacks_.empty()) {
      plan_.lack = lacks_.front();
      std::vector<std::string> texts;
      for (const ManagedClusterLack& one : lacks_) texts.push_back(one.message);
      plan_.lack->message = joined(texts, "; ");
    }
    return std::move(plan_);
  }

 private:
  bool ours(const api::ObjectMeta& metadata) const { return is_made_for(metadata, view_.name); }
  template <class T>
  bool made(const std::shared_ptr<const T>& object) const {
    return object && ours(object->metadata);
  }
  bool has_anything() const {
    return made(view_.member) || made(view_.kubeconfig) || made(view_.permission) ||
           made(view_.account);
  }
  bool has_member() const { return made(view_.member); }
  void lack(const char* reason, std::string message) {
    lacks_.push_back({reason, std::move(message)});
  }

  void decide() {
    if (view_.cluster && is_hub(*view_.cluster, view_.hub_uid)) return;
    plan_.told_by_member = has_member();
    if (!view_.cluster && !view_.gone) {
      plan_.confirm = has_anything();
      return;
    }
    if (!view_.cluster || view_.cluster->metadata.deleting()) return leave();
    if (!view_.other_member.empty() || (view_.member && !has_member())) {
      const std::string& name = view_.member ? view_.name : view_.other_member;
      return lack("ClusterOfOthers", "MultiKueueCluster " + name +
                                         " leads to this cluster and was made by others, " +
                                         "so it stays as it is; delete it, or label it " +
                                         std::string(ocm::made_for_label) + "=" + view_.name +
                                         " to have it kept from here");
    }
    const bool chosen = view_.cluster->hub_accepts_client &&
                        rules_.selector.matches(view_.cluster->metadata.labels);
    if (!chosen && !has_member()) return;
    if (chosen && rules_.request) {
      request_account();
      request_permission();
    }
    keep();
    if (!chosen) {
      lack("NotSelected", "ManagedCluster " + view_.name +
                              " is no longer accepted or selected; what was made for it is kept: "
                              "delete the MultiKueueCluster to end that");
    }
  }

  // --- what is asked of OCM ---

  template <class T>
  void create(const T&, const api::ObjectKey& key, Json object) {
    Json& metadata = object["metadata"];
    metadata["name"] = key.name;
    if (!key.ns.empty()) metadata["namespace"] = key.ns;
    metadata["labels"][std::string(ocm::made_for_label)] = view_.name;
    object["apiVersion"] = T::resource.api_version();
    object["kind"] = T::resource.kind;
    plan_.steps.push_back({Verb::create, &T::resource, key, std::move(object), {}, {}});
  }
  template <class T>
  void change(const T& seen, Json patch) {
    patch["metadata"]["uid"] = seen.metadata.uid;
    patch["metadata"]["resourceVersion"] = seen.metadata.resource_version;
    plan_.steps.push_back(
        {Verb::patch, &T::resource, seen.metadata.key(), std::move(patch), {}, {}});
  }
  template <class T>
  void remove(const std::shared_ptr<const T>& seen) {
    if (!seen || !ours(seen->metadata) || seen->metadata.deleting()) return;
    plan_.steps.push_back({Verb::remove,
                           &T::resource,
                           seen->metadata.key(),
                           {},
                           seen->metadata.uid,
                           seen->metadata.resource_version});
  }

  void request_account() {
    const bool synced = rules_.connection == Connection::cluster_profile;
    const std::string validity = format_go_duration(rules_.token_validity);
    Json wanted{{"spec", {{"rotation", {{"enabled", true}, {"validity", validity}}}}}};
    if (synced) wanted["metadata"]["labels"][std::string(ocm::sync_label)] = "true";
    if (!view_.account) {
      if (view_.accounts_served) {
        create(api::ManagedServiceAccount(), {view_.name, rules_.account}, std::move(wanted));
      }
      return;
    }
    const api::ManagedServiceAccount& seen = *view_.account;
    if (!ours(seen.metadata) || seen.metadata.deleting()) return;
    const bool same = parse_go_duration(seen.validity) == rules_.token_validity &&
                      (!synced || seen.metadata.label(std::string(ocm::sync_label)) == "true");
    if (!same) change(seen, std::move(wanted));
  }

  std::vector<api::PolicyRule> rights() const {
    std::vector<api::PolicyRule> out;
    const auto add = [&](const std::vector<api::WorkerRule>& rules) {
      for (const api::WorkerRule& one : rules) {
        out.push_back({{one.group}, {one.resource}, one.verbs});
      }
    };
    add(api::worker_reads(rules_.jobs));
    add(api::worker_looks());
    const bool provides = view_.member && provision_of(view_.member->metadata).any();
    if (provides) add(api::worker_provisions());
    add(api::worker_writes(rules_.jobs));
    return out;
  }

  void request_permission() {
    const std::string kind(api::ManagedServiceAccount::resource.kind);
    const std::vector<api::PolicyRule> wanted = rights();
    const Json subject{{"apiGroup", api::ManagedServiceAccount::resource.group},
                       {"kind", kind},
                       {"name", rules_.account}};
    Json body{{"spec",
               {{"clusterRole", {{"rules", rules_json(wanted)}}},
                {"clusterRoleBinding", {{"subject", subject}}}}}};
    if (!view_.permission) {
      if (view_.permissions_served) {
        create(api::ClusterPermission(), {view_.name, rules_.account}, std::move(body));
      }
      return;
    }
    const api::ClusterPermission& seen = *view_.permission;
    if (!ours(seen.metadata) || seen.metadata.deleting()) return;
    const bool same =
        seen.rules == wanted && seen.subject_kind == kind && seen.subject_name == rules_.account;
    if (!same) change(seen, std::move(body));
  }

  // --- what is made of its answer ---

  void look_at_account() {
    const std::string key = view_.name + "/" + rules_.account;
    if (!view_.accounts_served) {
      return lack("AccountMissing",
                  "this hub does not serve managedserviceaccounts."
                  "authentication.open-cluster-management.io; install OCM's add-on "
                  "managed-serviceaccount");
    }
    if (!view_.account && !rules_.request) {
      return lack("AccountMissing", "there is no ManagedServiceAccount " + key +
                                        "; create it, or set multiKueue.managedClusters.accounts "
                                        "to Request");
    }
    if (view_.account && view_.account->expires && *view_.account->expires <= now_) {
      lack("TokenExpired", "the token of ManagedServiceAccount " + key +
                               " has ended and was not renewed; see whether the agent of the "
                               "add-on managed-serviceaccount runs on the cluster");
    }
  }

  void look_at_permission() {
    const std::string key = view_.name + "/" + rules_.account;
    if (!view_.permissions_served) {
      return lack("PermissionMissing",
                  "this hub does not serve clusterpermissions.rbac.open-cluster-management.io; "
                  "install OCM's cluster-permission");
    }
    if (!view_.permission) {
      return lack("PermissionMissing",
                  "there is no ClusterPermission " + key +
                      (rules_.request ? " yet"
                                      : "; create it, or set multiKueue.managedClusters.accounts "
                                        "to Request"));
    }
    const api::Condition* applied = applied_condition(*view_.permission);
    if (applied && applied->status == api::ConditionStatus::True) return;
    const auto* invalid = api::find_condition(view_.permission->conditions, "Validation");
    if (!applied && invalid && invalid->status == api::ConditionStatus::False) applied = invalid;
    lack("PermissionNotApplied",
         "ClusterPermission " + key + " is not applied on the cluster" +
             (applied && !applied->message.empty() ? ": " + applied->message : std::string()) +
             "; see whether the work agent runs there");
  }

  std::optional<std::string> token() {
    const bool there =
        view_.token && view_.token->metadata.label(std::string(ocm::token_label)) == "true";
    const std::string found = there ? value_of(*view_.token, "token") : std::string();
    if (!found.empty()) return found;
    lack("TokenMissing", "Secret " + view_.name + "/" + rules_.account +
                             " with the token of the account is " +
                             (there ? "incomplete" : "not there") +
                             "; see whether the agent of the add-on managed-serviceaccount runs on "
                             "the cluster");
    return std::nullopt;
  }

  std::optional<std::pair<std::string, std::string>> server() {
    std::string url, ca;
    if (rules_.connection == Connection::proxy) {
      url = rules_.proxy_url + "/" + view_.name;
      ca = view_.proxy_ca;
      if (ca.empty()) {
        lack("AuthorityMissing", "ConfigMap " + rules_.system_namespace + "/" +
                                     rules_.proxy_ca_config_map +
                                     " has no ca.crt, which the cluster-proxy is checked with");
        return std::nullopt;
      }
      return std::pair(std::move(url), std::move(ca));
    }
    if (view_.cluster && !view_.cluster->clients.empty()) {
      url = view_.cluster->clients.front().url;
      ca = view_.cluster->clients.front().ca_bundle;
    }
    if (url.empty()) {
      lack("ServerMissing", "ManagedCluster " + view_.name +
                                " has no URL in spec.managedClusterClientConfigs; set it, or "
                                "connect by a proxy");
      return std::nullopt;
    }
    if (ca.empty() && view_.token) ca = value_of(*view_.token, "ca.crt");
    if (ca.empty()) {
      lack("AuthorityMissing", "neither spec.managedClusterClientConfigs of ManagedCluster " +
                                   view_.name + " nor Secret " + view_.name + "/" + rules_.account +
                                   " has a CA");
      return std::nullopt;
    }
    return std::pair(std::move(url), std::move(ca));
  }

  /// Nullopt with a lack, or where a plugin has the credentials.
  std::optional<WorkerAccess> access() {
    auto secret = token();
    auto reached = server();
    if (!secret || !reached) return std::nullopt;
    return WorkerAccess{std::move(reached->first), std::move(reached->second), std::move(*secret)};
  }

  void look_at_profile() {
    if (!view_.profile) {
      lack("ProfileMissing", "there is no ClusterProfile " + rules_.system_namespace + "/" +
                                 view_.name +
                                 "; bind a ManagedClusterSet of the cluster to that namespace");
    } else if (view_.profile->metadata.label(profile_manager_label) != profile_manager) {
      lack("ProfileMissing", "ClusterProfile " + rules_.system_namespace + "/" + view_.name +
                                 " is not of " + profile_manager);
    }
    if (!view_.profile_token) {
      lack("TokenMissing", "there is no Secret " + rules_.system_namespace + "/" + view_.name +
                               "-" + rules_.account + " with the token for the ClusterProfile");
    }
  }

  /// The Secret and the MultiKueueCluster, as far as they may be written.
  void keep() {
    look_at_account();
    look_at_permission();
    if (rules_.connection == Connection::cluster_profile) {
      look_at_profile();
      keep_member();
      if (has_member() && view_.member->spec == wanted_source()) remove(view_.kubeconfig);
      return;
    }
    const auto wanted = access();
    if (wanted) keep_secret(*wanted);
    keep_member();
  }

  void keep_secret(const WorkerAccess& wanted) {
    const api::ObjectKey key(rules_.system_namespace, kubeconfig_secret_of(view_.name));
    const std::string text = rules_.write_kubeconfig(wanted, view_.name);
    const Json data{{std::string(api::kubeconfig_secret_key), base64_encode(text)}};
    if (!view_.kubeconfig) {
      if (!lacks_.empty() && !has_member()) return;
      return create(api::Secret(), key, Json{{"type", "Opaque"}, {"data", data}});
    }
    if (!ours(view_.kubeconfig->metadata)) {
      return lack("SecretOfOthers", "Secret " + key.str() +
                                        " was made by others and stays as it is; delete it, or "
                                        "label it " +
                                        std::string(ocm::made_for_label) + "=" + view_.name);
    }
    if (value_of(*view_.kubeconfig, std::string(api::kubeconfig_secret_key)) == text) return;
    change(*view_.kubeconfig, Json{{"data", data}});
  }

  api::MultiKueueClusterSpec wanted_source() const {
    api::MultiKueueClusterSpec spec;
    if (rules_.connection == Connection::cluster_profile) {
      spec.cluster_source.cluster_profile_ref = api::ClusterProfileReference{view_.name};
    } else {
      spec.cluster_source.kube_config =
          api::KubeConfigSource{kubeconfig_secret_of(view_.name), api::LocationType::Secret};
    }
    return spec;
  }

  void keep_member() {
    if (!lacks_.empty()) return;
    const bool by_profile = rules_.connection == Connection::cluster_profile;
    const Json wanted =
        by_profile
            ? Json{{"clusterProfileRef", {{"name", view_.name}}}}
            : Json{{"kubeConfig",
                    {{"locationType", "Secret"}, {"location", kubeconfig_secret_of(view_.name)}}}};
    if (!view_.member) {
      return create(api::MultiKueueCluster(), api::ObjectKey(view_.name),
                    Json{{"spec", {{"clusterSource", wanted}}}});
    }
    if (view_.member->metadata.deleting() || view_.member->spec == wanted_source()) return;
    Json source = wanted;
    source[by_profile ? "kubeConfig" : "clusterProfileRef"] = nullptr;
    change(*view_.member, Json{{"spec", {{"clusterSource", std::move(source)}}}});
  }

  // --- when it goes ---

  void leave() {
    if (has_member() && view_.workloads > 0) {
      if (rules_.connection != Connection::cluster_profile && view_.cluster) {
        const auto wanted = access();
        if (wanted) keep_secret(*wanted);
      }
      lacks_.clear();
      return lack("WorkloadsRemain",
                  "ManagedCluster " + view_.name +
                      (view_.cluster ? " is being deleted" : " is gone") +
                      "; what was made for it goes when no workload is there any more (now " +
                      std::to_string(view_.workloads) + "): take it out of the MultiKueueConfigs");
    }
    // What others have made of the name may use the Secret.
    if (view_.member && !has_member()) return;
    remove(view_.member);
    remove(view_.kubeconfig);
    if (!rules_.request) return;
    remove(view_.permission);
    remove(view_.account);
  }

  const ManagedClusterView& view_;
  const ManagedClusterRules& rules_;
  TimePoint now_;
  std::vector<ManagedClusterLack> lacks_;
  ManagedClusterPlan plan_;
};

}  // namespace

std::string ManagedClusterStep::str() const {
  const char* done = verb == Verb::create  ? "created "
                     : verb == Verb::patch ? "changed "
                                           : "removed ";
  return done + std::string(resource->kind) + " " + (key.ns.empty() ? key.name : key.str());
}

std::string kubeconfig_secret_of(const std::string& cluster) {
  return "multikueue-" + cluster;
}

bool is_made_for(const api::ObjectMeta& metadata, const std::string& cluster) {
  return metadata.label(std::string(ocm::made_for_label)) == cluster;
}

ManagedClusterPlan managed_cluster_plan(const ManagedClusterView& view,
                                        const ManagedClusterRules& rules, TimePoint now) {
  return MemberPlanner(view, rules, now).plan();
}

}  // namespace regatta::placement
