#include "lib/net/http_codec.h"

#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>

#include <array>
#include <charconv>
#include <cstring>

namespace regatta::net {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

/// A body that is collected as it arrives, chunked or not. Unlike Beast's string_body it does not
/// reserve memory because a Content-Length promises so much.
struct CollectedBody {
  using value_type = std::string;
  class reader {
   public:
    template <bool IsRequest, class Fields>
    reader(http::header<IsRequest, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>&, error_code& ec) { ec = {}; }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, error_code& ec) {
      ec = {};
      std::size_t taken = 0;
      for (const asio::const_buffer piece : beast::buffers_range_ref(buffers)) {
        body_.append(static_cast<const char*>(piece.data()), piece.size());
        taken += piece.size();
      }
      return taken;
    }
    void finish(error_code& ec) { ec = {}; }

   private:
    value_type& body_;
  };
};

template <class Fields>
Headers headers_of(const Fields& fields) {
  Headers headers;
  for (const auto& field : fields) {
    headers.add(std::string(field.name_string()), std::string(field.value()));
  }
  return headers;
}

/// Feeds the parser as much as it takes.
template <class Parser>
error_code feed(Parser& parser, beast::flat_buffer& buffer) {
  while (buffer.size() != 0 && !parser.is_done()) {
    error_code ec;
    const std::size_t used = parser.put(buffer.data(), ec);
    buffer.consume(used);
    if (ec == http::error::need_more) return {};
    if (ec) return ec;
    if (used == 0) return {};
  }
  return {};
}

Error malformed(const error_code& ec) {
  return Error(Errc::invalid, "malformed HTTP message: " + ec.message());
}

bool has_line_break(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? char(c + 32) : c;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view other) {
    return std::equal(name.begin(), name.end(), other.begin(), other.end(),
                      [](char a, char b) { return lower(a) == b; });
  });
}

void append_field(std::string_view name, std::string_view value, std::string* out) {
  out->append(name).append(": ").append(value).append("\r\n");
}

void append_number(std::size_t value, int base, std::string* out) {
  std::array<char, 24> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, base).ptr;
  out->append(text.data(), end);
}

}  // namespace

/// Little has come after much: connections that wait hold no more than this.
constexpr std::size_t idle_capacity = 4096;

struct Decoder::Buffer {
  beast::flat_buffer bytes;
};

Decoder::Decoder(DecoderLimits limits) : limits_(limits), buffer_(std::make_unique<Buffer>()) {}

Decoder::~Decoder() = default;

void Decoder::append(std::span<const char> bytes) {
  if (bytes.empty()) return;  // memcpy takes no null pointers, not even for zero bytes
  const bool roomy = buffer_->bytes.size() == 0 && buffer_->bytes.capacity() > idle_capacity;
  if (roomy && bytes.size() < idle_capacity) buffer_->bytes.shrink_to_fit();
  const auto into = buffer_->bytes.prepare(bytes.size());
  std::memcpy(into.data(), bytes.data(), bytes.size());
  buffer_->bytes.commit(bytes.size());
}

std::size_t Decoder::buffered() const {
  return buffer_->bytes.size();
}

void Decoder::discard() {
  buffer_->bytes.consume(buffer_->bytes.size());
}

Status Decoder::check_undecoded() {
  if (buffered() <= limits_.header_max) return ok();
  return Error(Errc::invalid, "a line of a chunk or a trailer is larger than " +
                                  std::to_string(limits_.header_max) + " bytes");
}

struct RequestDecoder::Parser {
  std::optional<http::request_parser<CollectedBody>> parser;
};

RequestDecoder::RequestDecoder(DecoderLimits limits)
    : Decoder(limits), parser_(std::make_unique<Parser>()) {
  start();
}

RequestDecoder::~RequestDecoder() = default;

void RequestDecoder::start() {
  auto& parser = parser_->parser.emplace();
  parser.eager(true);
  parser.header_limit(static_cast<std::uint32_t>(limits_.header_max));
  parser.body_limit(boost::none);  // the check below tells the client what happened
  refusal_ = 400;
}

Status RequestDecoder::advance() {
  auto& parser = *parser_->parser;
  const error_code ec = feed(parser, buffer_->bytes);
  if (ec == http::error::header_limit) {
    refusal_ = 431;
    return Error(Errc::invalid, "the request header is larger than " +
                                    std::to_string(limits_.header_max) + " bytes");
  }
  if (ec) return malformed(ec);
  if (!parser.is_header_done()) return ok();
  const auto promised = parser.content_length();
  if ((promised && *promised > limits_.body_max) || parser.get().body().size() > limits_.body_max) {
    refusal_ = 413;
    return Error(Errc::invalid,
                 "the request body is larger than " + std::to_string(limits_.body_max) + " bytes");
  }
  return parser.is_done() ? ok() : check_undecoded();
}

Status RequestDecoder::end_of_stream() {
  if (done()) return ok();
  return Error(Errc::unavailable, "connection closed in the middle of a request");
}

HttpRequest RequestDecoder::take() {
  auto& message = parser_->parser->get();
  HttpRequest request(std::string(message.method_string()), std::string(message.target()));
  request.headers = headers_of(message);
  request.body = std::move(message.body());
  return request;
}

bool RequestDecoder::expects_continue() const {
  const auto& message = parser_->parser->get();
  return message.version() == 11 && beast::iequals(message[http::field::expect], "100-continue");
}

bool RequestDecoder::is_http10() const {
  return parser_->parser->get().version() < 11;
}
std::size_t RequestDecoder::body_size() const {
  return parser_->parser->get().body().size();
}
bool RequestDecoder::started() const {
  return parser_->parser->got_some();
}
bool RequestDecoder::header_done() const {
  return parser_->parser->is_header_done();
}
bool RequestDecoder::done() const {
  return parser_->parser->is_done();
}
bool RequestDecoder::keep_alive() const {
  return parser_->parser->keep_alive();
}
std::string RequestDecoder::take_body() {
  return std::exchange(parser_->parser->get().body(), {});
}

struct ResponseDecoder::Parser {
  std::optional<http::response_parser<CollectedBody>> parser;
};

ResponseDecoder::ResponseDecoder(DecoderLimits limits)
    : Decoder(limits), parser_(std::make_unique<Parser>()) {
  start(false);
}

ResponseDecoder::~ResponseDecoder() = default;

void ResponseDecoder::start(bool head_request) {
  head_request_ = head_request;
  any_byte_ = false;
  informational_ = 0;
  start_parser();
}

void ResponseDecoder::start_parser() {
  auto& parser = parser_->parser.emplace();
  parser.eager(true);
  parser.header_limit(static_cast<std::uint32_t>(limits_.header_max));
  parser.body_limit(boost::none);
  parser.skip(head_request_);
}

Status ResponseDecoder::advance() {
  for (;;) {
    auto& parser = *parser_->parser;
    any_byte_ = any_byte_ || buffered() != 0;
    const error_code ec = feed(parser, buffer_->bytes);
    if (ec) return malformed(ec);
    const bool informational = parser.is_done() && parser.get().result_int() / 100 == 1;
    if (!informational) {
      const Status header = parser.is_header_done() ? check_header() : ok();
      return header && !parser.is_done() ? check_undecoded() : header;
    }
    if (++informational_ > limits_.informational_max) {
      return Error(Errc::invalid, "more than " + std::to_string(limits_.informational_max) +
                                      " answers of status 1xx before the answer");
    }
    start_parser();
  }
}

Status ResponseDecoder::check_header() {
  auto& parser = *parser_->parser;
  const auto promised = parser.content_length();
  const unsigned status = parser.get().result_int();
  if (!parser.chunked() && !promised && !head_request_ && may_have_body("GET", status)) {
    // The body would end with the connection, so a cut could not be told from the end.
    return Error(Errc::invalid, "the answer has neither Content-Length nor chunks");
  }
  if (streaming_ && status == 200) return ok();
  if ((promised && !head_request_ && *promised > limits_.body_max) ||
      parser.get().body().size() > limits_.body_max) {
    return Error(Errc::too_large,
                 "the answer is larger than " + std::to_string(limits_.body_max) + " bytes");
  }
  return ok();
}

Status ResponseDecoder::end_of_stream() {
  if (done()) return ok();
  if (!any_byte_) return Error(Errc::unavailable, "connection closed without an answer");
  return Error(Errc::unavailable, "connection closed in the middle of the answer");
}

unsigned ResponseDecoder::status() const {
  return parser_->parser->get().result_int();
}

HttpResponse ResponseDecoder::take_head() {
  HttpResponse response(status(), {});
  response.headers = headers_of(parser_->parser->get());
  return response;
}

bool ResponseDecoder::started() const {
  return any_byte_;
}
bool ResponseDecoder::header_done() const {
  return parser_->parser->is_header_done();
}
bool ResponseDecoder::done() const {
  return parser_->parser->is_done();
}
bool ResponseDecoder::keep_alive() const {
  return parser_->parser->keep_alive();
}
std::string ResponseDecoder::take_body() {
  return std::exchange(parser_->parser->get().body(), {});
}

Result<std::string> encode_request(const HttpRequest& request, std::string_view host) {
  const auto bad = [&](std::string_view what) {
    return Error(Errc::invalid, "cannot send a request whose " + std::string(what));
  };
  if (request.method.empty() || request.method.find_first_of(" \r\n") != std::string::npos) {
    return bad("method is not a word");
  }
  if (request.target.empty() || request.target.find(' ') != std::string::npos ||
      has_line_break(request.target)) {
    return bad("target is empty or contains a space or a line break");
  }
  std::string out;
  out.reserve(512 + request.body.size());
  out.append(request.method).append(" ").append(request.target).append(" HTTP/1.1\r\n");
  if (!request.headers.has("Host")) append_field("Host", host, &out);
  for (const auto& [name, value] : request.headers.fields()) {
    if (is_one_of(name, {"content-length", "transfer-encoding", "connection"})) continue;
    if (name.empty() || has_line_break(name) || has_line_break(value)) {
      return bad("header " + name.substr(0, name.find_first_of("\r\n")) + " has a line break");
    }
    append_field(name, value, &out);
  }
  if (!request.body.empty() || is_one_of(request.method, {"post", "put", "patch"})) {
    out.append("Content-Length: ");
    append_number(request.body.size(), 10, &out);
    out.append("\r\n");
  }
  out.append("\r\n").append(request.body);
  return out;
}

void encode_response_head(const HttpResponse& response, Framing framing, bool keep_alive,
                          std::string* out) {
  out->append("HTTP/1.1 ");
  append_number(response.status, 10, out);
  const auto reason = http::obsolete_reason(static_cast<http::status>(response.status));
  out->append(" ").append(reason.data(), reason.size()).append("\r\n");
  for (const auto& [name, value] : response.headers.fields()) {
    if (is_one_of(name, {"content-length", "transfer-encoding", "connection"})) continue;
    if (name.empty() || has_line_break(name) || has_line_break(value)) continue;
    append_field(name, value, out);
  }
  if (framing == Framing::chunked) {
    out->append("Transfer-Encoding: chunked\r\n");
  } else if (framing == Framing::length && may_have_body("GET", response.status)) {
    out->append("Content-Length: ");
    append_number(response.body.size(), 10, out);
    out->append("\r\n");
  }
  if (!keep_alive) out->append("Connection: close\r\n");
  out->append("\r\n");
}

bool may_have_body(std::string_view method, unsigned status) {
  return method != "HEAD" && status / 100 != 1 && status != 204 && status != 304;
}

void append_chunk(std::string_view piece, std::string* out) {
  append_number(piece.size(), 16, out);
  out->append("\r\n").append(piece).append("\r\n");
}

}  // namespace regatta::net
