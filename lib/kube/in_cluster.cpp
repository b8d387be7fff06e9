#include "lib/kube/in_cluster.h"

#include <charconv>
#include <fstream>

namespace regatta::kube {
namespace {

constexpr std::size_t ca_bytes_max = 1024 * 1024;
constexpr std::size_t namespace_bytes_max = 1024;

std::string trimmed(std::string text) {
  constexpr std::string_view white = " \t\r\n";
  text.erase(text.find_last_not_of(white) + 1);
  text.erase(0, text.find_first_not_of(white));
  return text;
}

}  // namespace

Result<std::string> read_small_file(const std::filesystem::path& file, std::size_t bytes_max) {
  std::error_code failed;
  const auto kind = std::filesystem::status(file, failed).type();
  if (kind == std::filesystem::file_type::not_found) {
    return Error(Errc::not_found, file.string() + ": no such file");
  }
  if (failed) return Error(Errc::unavailable, file.string() + ": " + failed.message());
  if (kind != std::filesystem::file_type::regular) {
    return Error(Errc::invalid, file.string() + ": not a regular file");
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text(bytes_max + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad() || !stream.eof()) {
    return Error(Errc::invalid, file.string() + ": cannot be read, or has more than " +
                                    std::to_string(bytes_max) + " bytes");
  }
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

Result<InClusterConfig> load_in_cluster(const Environment& environment,
                                        const std::filesystem::path& folder) {
  const auto host = environment("KUBERNETES_SERVICE_HOST");
  const auto port = environment("KUBERNETES_SERVICE_PORT");
  if (!host || host->empty() || !port || port->empty()) {
    return Error(Errc::not_found,
                 "not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not "
                 "set; give --kubeconfig");
  }
  InClusterConfig config;
  config.host = *host;
  const char* end = port->data() + port->size();
  const auto parsed = std::from_chars(port->data(), end, config.port);
  if (parsed.ec != std::errc() || parsed.ptr != end || config.port == 0) {
    return Error(Errc::invalid, "KUBERNETES_SERVICE_PORT: \"" + *port + "\" is not a port");
  }
  auto ca = read_small_file(folder / "ca.crt", ca_bytes_max);
  if (!ca) return ca.error().within("service account");
  config.ca_pem = std::move(*ca);
  config.token_file = folder / "token";
  const auto token = read_small_file(config.token_file, TokenFile::bytes_max);
  if (!token) return token.error().within("service account");
  if (auto ns = read_small_file(folder / "namespace", namespace_bytes_max)) {
    config.ns = trimmed(std::move(*ns));
  }
  return config;
}

TokenFile::TokenFile(Clock& clock, std::filesystem::path file)
    : clock_(clock), file_(std::move(file)) {}

Task<Result<std::string>> TokenFile::bearer_token() {
  const SteadyPoint now = clock_.steady();
  if (read_at_ && now - *read_at_ < reread_after) co_return token_;
  auto text = read_small_file(file_, bytes_max);
  if (text) *text = trimmed(std::move(*text));
  if (text && text->empty()) text = Error(Errc::invalid, file_.string() + ": empty");
  if (!text && token_.empty()) co_return text.error().within("reading the token");
  // Rotation replaces the file, so it may be missing for a moment: the old token stays.
  if (text) token_ = std::move(*text);
  read_at_ = now;
  co_return token_;
}

}  // namespace regatta::kube
