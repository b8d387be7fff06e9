#pragma once

#include "lib/net/http.h"

#include <memory>
#include <optional>
#include <span>

// HTTP/1.1 messages to and from bytes, without I/O.
namespace regatta::net {

struct DecoderLimits {
  /// Of the header; and of what may wait undecoded for its end: the line of a chunk with its
  /// extensions, the trailer.
  std::size_t header_max = 16 * 1024;
  std::size_t body_max = 64u << 20;
  int informational_max = 16;  ///< answers of status 1xx before the one that counts
};

/// Decodes one message after another from bytes given in pieces of any size. Bytes past the end of
/// a message are kept for the next one.
class Decoder {
 public:
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  virtual ~Decoder();

  /// Adds received bytes.
  void append(std::span<const char> bytes);
  /// How many bytes wait to be decoded.
  std::size_t buffered() const;
  /// Drops them.
  void discard();

  /// Decodes as much as possible. `invalid` when the message is malformed or beyond a limit; see
  /// refusal().
  virtual Status advance() = 0;
  /// The peer ended the stream: `unavailable` unless the message is whole.
  virtual Status end_of_stream() = 0;
  virtual bool started() const = 0;  ///< whether a byte of this message has been decoded
  virtual bool header_done() const = 0;
  virtual bool done() const = 0;
  virtual bool keep_alive() const = 0;  ///< whether another message may follow
  /// What has been decoded of the body since the last call.
  virtual std::string take_body() = 0;

  /// The status with which a server answers after advance() failed: 400, 413 or 431.
  unsigned refusal() const { return refusal_; }

 protected:
  struct Buffer;
  explicit Decoder(DecoderLimits limits);
  /// `invalid` when more waits for the end of a line than a peer needs.
  Status check_undecoded();

  DecoderLimits limits_;
  std::unique_ptr<Buffer> buffer_;
  unsigned refusal_ = 400;
};

class RequestDecoder final : public Decoder {
 public:
  explicit RequestDecoder(DecoderLimits limits);
  ~RequestDecoder() override;

  /// Begins the next message.
  void start();
  /// The whole message, once done().
  HttpRequest take();
  bool expects_continue() const;  ///< once header_done()
  bool is_http10() const;
  std::size_t body_size() const;  ///< bytes of the body that have been decoded and not taken

  Status advance() override;
  Status end_of_stream() override;
  bool started() const override;
  bool header_done() const override;
  bool done() const override;
  bool keep_alive() const override;
  std::string take_body() override;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

class ResponseDecoder final : public Decoder {
 public:
  explicit ResponseDecoder(DecoderLimits limits);
  ~ResponseDecoder() override;

  /// Begins the next message. The answer to a HEAD request has no body, whatever its header says.
  void start(bool head_request);
  /// With `streaming`, the body of a 200 has no limit, and advance() returns as soon as some of it
  /// was decoded.
  void set_streaming(bool streaming) { streaming_ = streaming; }
  unsigned status() const;  ///< once header_done(); never 1xx
  /// Status and header, once header_done().
  HttpResponse take_head();

  Status advance() override;
  Status end_of_stream() override;
  bool started() const override;
  bool header_done() const override;
  bool done() const override;
  bool keep_alive() const override;
  std::string take_body() override;

 private:
  struct Parser;
  void start_parser();
  Status check_header();
  std::unique_ptr<Parser> parser_;
  bool head_request_ = false;
  bool streaming_ = false;
  bool any_byte_ = false;
  int informational_ = 0;
};

/// The request on the wire. `invalid` when a part contains a line break or the target a space.
Result<std::string> encode_request(const HttpRequest& request, std::string_view host);

enum class Framing { length, chunked, until_close };

/// Appends the status line and the header. This function sets Content-Length, Transfer-Encoding and
/// Connection; header values with line breaks are left out.
void encode_response_head(const HttpResponse& response, Framing framing, bool keep_alive,
                          std::string* out);

/// Whether an answer of this status to a request of this method carries a body.
bool may_have_body(std::string_view method, unsigned status);

void append_chunk(std::string_view piece, std::string* out);
constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace regatta::net
