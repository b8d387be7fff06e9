#include "lab/apiserver/conversions.h"

#include "lab/apiserver/hooks/review.h"
#include "lab/apiserver/writer.h"
#include "lib/manifest/json_access.h"

#include <charconv>

namespace regatta::apiserver {
namespace {

constexpr const char* definitions_shelf = "customresourcedefinitions.apiextensions.k8s.io";
constexpr Duration conversion_max = std::chrono::seconds(30);
/// Older states of one object that watches may still show.
constexpr std::size_t versions_max = 16;
constexpr std::size_t objects_max = 20'000;

std::uint64_t version_of(const Json& object) {
  const std::string& text = text_at(object, {"metadata", "resourceVersion"});
  std::uint64_t version = 0;
  std::from_chars(text.data(), text.data() + text.size(), version);
  return version;
}

std::pair<std::string, std::string> key_of(const Json& object, const std::string& api_version) {
  return {text_at(object, {"metadata", "uid"}), api_version};
}

Json plainly(Json object, const ResourceType& type) {
  object["kind"] = type.kind;
  object["apiVersion"] = type.api_version();
  return object;
}

/// The converted objects of a review, or why there are none.
Result<std::vector<Json>> read_review(const std::string& uid, const std::vector<Json>& sent,
                                      const net::HttpResponse& response) {
  const auto refused = [](std::string why) { return Error(Errc::invalid, std::move(why)); };
  if (response.status != 200) return refused("failed: " + unexpected_status(response.status));
  const Result<Json> review = parse_json(response.body);
  if (!review) return refused("failed: " + review.error().what());
  const Json& answer = object_or_empty(*review, {"response"});
  if (text_at(answer, "uid") != uid) return refused("returned a response for another request");
  const Json& result = object_or_empty(answer, {"result"});
  if (text_at(result, "status") != "Success") {
    return refused("failed: " + text_at(result, "message"));
  }
  const Json& objects = list_or_empty(answer, "convertedObjects");
  if (objects.size() != sent.size()) {
    return refused("returned " + std::to_string(objects.size()) + " objects, expected " +
                   std::to_string(sent.size()));
  }
  std::vector<Json> converted(objects.begin(), objects.end());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const std::string& before = text_at(sent[i], {"metadata", "name"});
    const std::string& after = text_at(converted[i], {"metadata", "name"});
    if (before != after) {
      return refused("returned invalid object: must have the same name: " + before +
                     " != " + after);
    }
    // Of metadata only labels and annotations can change.
    Json metadata = sent[i]["metadata"];
    for (const char* name : {"labels", "annotations"}) {
      metadata.erase(name);
      const Json* kept = member(converted[i], {"metadata", name});
      if (kept) metadata[name] = *kept;
    }
    converted[i]["metadata"] = std::move(metadata);
  }
  return converted;
}

}  // namespace

bool ConvertedObjects::has(const Json& stored, const std::string& api_version) const {
  const auto versions = kept_.find(key_of(stored, api_version));
  return versions != kept_.end() && versions->second.count(version_of(stored)) > 0;
}

void ConvertedObjects::keep(const Json& stored, const std::string& api_version, Json converted) {
  if (kept_.size() >= objects_max) kept_.clear();
  Versions& versions = kept_[key_of(stored, api_version)];
  versions[version_of(stored)] = std::move(converted);
  if (versions.size() > versions_max) versions.erase(versions.begin());
}

Json ConvertedObjects::find(const Json& stored, const ResourceType& type) const {
  const auto versions = kept_.find(key_of(stored, type.api_version()));
  if (versions == kept_.end()) return plainly(stored, type);
  auto at = versions->second.upper_bound(version_of(stored));
  if (at == versions->second.begin()) return plainly(stored, type);
  Json object = std::prev(at)->second;
  object["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"];
  return object;
}

void Conversions::attach(const Json& definition, ResourceType& type) {
  const Json& conversion = object_or_empty(definition, {"spec", "conversion"});
  // Another webhook may convert otherwise.
  Json& seen = seen_[type.group_resource()];
  if (seen != conversion) converted_->forget();
  seen = conversion;
  const bool by_webhook = text_at(conversion, "strategy") == "Webhook";
  if (!by_webhook || type.version == type.storage_version) return;
  // It must not hold the type that holds it.
  auto names = std::make_shared<ResourceType>();
  names->group = type.group;
  names->version = type.version;
  names->kind = type.kind;
  type.from_stored = [names, converted = converted_](Json stored) {
    return converted->find(stored, *names);
  };
}

ResourceTypePtr Conversions::stored_type(const ResourceTypePtr& type) const {
  if (!concerns(*type)) return type;
  return core_.registry.find(type->group, type->storage_version, type->plural);
}

std::vector<StoredPtr> Conversions::missing(const ResourceType& type,
                                            std::vector<StoredPtr> objects) const {
  if (!concerns(type)) return {};
  std::erase_if(objects, [&](const StoredPtr& object) {
    return !object || converted_->has(object->value(), type.api_version());
  });
  return objects;
}

Task<std::optional<Failure>> Conversions::prepare(const ResourceType& type,
                                                  std::vector<StoredPtr> objects) {
  const std::vector<StoredPtr> wanted = missing(type, std::move(objects));
  if (wanted.empty()) co_return std::nullopt;
  std::vector<Json> stored;
  for (const StoredPtr& object : wanted) stored.push_back(object->value());
  Answer<std::vector<Json>> converted =
      co_await call(type, type.storage_version, type.version, std::move(stored));
  if (!converted) co_return converted.error();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    converted_->keep(wanted[i]->value(), type.api_version(), std::move((*converted)[i]));
  }
  co_return std::nullopt;
}

Task<Answer<Json>> Conversions::convert(Json object, const ResourceType& from,
                                        const ResourceType& to) {
  if (from.version == to.version) co_return object;
  if (!concerns(from) && !concerns(to)) {
    co_return in_version(to_stored_version(std::move(object), from), to);
  }
  std::vector<Json> one;
  one.push_back(std::move(object));
  Answer<std::vector<Json>> converted =
      co_await call(from, from.version, to.version, std::move(one));
  if (!converted) co_return converted.error();
  co_return std::move(converted->front());
}

Task<Answer<std::vector<Json>>> Conversions::call(const ResourceType& type,
                                                  std::string from_version, std::string to_version,
                                                  std::vector<Json> objects) {
  const std::string head =
      "conversion webhook for " + type.group + "/" + from_version + ", Kind=" + type.kind + " ";
  const StoredPtr definition = core_.store.shelf(definitions_shelf).find("", type.group_resource());
  if (!definition) co_return internal_error(head + "failed: there is no definition");
  const Json& client =
      object_or_empty(definition->value(), {"spec", "conversion", "webhook", "clientConfig"});
  const std::string uid = core_.rng.uuid();
  // The version of a stored object is not a part of what is stored.
  std::vector<Json> versions;
  for (Json& object : objects) {
    const Json* version = member(object, {"metadata", "resourceVersion"});
    versions.push_back(version ? *version : Json());
    metadata_of(object).erase("resourceVersion");
  }
  const Json review = {
      {"kind", "ConversionReview"},
      {"apiVersion", "apiextensions.k8s.io/v1"},
      {"request",
       {{"uid", uid}, {"desiredAPIVersion", type.group + "/" + to_version}, {"objects", objects}}},
      {"response",
       {{"uid", ""}, {"convertedObjects", nullptr}, {"result", {{"metadata", Json::object()}}}}}};
  const Result<net::HttpResponse> response =
      co_await caller_.post(read_target(client), "kube-apiserver", review.dump(), conversion_max);
  if (!response) co_return internal_error(head + "failed: " + response.error().what());
  Result<std::vector<Json>> converted = read_review(uid, objects, *response);
  if (!converted) co_return internal_error(head + converted.error().what());
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (!versions[i].is_null()) metadata_of((*converted)[i])["resourceVersion"] = versions[i];
  }
  co_return std::move(*converted);
}

}  // namespace regatta::apiserver
