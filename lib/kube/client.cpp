#include "lib/kube/client.h"

#include "lib/base/json_access.h"
#include "lib/kube/object_limits.h"
#include "lib/kube/outline.h"
#include "lib/kube/query.h"
#include "lib/kube/status.h"
#include "lib/runtime/deadline.h"
#include "lib/runtime/turn.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::kube {
namespace {

bool succeeded(unsigned status) {
  return status >= 200 && status < 300;
}

/// The body of an answer that came whole although a stream was asked for.
class WholeBody final : public net::BodyStream {
 public:
  explicit WholeBody(std::string body) : body_(std::move(body)) {}
  Task<Result<std::optional<std::string>>> next() override {
    if (body_.empty()) co_return std::optional<std::string>();
    co_return std::optional<std::string>(std::exchange(body_, {}));
  }

 private:
  std::string body_;
};

const char* content_type_of(PatchType type) {
  switch (type) {
    case PatchType::json:
      return "application/json-patch+json";
    case PatchType::merge:
      return "application/merge-patch+json";
    case PatchType::strategic:
      return "application/strategic-merge-patch+json";
  }
  return "";
}

std::string delete_body(const DeleteOptions& options) {
  Json body = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) {
    body["preconditions"]["resourceVersion"] = options.resource_version;
  }
  if (!options.propagation_policy.empty()) body["propagationPolicy"] = options.propagation_policy;
  if (options.grace_period_seconds) body["gracePeriodSeconds"] = *options.grace_period_seconds;
  if (options.dry_run) body["dryRun"] = Json::array({"All"});
  return dump_json(body);
}

/// Items of built-in kinds come without apiVersion and kind, which the codec wants to see.
void name_item(Json* item, const api::ResourceInfo& resource) {
  if (!item->is_object() || item->contains("kind")) return;
  (*item)["apiVersion"] = resource.api_version();
  (*item)["kind"] = resource.kind;
}

/// Accepts whole objects from a server that cannot send this form.
std::string metadata_as(const std::string& form) {
  return "application/json;as=" + form + ";g=meta.k8s.io;v=v1,application/json";
}

/// Counts what one list has brought.
class ListMeter {
 public:
  explicit ListMeter(const ListLimits& limits) : limits_(limits) {}

  /// A page of `limit` objects at most.
  Status add_page(std::int64_t limit, std::size_t bytes) {
    smallest_ = limit > 0 ? std::min(smallest_, limit) : smallest_;
    if (++pages_ > limits_.pages_of(smallest_)) return limits_.beyond_pages(smallest_);
    if ((bytes_ += bytes) > limits_.bytes_max) return limits_.beyond_bytes();
    return ok();
  }
  Status add_object() {
    if (++objects_ > limits_.objects_max) return limits_.beyond_objects();
    return ok();
  }

 private:
  const ListLimits& limits_;
  std::int64_t smallest_ = full_page;
  std::size_t pages_ = 0, objects_ = 0, bytes_ = 0;
};

struct ListMetadata {
  std::string resource_version, continue_token;
};

Result<ListMetadata> read_metadata(std::string_view text) {
  const Status readable = check_object_bytes(text.size());
  if (!readable) return readable.error();
  const Result<Json> metadata = parse_json(text);
  if (!metadata) return metadata.error();
  if (!metadata->is_object()) return Error(Errc::invalid, "its metadata is no object");
  return ListMetadata{text_at(*metadata, "resourceVersion"), text_at(*metadata, "continue")};
}

Status read_item(std::string_view text, const api::ResourceInfo& resource, const OnItem& on_item) {
  const Status readable = check_object_bytes(text.size());
  if (!readable) return readable;
  const std::string kept = without_managed_fields(std::string(text));
  Result<Json> item = parse_json(kept);
  if (!item) return item.error();
  name_item(&*item, resource);
  on_item(*item, counted_bytes(kept) + text.size() - kept.size());
  discard(&*item);
  return ok();
}

/// A page may be long, so the others have their turn between its items.
Task<Result<ListMetadata>> read_page(Clock& clock, std::string_view text, ListMeter* meter,
                                     const api::ResourceInfo& resource, const OnItem& on_item) {
  ListItems items(text);
  Turn turn;
  for (;;) {
    const SteadyPoint before = clock.steady();
    const auto item = items.next();
    if (!item) co_return item.error();
    if (!*item) co_return read_metadata(items.metadata());
    Status read = meter->add_object();
    if (read) read = read_item(**item, resource, on_item);
    if (!read) co_return read.error();
    turn.add(clock.steady() - before);
    if (turn.is_over()) co_await turn.pass();
  }
}

/// metadata.name, or empty.
std::string name_in(const std::string& body) {
  const Result<Json> object = parse_json(body);
  if (!object || !object->is_object()) return {};
  const auto metadata = object->find("metadata");
  return metadata == object->end() ? std::string() : text_at(*metadata, "name");
}

/// A token may take longer than a request, as that of a credential plugin.
Task<Result<std::string>> token_before(Clock& clock, SteadyPoint deadline,
                                       std::shared_ptr<Credentials> credentials) {
  Task<Result<std::string>> asking = credentials->bearer_token();
  auto token = co_await with_deadline(clock, deadline, std::move(asking));
  if (!token && token.error().code() != Errc::timeout) co_return token;
  if (!token || clock.steady() >= deadline) {
    co_return Error(Errc::timeout, "no bearer token in time: the request was not sent");
  }
  co_return token;
}

}  // namespace

std::size_t ListLimits::pages_of(std::int64_t limit) const {
  if (limit <= 0 || limit >= full_page) return pages_max;
  const auto size = static_cast<std::size_t>(limit);
  // Either product may be beyond what the type holds.
  const bool all = objects_max / full_page <= pages_max;
  const std::size_t objects = all ? objects_max : pages_max * full_page;
  return std::max(pages_max, objects / size + (objects % size != 0));
}

Error ListLimits::beyond_pages(std::int64_t limit) const {
  const std::size_t pages = pages_of(limit);
  if (pages == pages_max) return beyond(pages_max, "pages");
  std::string text = "more than " + std::to_string(pages) + " pages, some of " +
                     std::to_string(limit) + " objects only";
  if (!setting.empty()) text += ", see " + setting;
  return Error(Errc::too_large, std::move(text));
}

Error ListLimits::beyond(std::size_t limit, const char* what) const {
  std::string text = "more than " + std::to_string(limit) + " " + what;
  if (!setting.empty()) text += ", see " + setting + "." + what;
  return Error(Errc::too_large, std::move(text));
}

struct Client::Call {
  std::string_view verb;
  std::string method;
  std::string path;
  std::string query;
  std::string body;
  std::string content_type;
  std::string_view resource;
  std::string subresource;
  bool streaming = false;
  bool last = false;
  std::string accept = "application/json";
};

Client::Client(ClientDeps deps)
    : deps_(std::move(deps)), bucket_(deps_.clock, deps_.config.qps, deps_.config.burst) {}

// --- sending ---

Task<Result<net::HttpResponse>> Client::send_once(Call call, std::string token,
                                                  SteadyPoint deadline) {
  net::HttpRequest request(call.method, deps_.config.base_path + call.path + call.query);
  request.headers.add("Accept", call.accept);
  request.headers.add("User-Agent", deps_.config.user_agent);
  if (!token.empty()) request.headers.add("Authorization", "Bearer " + token);
  if (!call.content_type.empty()) request.headers.add("Content-Type", call.content_type);
  request.body = std::move(call.body);
  net::SendOptions options;
  options.deadline = deadline;
  options.streaming = call.streaming;
  options.last = call.last;
  if (call.method != "GET") options.gate = deps_.config.write_gate;
  const SteadyPoint since = deps_.clock.steady();
  auto answer = co_await deps_.sender.send(std::move(request), options);
  if (deps_.config.observer) {
    RequestSeen seen;
    seen.verb = call.verb;
    seen.resource = call.resource;
    seen.subresource = call.subresource;
    seen.http_status = answer ? answer->status : 0;
    seen.took = deps_.clock.steady() - since;
    deps_.config.observer(seen);
  }
  co_return answer;
}

Task<Result<net::HttpResponse>> Client::send_authenticated(Call call, SteadyPoint deadline) {
  if (!deps_.credentials) co_return co_await send_once(std::move(call), std::string(), deadline);
  auto token = co_await token_before(deps_.clock, deadline, deps_.credentials);
  if (!token) co_return token.error();
  auto answer = co_await send_once(call, *token, deadline);
  if (!answer || answer->status != 401) co_return answer;
  // The token may just have been rotated: try once more if there is a new one.
  deps_.credentials->rejected();
  auto fresh = co_await token_before(deps_.clock, deadline, deps_.credentials);
  if (!fresh || *fresh == *token) co_return answer;
  co_return co_await send_once(std::move(call), std::move(*fresh), deadline);
}

std::optional<Duration> Client::retry_delay(const Error& error, int attempt) {
  const ErrorDetails* details = error.details();
  if (!details || !details->retry_after || attempt >= deps_.config.retries_max) {
    return std::nullopt;
  }
  if (details->http_status != 429 && details->http_status != 503) return std::nullopt;
  const Duration told = std::chrono::hours(1) < *details->retry_after
                            ? Duration(std::chrono::hours(1))
                            : Duration(*details->retry_after);
  const Duration least(Duration::rep{50} << std::min(attempt, 10));
  const Duration delay = std::max(told, least);
  // Every client may have got the same delay: spread the retries.
  return delay + Duration(deps_.rng.between(0, delay.count() / 4));
}

Task<Result<net::HttpResponse>> Client::send(Call call) {
  if (!call.streaming) co_await bucket_.take();
  const SteadyPoint deadline = deps_.clock.steady() + deps_.config.timeout;
  for (int attempt = 0;; ++attempt) {
    auto answer = co_await send_authenticated(call, deadline);
    if (!answer || succeeded(answer->status)) co_return answer;
    const Error error = error_of(*answer);
    const auto delay = retry_delay(error, attempt);
    if (!delay || deps_.clock.steady() + *delay >= deadline) co_return error;
    co_await deps_.clock.sleep_for(*delay);
  }
}

Task<Result<std::string>> Client::send_text(Result<Call> call) {
  if (!call) co_return call.error();
  auto answer = co_await send(std::move(*call));
  if (!answer) co_return answer.error();
  const Status readable = check_object_bytes(answer->body.size());
  if (!readable) co_return readable.error();
  co_return std::move(answer->body);
}

// An empty name would address the whole collection; a DELETE of that is never meant.
Result<Client::Call> Client::object_call(std::string_view verb, std::string method,
                                         const api::ResourceInfo& resource,
                                         const api::ObjectKey& key,
                                         const std::string& subresource) const {
  const auto unusable = [](const std::string& s) { return s.empty() || s == "." || s == ".."; };
  if (unusable(key.name)) {
    return Error(Errc::invalid, std::string(verb) + " " + resource.group_resource() + ": \"" +
                                    key.name + "\" is not the name of an object");
  }
  if (resource.namespaced && unusable(key.ns)) {
    return Error(Errc::invalid, std::string(verb) + " " + resource.group_resource() + " " +
                                    key.name + ": the namespace is missing");
  }
  Call call;
  call.verb = verb;
  call.method = std::move(method);
  call.path = resource.path(percent_encode(key.ns), percent_encode(key.name));
  if (!subresource.empty()) call.path += "/" + percent_encode(subresource);
  call.resource = resource.plural;
  call.subresource = subresource;
  return call;
}

// --- verbs ---

Task<Result<std::string>> Client::get_raw(api::ResourceInfo resource, api::ObjectKey key,
                                          GetOptions options) {
  Result<Call> call = object_call("get", "GET", resource, key, options.subresource);
  if (call) {
    Query query;
    query.add("resourceVersion", options.resource_version);
    call->query = query.str();
  }
  co_return co_await send_text(std::move(call));
}

Task<Result<std::string>> Client::get_path(std::string path) {
  Call call;
  call.verb = "get";
  call.method = "GET";
  call.path = std::move(path);
  auto answer = co_await send(std::move(call));
  if (!answer) co_return answer.error();
  co_return std::move(answer->body);
}

Task<Result<std::string>> Client::list_raw(api::ResourceInfo resource, std::string ns,
                                           ListOptions options, OnItem on_item) {
  std::string continue_token;
  std::string first_version;
  ListMeter meter(deps_.config.list_limits);
  std::int64_t limit = options.limit;
  std::int64_t most = std::max(limit, options.limit_max);
  const std::string what = "list of " + resource.group_resource();
  do {
    Query query;
    query.add("labelSelector", options.label_selector);
    query.add("fieldSelector", options.field_selector);
    query.add_if(limit > 0, "limit", std::to_string(limit));
    query.add("continue", continue_token);
    if (continue_token.empty()) {
      query.add("resourceVersion", options.resource_version);
      query.add("resourceVersionMatch", options.resource_version_match);
    }
    Call call;
    call.verb = "list";
    call.method = "GET";
    call.path = resource.path(percent_encode(ns));
    call.query = query.str();
    call.resource = resource.plural;
    call.last = options.last;
    if (options.metadata_only) call.accept = metadata_as("PartialObjectMetadataList");
    const SteadyPoint asked = deps_.clock.steady();
    auto answer = co_await send(std::move(call));
    // API servers take another limit with each page of one list.
    if (!answer && answer.error().code() == Errc::too_large && smaller_page(limit) < limit) {
      limit = most = smaller_page(limit);
      continue;
    }
    if (!answer) co_return answer.error();
    const bool quick = deps_.clock.steady() - asked <= deps_.config.timeout / 4;
    const Status within_limits = meter.add_page(limit, answer->body.size());
    if (!within_limits) co_return within_limits.error().within(what);
    auto metadata = co_await read_page(deps_.clock, answer->body, &meter, resource, on_item);
    if (!metadata) co_return metadata.error().within(what);
    // All pages come from one snapshot. If they do not, the version of the oldest is the one to
    // watch from.
    if (first_version.empty()) first_version = metadata->resource_version;
    continue_token = std::move(metadata->continue_token);
    if (continue_token.empty()) co_return first_version;
    if (quick && limit > 0) limit = std::min(2 * limit, most);
  } while (true);
}

Task<Result<std::string>> Client::create_raw(api::ResourceInfo resource, std::string ns,
                                             std::string body, WriteOptions options) {
  if (resource.namespaced && ns.empty()) {
    co_return Error(Errc::invalid,
                    "create " + resource.group_resource() + ": the namespace is missing");
  }
  Call call;
  call.verb = "create";
  call.method = "POST";
  call.path = resource.path(percent_encode(ns));
  if (!options.subresource.empty()) {
    // The body of a Binding or an Eviction names the Pod.
    const std::string name = name_in(body);
    if (name.empty()) {
      co_return Error(Errc::invalid, "create " + resource.group_resource() + "/" +
                                         options.subresource + ": metadata.name is missing");
    }
    call.path += "/" + percent_encode(name) + "/" + options.subresource;
    call.subresource = options.subresource;
  }
  call.query = write_query(options);
  call.body = std::move(body);
  call.content_type = "application/json";
  call.resource = resource.plural;
  Result<Call> result = std::move(call);
  co_return co_await send_text(std::move(result));
}

std::string Client::write_query(const WriteOptions& options) const {
  Query query;
  query.add("fieldManager",
            options.field_manager.empty() ? deps_.config.field_manager : options.field_manager);
  query.add_if(options.dry_run, "dryRun", "All");
  return query.str();
}

Task<Result<std::string>> Client::update_raw(api::ResourceInfo resource, api::ObjectKey key,
                                             std::string body, WriteOptions options) {
  Result<Call> call = object_call("update", "PUT", resource, key, options.subresource);
  if (call) {
    call->query = write_query(options);
    call->body = std::move(body);
    call->content_type = "application/json";
  }
  co_return co_await send_text(std::move(call));
}

Task<Result<std::string>> Client::patch_raw(api::ResourceInfo resource, api::ObjectKey key,
                                            PatchType type, std::string body,
                                            WriteOptions options) {
  Result<Call> call = object_call("patch", "PATCH", resource, key, options.subresource);
  if (call) {
    call->query = write_query(options);
    call->body = std::move(body);
    call->content_type = content_type_of(type);
  }
  co_return co_await send_text(std::move(call));
}

Task<Result<std::string>> Client::apply_raw(api::ResourceInfo resource, api::ObjectKey key,
                                            std::string body, ApplyOptions options) {
  Result<Call> call = object_call("apply", "PATCH", resource, key, options.subresource);
  if (call) {
    Query query;
    query.add("fieldManager",
              options.field_manager.empty() ? deps_.config.field_manager : options.field_manager);
    query.add("force", options.force ? "true" : "false");
    query.add_if(options.dry_run, "dryRun", "All");
    call->query = query.str();
    call->body = std::move(body);
    call->content_type = "application/apply-patch+yaml";  // JSON is YAML
  }
  co_return co_await send_text(std::move(call));
}

Task<Status> Client::remove(api::ResourceInfo resource, api::ObjectKey key, DeleteOptions options) {
  Result<Call> call = object_call("delete", "DELETE", resource, key, {});
  if (call) {
    call->body = delete_body(options);
    call->content_type = "application/json";
  }
  auto answer = co_await send_text(std::move(call));
  if (!answer) co_return answer.error();
  co_return ok();
}

Task<Status> Client::remove_collection(api::ResourceInfo resource, std::string ns,
                                       ListOptions selection, DeleteOptions options) {
  Query query;
  query.add("labelSelector", selection.label_selector);
  query.add("fieldSelector", selection.field_selector);
  Call call;
  call.verb = "deletecollection";
  call.method = "DELETE";
  call.path = resource.path(percent_encode(ns));
  call.query = query.str();
  call.body = delete_body(options);
  call.content_type = "application/json";
  call.resource = resource.plural;
  auto answer = co_await send(std::move(call));
  if (!answer) co_return answer.error();
  co_return ok();
}

Task<Result<WatchStream>> Client::watch(api::ResourceInfo resource, std::string ns,
                                        WatchOptions options) {
  Query query;
  query.add("watch", "1");
  query.add("labelSelector", options.label_selector);
  query.add("fieldSelector", options.field_selector);
  query.add("resourceVersion", options.resource_version);
  query.add_if(options.bookmarks, "allowWatchBookmarks", "true");
  query.add_if(options.send_initial_events, "sendInitialEvents", "true");
  query.add_if(options.send_initial_events, "resourceVersionMatch", "NotOlderThan");
  const auto seconds = options.server_timeout.count();
  query.add_if(seconds > 0, "timeoutSeconds", std::to_string(seconds));
  Call call;
  call.verb = "watch";
  call.method = "GET";
  call.path = resource.path(percent_encode(ns));
  call.query = query.str();
  call.resource = resource.plural;
  call.streaming = true;
  if (options.metadata_only) call.accept = metadata_as("PartialObjectMetadata");
  auto answer = co_await send(std::move(call));
  if (!answer) co_return answer.error();
  if (answer->status != 200) {
    co_return Error(Errc::unavailable, "watch of " + resource.group_resource() +
                                           ": answered with status " +
                                           std::to_string(answer->status) + " instead of 200");
  }
  if (!answer->stream) answer->stream = std::make_shared<WholeBody>(std::move(answer->body));
  co_return WatchStream(std::move(answer->stream));
}

}  // namespace regatta::kube
