#include "lab/apiserver/reader.h"

#include "lab/apiserver/conversions.h"
#include "lab/apiserver/selector.h"
#include "lab/apiserver/text.h"
#include "lab/terms.h"
#include "lib/base/base64.h"
#include "lib/manifest/json_access.h"
#include "lib/runtime/deadline.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

/// The start of a page of a list, and its version; version -1: the current one.
struct Continue {
  std::string start;
  std::int64_t version = 0;
};

std::string encode(const Continue& token) {
  Json json = {{"v", "meta.k8s.io/v1"}, {"start", token.start}};
  json["rv"] = token.version;
  return base64url_encode(dump_json(json));
}

Answer<Continue> decode(const std::string& text) {
  const Failure malformed = bad_request("continue key is not valid");
  const Result<std::string> raw = base64url_decode(text);
  if (!raw) return bad_request("continue key is not valid: illegal base64 data at input byte 0");
  const Result<Json> json = parse_json(*raw);
  if (!json || !json->is_object()) {
    return bad_request("invalid continue token: continue key is not valid: invalid character '" +
                       (raw->empty() ? std::string() : "\u00cf") +
                       "' looking for beginning of value");
  }
  Continue token;
  token.start = text_at(*json, "start");
  token.version = integer_at(*json, "rv").value_or(0);
  if (token.start.empty() || token.version == 0) return malformed;
  return token;
}

Failure expired_list(const Continue& token) {
  Failure failure = expired(
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter, or use the continue token in this "
      "response to retrieve the remainder of the results. Continuing with the provided token "
      "results in an inconsistent list - objects that were created, modified, or deleted between "
      "the time the first chunk was returned and now may show up in the list.");
  failure.continue_token = encode({token.start, -1});
  return failure;
}

/// The objects from which a list is read, and the version that the list has.
struct Source {
  const Shelf::Objects* objects = nullptr;
  Shelf::Objects before;  ///< for an old version: what has changed since, as it was
  std::uint64_t version = 0;
  std::string start;
};

/// The objects of a source in the order of their keys.
class Cursor {
 public:
  Cursor(const Source& source, const std::string& from)
      : now_(source.objects->lower_bound(from)),
        now_end_(source.objects->end()),
        before_(source.before.lower_bound(from)),
        before_end_(source.before.end()) {}

  /// The next key and object; null at the end.
  const Shelf::Objects::value_type* next() {
    while (now_ != now_end_ || before_ != before_end_) {
      if (before_ == before_end_ || (now_ != now_end_ && now_->first < before_->first)) {
        return &*now_++;
      }
      if (now_ != now_end_ && now_->first == before_->first) ++now_;
      const auto was = before_++;
      if (was->second) return &*was;
    }
    return nullptr;
  }

 private:
  Shelf::Objects::const_iterator now_;
  Shelf::Objects::const_iterator now_end_;
  Shelf::Objects::const_iterator before_;
  Shelf::Objects::const_iterator before_end_;
};

std::optional<Failure> choose_source(Core& core, const Scope& scope, Source& source) {
  const ListOptions& options = scope.options;
  Shelf& shelf = core.store.shelf(scope.type->store_name());
  source.objects = &shelf.objects();
  source.version = core.store.version();
  std::uint64_t exact = 0;
  std::optional<Failure> too_old;
  if (!options.continue_token.empty()) {
    Answer<Continue> token = decode(options.continue_token);
    if (!token) return token.error();
    if (!options.from_start()) {
      return bad_request("specifying resource version is not allowed when using continue");
    }
    source.start = token->start;
    if (token->version < 0) return std::nullopt;
    exact = static_cast<std::uint64_t>(token->version);
    too_old = expired_list(*token);
  } else if (!options.from_start() &&
             (options.resource_version_match == "Exact" ||
              (options.limit > 0 && options.resource_version_match.empty()))) {
    exact = *parse_version(options.resource_version);
    too_old = expired("The resourceVersion for the provided list is too old.");
  }
  if (exact == 0 || exact == source.version) return std::nullopt;
  std::optional<Shelf::Objects> before = shelf.changed_since(exact);
  if (!before) return too_old;
  source.before = std::move(*before);
  source.version = exact;
  return std::nullopt;
}

struct Selectors {
  LabelSelector labels;
  FieldSelector fields;
  bool empty() const { return labels.empty() && fields.empty(); }
  bool matches(const Stored& object, const ResourceType& type) const {
    if (!labels.empty() && !labels.matches(object.value())) return false;
    if (fields.empty()) return true;
    if (!type.from_stored) return fields.matches(object.value(), type);
    return fields.matches(type.from_stored(object.value()), type);
  }
};

Answer<Selectors> selectors_of(const Scope& scope) {
  Answer<LabelSelector> labels = LabelSelector::parse(scope.options.label_selector);
  if (!labels) return labels.error();
  Answer<FieldSelector> fields = FieldSelector::parse(scope.options.field_selector, *scope.type);
  if (!fields) return fields.error();
  return Selectors{std::move(*labels), std::move(*fields)};
}

struct Page {
  std::vector<StoredPtr> objects;
  std::string next;  ///< key of the last object, when more follow
  std::int64_t remaining = 0;
};

Page read_page(const Source& source, const Scope& scope, const Selectors& selectors) {
  Page page;
  const std::string prefix = scope.ns.empty() ? "" : scope.ns + "/";
  const bool limited = scope.options.limit > 0 && scope.options.resource_version != "0";
  Cursor cursor(source, prefix + source.start);
  while (const Shelf::Objects::value_type* entry = cursor.next()) {
    if (!entry->first.starts_with(prefix)) break;
    if (!selectors.matches(*entry->second, *scope.type)) continue;
    if (limited && page.objects.size() == static_cast<std::size_t>(scope.options.limit)) {
      if (page.remaining++ == 0) {
        const Stored& last = *page.objects.back();
        page.next = store_key(last.ns(), last.name()).substr(prefix.size());
      }
      if (!selectors.empty()) break;
      continue;
    }
    page.objects.push_back(entry->second);
  }
  return page;
}

}  // namespace

Task<std::optional<Failure>> wait_for_version(Core& core, std::uint64_t version) {
  const SteadyPoint deadline = core.clock.steady() + core.options.future_version_wait;
  while (core.store.version() < version) {
    if (core.clock.steady() >= deadline) {
      co_return future_version(version, core.store.version());
    }
    const SteadyPoint next = std::min(deadline, core.clock.steady() + Duration(100));
    co_await core.clock.sleep_until(next);
  }
  co_return std::nullopt;
}

Task<Answer<net::HttpResponse>> get_object(Core& core, Exchange& exchange, ResourceTypePtr type,
                                           std::string ns, std::string name) {
  const Result<std::uint64_t> version = parse_version(exchange.info.query.get("resourceVersion"));
  if (!version) co_return internal_error(version.error().what());
  if (*version > core.store.version()) {
    std::optional<Failure> late = co_await wait_for_version(core, *version);
    if (late) co_return std::move(*late);
  }
  const StoredPtr object = core.store.shelf(type->store_name()).find(ns, name);
  if (!object) co_return not_found(*type, name);
  if (Conversions::concerns(*type)) {
    if (auto failed = co_await core.conversions->prepare(*type, {object})) co_return *failed;
  }
  if (exchange.form.as == Representation::object && exchange.form.media == Form::Media::json) {
    co_return respond_json(exchange, 200, text_of(*object, *type));
  }
  co_return respond_object(exchange, 200, in_version(object->value(), *type), *type,
                           core.clock.now());
}

Answer<net::HttpResponse> respond_list(Core& core, const Exchange& exchange,
                                       const ResourceType& type,
                                       const std::vector<StoredPtr>& objects,
                                       const Json& list_metadata) {
  if (exchange.form.as == Representation::partial_metadata) {
    const std::string list = type.custom ? "*unstructured.UnstructuredList"
                                         : "*" + (type.group.empty() ? "core" : type.group) + "." +
                                               type.list_kind_name();
    return Failure{
        406, "NotAcceptable",
        "you requested PartialObjectMetadata, but the requested object is a list (" + list + ")"};
  }
  if (exchange.form.as == Representation::object) {
    std::string text =
        type.custom
            ? "{\"apiVersion\":\"" + type.api_version() + "\",\"items\":["
            : "{\"kind\":\"" + type.list_kind_name() + "\",\"apiVersion\":\"" + type.api_version() +
                  "\",\"metadata\":" + kubernetes_text(list_metadata) + ",\"items\":[";
    bool first = true;
    for (const StoredPtr& object : objects) {
      if (!first) text += ',';
      first = false;
      if (type.custom) {
        text += text_of(*object, type);
      } else if (type.from_stored) {
        text += members_text(type.from_stored(object->value()));
      } else {
        text += object->members();
      }
    }
    text += type.custom ? "],\"kind\":\"" + type.list_kind_name() +
                              "\",\"metadata\":" + kubernetes_text(list_metadata) + "}"
                        : "]}";
    return respond_json(exchange, 200, std::move(text));
  }
  std::vector<Json> converted;
  for (const StoredPtr& object : objects) converted.push_back(in_version(object->value(), type));
  std::vector<const Json*> pointers;
  for (const Json& object : converted) pointers.push_back(&object);
  if (exchange.form.as == Representation::table) {
    Answer<Json> table = table_of(pointers, type, list_metadata, exchange, true, core.clock.now());
    if (!table) return table.error();
    return respond_json(exchange, 200, *table);
  }
  const std::string version = exchange.form.as_version.empty() ? "v1" : exchange.form.as_version;
  Json list = {{"kind", "PartialObjectMetadataList"},
               {"apiVersion", "meta.k8s.io/" + version},
               {"metadata", list_metadata},
               {"items", Json::array()}};
  for (const Json* object : pointers) list["items"].push_back(partial_metadata(*object, version));
  return respond_json(exchange, 200, list);
}

Task<Answer<net::HttpResponse>> list_objects(Core& core, Exchange& exchange, Scope scope) {
  const Result<std::uint64_t> version = parse_version(scope.options.resource_version);
  if (!version) co_return bad_request("invalid resource version: " + version.error().what());
  Answer<Selectors> selectors = selectors_of(scope);
  if (!selectors) co_return selectors.error();
  if (*version > core.store.version()) {
    std::optional<Failure> late = co_await wait_for_version(core, *version);
    if (late) co_return std::move(*late);
  }
  Source source;
  if (auto refused = choose_source(core, scope, source)) co_return std::move(*refused);
  const Page page = read_page(source, scope, *selectors);
  Json metadata = {{"resourceVersion", std::to_string(source.version)}};
  if (!page.next.empty()) {
    const std::string start = page.next + std::string(1, '\0');
    metadata["continue"] = encode({start, static_cast<std::int64_t>(source.version)});
    if (selectors->empty()) metadata["remainingItemCount"] = page.remaining;
  } else if (scope.type->custom && exchange.form.as == Representation::object) {
    metadata["continue"] = "";
  }
  if (Conversions::concerns(*scope.type)) {
    auto failed = co_await core.conversions->prepare(*scope.type, page.objects);
    if (failed) co_return *failed;
  }
  co_return respond_list(core, exchange, *scope.type, page.objects, metadata);
}

namespace {

constexpr std::string_view initial_events_end = "k8s.io/initial-events-end";
constexpr std::size_t chunk_bytes_max = 256 * 1024;

/// The body of a watch. It reads the shelf's history at its own pace. A reader that falls behind
/// the history gets an error event, and the watch ends.
class WatchStream final : public net::BodyStream {
 public:
  WatchStream(Core& core, const Exchange& exchange, Scope scope, Selectors selectors)
      : core_(core),
        shelf_(core.store.shelf(scope.type->store_name())),
        scope_(std::move(scope)),
        selectors_(std::move(selectors)),
        request_(exchange.request),
        exchange_{request_, exchange.info, exchange.user, exchange.form, {}},
        ends_(scope_.options.timeout_seconds > 0
                  ? core.clock.steady() + std::chrono::seconds(scope_.options.timeout_seconds)
                  : SteadyPoint::max()) {
    schedule_bookmark();
  }

  /// Sends the present state as events, then changes.
  void start_with_state(bool bookmark) {
    waits_for_state_ = Conversions::concerns(*scope_.type);
    bookmark_after_state_ = bookmark;
    if (!waits_for_state_) send_state(bookmark);
  }

  void send_state(bool bookmark) {
    for (const auto& [key, object] : shelf_.objects()) {
      if (in_scope(*object) && selectors_.matches(*object, *scope_.type)) {
        pending_ += event("ADDED", *object, object->version());
      }
    }
    next_ = shelf_.end_change();
    last_sent_ = core_.store.version();
    if (bookmark) pending_ += bookmark_event(core_.store.version(), true);
  }

  void start_after(std::uint64_t version) {
    next_ = shelf_.change_after(version);
    last_sent_ = version;
    if (version > core_.store.version()) ignore_up_to_ = version;
  }

  /// Sends one ERROR event and ends.
  void fail(const Failure& failure) {
    pending_ += "{\"type\":\"ERROR\",\"object\":" + status_text(failure) + "}\n";
    finished_ = true;
  }

  Task<Result<std::optional<std::string>>> next() override {
    while (true) {
      if (Conversions::concerns(*scope_.type)) co_await convert();
      if (!finished_) collect();
      if (!pending_.empty()) {
        std::string chunk = std::move(pending_);
        pending_.clear();
        co_return std::optional<std::string>(std::move(chunk));
      }
      if (finished_ || core_.clock.steady() >= ends_) co_return std::optional<std::string>();
      const SteadyPoint until = std::min(ends_, bookmark_at_);
      Task<> change = shelf_.changed().wait();
      co_await finishes_before(core_.clock, until, std::move(change));
    }
  }

 private:
  bool in_scope(const Stored& object) const {
    return scope_.ns.empty() || object.ns() == scope_.ns;
  }

  static std::string status_text(const Failure& failure) {
    const Json status = to_status(failure);
    return object_text("Status", "v1", members_text(status), false);
  }

  /// Has everything converted that the next events show.
  Task<> convert() {
    const ResourceType& type = *scope_.type;
    while (!finished_) {
      std::vector<StoredPtr> shown;
      for (const auto& [key, object] : shelf_.objects()) {
        if (waits_for_state_ && in_scope(*object)) shown.push_back(object);
      }
      const std::uint64_t from = std::max(next_, shelf_.first_change());
      for (std::uint64_t i = from; !waits_for_state_ && i < shelf_.end_change(); ++i) {
        shown.push_back(shelf_.change(i).object);
        shown.push_back(shelf_.change(i).previous);
      }
      if (core_.conversions->missing(type, shown).empty()) break;
      auto failed = co_await core_.conversions->prepare(type, std::move(shown));
      if (failed) fail(*failed);
    }
    if (std::exchange(waits_for_state_, false) && !finished_) send_state(bookmark_after_state_);
  }

  void collect() {
    if (next_ < shelf_.first_change()) {
      fail(expired("too old resource version: " + std::to_string(last_sent_) + " (" +
                   std::to_string(shelf_.floor()) + ")"));
      return;
    }
    while (core_.store.settled() && next_ < shelf_.end_change() &&
           pending_.size() < chunk_bytes_max) {
      const Change& change = shelf_.change(next_++);
      if (change.version > ignore_up_to_) add(change);
      last_sent_ = std::max(last_sent_, change.version);
    }
    if (shelf_.closed() && next_ == shelf_.end_change()) finished_ = true;
    if (!finished_ && pending_.empty() && core_.clock.steady() >= bookmark_at_) {
      pending_ += bookmark_event(std::max(last_sent_, shelf_.last_version()), false);
      schedule_bookmark();
    }
  }

  void add(const Change& change) {
    if (!in_scope(*change.object)) return;
    const ResourceType& type = *scope_.type;
    const bool before = change.previous && selectors_.matches(*change.previous, type);
    const bool after =
        change.type != ChangeType::deleted && selectors_.matches(*change.object, type);
    if (before && after) {
      pending_ += event("MODIFIED", *change.object, change.version);
    } else if (after) {
      pending_ += event("ADDED", *change.object, change.version);
    } else if (before && change.type == ChangeType::deleted) {
      pending_ += event("DELETED", *change.object, change.version);
    } else if (before) {
      Json last = change.previous->value();
      last["metadata"]["resourceVersion"] = std::to_string(change.version);
      const Stored shown(change.object->ns(), change.object->name(), change.version,
                         std::move(last));
      pending_ += event("DELETED", shown, change.version);
    }
  }

  std::string event(std::string_view kind, const Stored& object, std::uint64_t version) {
    std::string text = "{\"type\":\"";
    text.append(kind).append("\",\"object\":");
    if (exchange_.form.as == Representation::object) {
      text += text_of(object, *scope_.type);
    } else if (exchange_.form.as == Representation::table) {
      text += other_form(in_version(object.value(), *scope_.type), version);
    } else {
      text += object_text("PartialObjectMetadata", "meta.k8s.io/" + exchange_.form.as_version,
                          object.metadata_member(), false);
    }
    return text + "}\n";
  }

  std::string other_form(const Json& object, std::uint64_t version) {
    if (exchange_.form.as != Representation::table) {
      const Json partial = partial_metadata(object, exchange_.form.as_version);
      return object_text("PartialObjectMetadata", text_at(partial, "apiVersion"),
                         members_text(partial), false);
    }
    const Json metadata = {{"resourceVersion", std::to_string(version)}};
    Answer<Json> table =
        table_of({&object}, *scope_.type, metadata, exchange_, !columns_sent_, core_.clock.now());
    columns_sent_ = true;
    if (!table) return status_text(table.error());
    return object_text("Table", text_at(*table, "apiVersion"), members_text(*table), false);
  }

  std::string bookmark_event(std::uint64_t version, bool initial) {
    const ResourceType& type = *scope_.type;
    Json object = {{"kind", type.kind},
                   {"apiVersion", type.api_version()},
                   {"metadata", {{"resourceVersion", std::to_string(version)}}}};
    if (initial) object["metadata"]["annotations"] = {{initial_events_end, "true"}};
    std::string text = "{\"type\":\"BOOKMARK\",\"object\":";
    if (exchange_.form.as == Representation::object) {
      text += object_text(type.kind, type.api_version(), members_text(object), type.custom);
    } else if (exchange_.form.as == Representation::table) {
      text += bookmark_table(object, version);
    } else {
      text += other_form(object, version);
    }
    return text + "}\n";
  }

  std::string bookmark_table(const Json& object, std::uint64_t version) {
    const Json metadata = {{"resourceVersion", std::to_string(version)}};
    Answer<Json> table =
        table_of({&object}, *scope_.type, metadata, exchange_, !columns_sent_, core_.clock.now());
    if (!table) return status_text(table.error());
    columns_sent_ = true;
    (*table)["rows"][0]["cells"] = Json::array();
    for (std::size_t i = 0; i < scope_.type->strategy->columns().size(); ++i) {
      (*table)["rows"][0]["cells"].push_back("");
    }
    return object_text("Table", text_at(*table, "apiVersion"), members_text(*table), false);
  }

  /// In regular intervals, and once about two seconds before the end.
  void schedule_bookmark() {
    bookmark_at_ = SteadyPoint::max();
    if (!scope_.options.allow_bookmarks) return;
    const SteadyPoint now = core_.clock.steady();
    bookmark_at_ = now + core_.options.bookmark_interval;
    const SteadyPoint last = ends_ == SteadyPoint::max() ? ends_ : ends_ - std::chrono::seconds(2);
    if (last > now && last < bookmark_at_) bookmark_at_ = last;
    if (bookmark_at_ >= ends_) bookmark_at_ = SteadyPoint::max();
  }

  Core& core_;
  Shelf& shelf_;
  Scope scope_;
  Selectors selectors_;
  net::HttpRequest request_;
  Exchange exchange_;
  SteadyPoint ends_;
  SteadyPoint bookmark_at_ = SteadyPoint::max();
  std::uint64_t next_ = 0;
  std::uint64_t last_sent_ = 0;
  std::uint64_t ignore_up_to_ = 0;
  std::string pending_;
  bool columns_sent_ = false;
  bool waits_for_state_ = false;
  bool bookmark_after_state_ = false;
  bool finished_ = false;
};

}  // namespace

Answer<net::HttpResponse> watch_objects(Core& core, const Exchange& exchange, Scope scope) {
  const Result<std::uint64_t> version = parse_version(scope.options.resource_version);
  if (!version) return internal_error(version.error().what());
  Answer<Selectors> selectors = selectors_of(scope);
  if (!selectors) return selectors.error();
  const ListOptions options = scope.options;
  const Shelf& shelf = core.store.shelf(scope.type->store_name());
  auto stream =
      std::make_shared<WatchStream>(core, exchange, std::move(scope), std::move(*selectors));
  const bool initial =
      options.has_send_initial_events ? options.send_initial_events : options.from_start();
  if (initial && *version > core.store.version()) {
    stream->fail(future_version(*version, core.store.version()));
  } else if (initial) {
    stream->start_with_state(options.allow_bookmarks);
  } else if (*version < shelf.floor() && *version != 0) {
    stream->fail(expired("too old resource version: " + std::to_string(*version) + " (" +
                         std::to_string(shelf.floor()) + ")"));
  } else {
    stream->start_after(*version);
  }
  net::HttpResponse response(200, "");
  response.headers.set("Content-Type", "application/json");
  response.headers.set("Cache-Control", "no-cache, private");
  for (const std::string& warning : exchange.warnings) {
    response.headers.add("Warning", "299 - " + in_quotes(warning));
  }
  response.stream = std::move(stream);
  return response;
}

}  // namespace regatta::apiserver
