#include "lab/apiserver/hook_caller.h"

namespace regatta::apiserver {
namespace {

std::string seconds_text(Duration timeout) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(timeout).count()) + "s";
}

}  // namespace

std::string go_network_error(const Error& error) {
  const std::string& what = error.what();
  if (error.code() == Errc::timeout) return "context deadline exceeded";
  if (error.code() == Errc::denied && what.find("x509") == std::string::npos) {
    const bool name = what.find("name") != std::string::npos;
    return name
               ? "tls: failed to verify certificate: x509: certificate is not valid for the name"
               : "tls: failed to verify certificate: x509: certificate signed by unknown authority";
  }
  const std::size_t refused = what.find(": Connection refused");
  if (refused == std::string::npos) return what;
  return "dial tcp " + what.substr(0, refused) + ": connect: connection refused";
}

Result<HookCaller::Line> HookCaller::line_to(const HookTarget& target) {
  Result<Reached> reached = reach(store_, target, turn_++);
  if (!reached) return reached.error();
  if (!outgoing_) return Error(Errc::unavailable, "this server calls no other server");
  Result<std::shared_ptr<net::HttpSender>> sender = outgoing_->to(reached->peer);
  if (!sender) return sender.error();
  return Line{std::move(*sender), std::move(reached->path)};
}

Task<Result<net::HttpResponse>> HookCaller::post(HookTarget target, std::string user_agent,
                                                 std::string body, Duration timeout) {
  const std::string query = "?timeout=" + seconds_text(timeout);
  const auto failed = [&](const Error& error) {
    return Error(error.code(),
                 "Post \"" + target.shown_url() + query + "\": " + go_network_error(error));
  };
  Result<Line> line = line_to(target);
  if (!line) co_return failed(line.error());
  net::HttpRequest request("POST", line->path + query);
  request.headers.set("Accept", "application/json, */*");
  request.headers.set("Content-Type", "application/json");
  request.headers.set("User-Agent", std::move(user_agent));
  if (!target.service.empty()) {
    request.headers.set("Host", target.service + "." + target.service_namespace + ".svc");
  }
  request.body = std::move(body);
  net::SendOptions options;
  options.deadline = clock_.steady() + timeout;
  Result<net::HttpResponse> response = co_await line->sender->send(std::move(request), options);
  if (!response) co_return failed(response.error());
  co_return response;
}

}  // namespace regatta::apiserver
