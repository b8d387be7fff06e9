// What comes over a connection: HTTP, JSON, watches, Statuses, certificates, protobuf.

#include "lab/apiserver/protobuf.h"
#include "lib/base/check.h"
#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/base/json_access.h"
#include "lib/kube/status.h"
#include "lib/kube/watch.h"
#include "lib/net/http_codec.h"
#include "lib/net/pki.h"
#include "lib/net/tls.h"
#include "tests/fuzz/targets.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace regatta::fuzz {
namespace {

constexpr std::size_t header_max = 256;

/// In pieces of a size that the first byte says: what waits undecoded is bounded at every moment.
template <class Decoder>
void feed_in_pieces(Decoder& decoder, std::string_view text, std::size_t piece) {
  while (!text.empty()) {
    decoder.append(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
    if (!decoder.advance()) return;
    (void)decoder.take_body();
    if (decoder.done()) return;
    REGATTA_CHECK(decoder.buffered() <= header_max + piece, "undecoded bytes pile up");
  }
  (void)decoder.end_of_stream();
}

std::size_t take_size(std::string_view* text) {
  if (text->empty()) return 1;
  const auto first = static_cast<unsigned char>(text->front());
  text->remove_prefix(1);
  return 1u + first;
}

}  // namespace

void http_answer(std::string_view text) {
  const std::size_t piece = take_size(&text);
  for (const bool streaming : {false, true}) {
    net::ResponseDecoder decoder({.header_max = header_max, .body_max = 4096});
    decoder.start(false);
    decoder.set_streaming(streaming);
    feed_in_pieces(decoder, text, piece);
    if (decoder.header_done()) (void)decoder.take_head();
  }
}

void http_request(std::string_view text) {
  const std::size_t piece = take_size(&text);
  net::RequestDecoder decoder({.header_max = header_max, .body_max = 4096});
  feed_in_pieces(decoder, text, piece);
  if (decoder.done()) (void)decoder.take();
}

namespace {

/// What the general parser reads, or nothing if that nests deeper than this program reads. A null
/// byte is an end to the general parser.
std::optional<Json> read_generally(std::string_view text) {
  if (text.find('\0') != text.npos) return {};
  int deepest = 0;
  const auto look = [&](int depth, Json::parse_event_t what, const Json&) {
    const bool opens =
        what == Json::parse_event_t::object_start || what == Json::parse_event_t::array_start;
    deepest = std::max(deepest, depth + (opens ? 1 : 0));
    return deepest <= json_depth_max;
  };
  Json value = Json::parse(text, look, false);
  if (value.is_discarded() || deepest > json_depth_max) return {};
  return value;
}

}  // namespace

void json(std::string_view text) {
  const Result<Json> value = parse_json(text);
  const std::optional<Json> generally = read_generally(text);
  REGATTA_CHECK(value.has_value() == generally.has_value(), "two parsers differ about a text");
  if (!value) return;
  REGATTA_CHECK(*value == *generally, "two parsers read different values");
  const std::string written = dump_json(*value);
  REGATTA_CHECK(written == generally->dump(-1, ' ', false, Json::error_handler_t::replace),
                "two writers differ");
  const Result<Json> again = parse_json(written);
  REGATTA_CHECK(again && *again == *value, "what was written is read as something else");
}

/// A list that is read item by item has the items of the whole document.
void list(std::string_view text) {
  Json items = Json::array();
  const auto add = [&](std::string_view item) -> Status {
    Result<Json> value = parse_json(item);
    if (!value) return value.error();
    items.push_back(std::move(*value));
    return ok();
  };
  const auto taken = kube::for_each_item(text, add);
  const Result<Json> whole = parse_json(text);
  if (!taken || !whole) return;
  const Json* const all = member(*whole, "items");
  const Json none = Json::array();
  REGATTA_CHECK(items == (all ? *all : none), "other items");
  const Result<Json> metadata = parse_json(taken->metadata);
  REGATTA_CHECK(metadata && *metadata == at_or_null(*whole, "metadata"), "other metadata");
}

namespace {

/// Parsers take the last of two members of one name, and an outline ends with the first. No API
/// server writes that.
bool repeats_metadata(std::string_view event) {
  int seen = 0;
  const auto count = [&](int depth, Json::parse_event_t what, const Json& key) {
    if (what == Json::parse_event_t::key && depth == 2 && key == "metadata") ++seen;
    return true;
  };
  (void)Json::parse(event, count, false);
  return seen > 1;
}

}  // namespace

void watch(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto outline = kube::outline_of_event(line);
    const auto event = kube::decode_watch_event(line);
    if (!outline || !event || !event->object) continue;
    // The outline stands for the object where it is known already, so it must say the same.
    const Json* metadata = member(*event->object, "metadata");
    if (!metadata || repeats_metadata(line)) continue;
    REGATTA_CHECK(text_at(*metadata, "name") == outline->object.name, "another name");
    REGATTA_CHECK(event->resource_version == outline->object.resource_version, "another version");
  }
}

void status(std::string_view text) {
  const Error error = kube::error_of(net::HttpResponse(422, std::string(text)));
  REGATTA_CHECK(error.what().size() <= 4096, "a message without limit");
  (void)kube::may_have_happened(error);
  const Result<Json> value = parse_json(text);
  if (value) (void)kube::error_of_status_object(*value);
}

void pem(std::string_view text) {
  const std::string whole(text);
  const std::string first = whole.substr(0, whole.size() / 2), second = whole.substr(first.size());
  (void)net::valid_until(text);
  (void)net::CertificateAuthority::load({first, second});
  // A context of OpenSSL costs a hundred times what reading the text does.
  if (text.size() % 16 != 0) return;
  SystemClock dials;
  (void)net::TlsDialer::create(dials, {.ca_pem = whole});
  (void)net::TlsDialer::create(dials,
                               {.ca_pem = whole, .certificate_pem = whole, .key_pem = whole});
}

void protobuf(std::string_view text) {
  (void)apiserver::from_protobuf(text);
}

}  // namespace regatta::fuzz
