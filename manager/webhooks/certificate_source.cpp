#include "manager/webhooks/certificate_source.h"

#include "lib/api/core.h"
#include "lib/base/json_access.h"
#include "lib/kube/status.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace regatta::manager {
namespace {

constexpr std::size_t pem_bytes_max = 256 * 1024;
constexpr int attempts_max = 5;

Json empty_secret(const api::ObjectKey& key) {
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"type", "Opaque"},
          {"metadata", {{"namespace", key.ns}, {"name", key.name}}}};
}

std::vector<std::string> names_of(const CertificateSourceConfig& config) {
  const std::string domain = "." + config.secret.ns + ".svc";
  return {config.service + domain, visibility_service(config.service) + domain};
}

/// Another replica was first, or it is not known what happened: read again.
bool worth_another_look(const Error& error) {
  return error.code() == Errc::conflict || error.code() == Errc::already_exists ||
         kube::may_have_happened(error);
}

bool same(const net::TlsServerOptions& a, const net::TlsServerOptions& b) {
  return a.certificate_pem == b.certificate_pem && a.key_pem == b.key_pem &&
         a.client_ca_pem == b.client_ca_pem;
}

}  // namespace

CertificateSource::CertificateSource(kube::Client& client, kubeconfig::FileSystem& files,
                                     Clock& clock, Log log, CertificateSourceConfig config,
                                     Offer offer)
    : client_(client),
      files_(files),
      clock_(clock),
      log_(std::move(log)),
      config_(std::move(config)),
      policy_{names_of(config_), config_.valid_for},
      offer_(std::move(offer)),
      targets_(bundle_targets(config_.service)),
      waits_for_("the certificate of the " + config_.what + " is being looked for") {}

Status CertificateSource::offer_own() {
  const TimePoint now = clock_.now();
  const CertificatesDue due = judge(own_, policy_, now);
  if (!due.any()) return ok();
  auto fresh = renew(own_, due, policy_, now);
  if (!fresh) return fresh.error();
  const Status used = use(fresh->serving);
  if (used) own_ = std::move(*fresh);
  return used;
}

Task<> CertificateSource::run() {
  for (;;) {
    const Duration pause = co_await look();
    co_await clock_.sleep_for(pause);
  }
}

/// Returns the pause until the next look.
Task<Duration> CertificateSource::look() {
  if (!config_.managed) co_return look_at_files();
  Found found = co_await keep_secret();
  if (!found) co_return failed(found.error());
  if (!*found) co_return look_at_files();
  CertificateSet set = std::move(**found);
  // First the authority, then what it signed.
  const Status published = co_await publish(set.authorities_pem);
  const Status used = use(set.serving);
  if (!used) co_return failed(used.error());
  if (!published) co_return failed(published.error());
  const TimePoint now = clock_.now();
  const Duration until_due = judge(set, policy_, now).next - now;
  co_return settled(std::clamp(until_due, Duration(1000), look_every));
}

/// The set as it is in the Secret, with everything that was due made anew. nullopt: there is no
/// Secret, or it may not be read, and none is demanded.
Task<CertificateSource::Found> CertificateSource::keep_secret() {
  bool again = true;
  Found found = std::optional<CertificateSet>();
  for (int attempt = 0; again && attempt < attempts_max; ++attempt) {
    again = false;
    found = co_await try_secret(&again);
  }
  co_return found;
}

Task<CertificateSource::Found> CertificateSource::try_secret(bool* again) {
  const std::string what = "the Secret " + config_.secret.str() + " with the webhooks' certificate";
  const auto text = co_await client_.get_raw(api::Secret::resource, config_.secret);
  const bool missing = !text && text.error().code() == Errc::not_found;
  const bool forbidden = !text && kube::is_forbidden(text.error());
  if ((missing || forbidden) && !config_.demanded) co_return std::optional<CertificateSet>();
  if (!text && !missing) co_return text.error().within("reading " + what);
  Result<Json> secret = missing ? Result<Json>(empty_secret(config_.secret)) : parse_json(*text);
  if (!secret) co_return secret.error().within(what);
  std::optional<CertificateSet> set = read_secret(*secret);
  const TimePoint now = clock_.now();
  const CertificatesDue due = judge(set, policy_, now);
  if (!due.any()) co_return set;
  auto fresh = renew(std::move(set), due, policy_, now);
  if (!fresh) co_return fresh.error();
  const Status written = co_await write_secret(std::move(*secret), *fresh, missing);
  if (written) co_return std::optional<CertificateSet>(std::move(*fresh));
  *again = worth_another_look(written.error());
  co_return written.error().within("writing " + what);
}

Task<Status> CertificateSource::write_secret(Json secret, CertificateSet set, bool create) {
  if (!secret["data"].is_object()) secret["data"] = Json::object();
  secret["data"].update(secret_data(set));
  const std::string body = dump_json(secret);
  Result<std::string> written =
      create ? co_await client_.create_raw(api::Secret::resource, config_.secret.ns, body)
             : co_await client_.update_raw(api::Secret::resource, config_.secret, body);
  if (!written) co_return written.error();
  log_.info("the certificates of the webhooks are made anew", {{"secret", config_.secret.str()}});
  co_return ok();
}

/// Where the objects that name the authorities are as we left them, only their versions are read.
Task<Status> CertificateSource::publish(std::string authorities_pem) {
  if (authorities_pem != published_pem_) published_at_.clear();
  published_pem_ = authorities_pem;
  Status all = ok();
  for (const BundleTarget& target : targets_) {
    const Status one = co_await publish_to(target, authorities_pem);
    if (!one && all) {
      all = one.error().within("telling " + target.name + " the authority of the webhooks");
    }
  }
  co_return all;
}

Task<Status> CertificateSource::publish_to(BundleTarget target, std::string authorities_pem) {
  const auto version = co_await version_of(target);
  if (!version) co_return version.error();
  std::string& known = published_at_[target.name];
  if (version->empty() || *version == known) co_return ok();
  const auto text = co_await client_.get_raw(target.resource, api::ObjectKey(target.name));
  if (!text) co_return text.error();
  Result<Json> object = parse_json(*text);
  if (!object) co_return object.error();
  std::string at = text_at(*object, {"metadata", "resourceVersion"});
  if (set_bundle(&*object, authorities_pem)) {
    const auto written = co_await client_.update_raw(target.resource, api::ObjectKey(target.name),
                                                     dump_json(*object));
    if (!written) co_return written.error();
    log_.info("told the authority of the webhooks", {{"object", target.name}});
    const Result<Json> answer = parse_json(*written);
    at = answer ? text_at(*answer, {"metadata", "resourceVersion"}) : std::string();
  }
  published_at_[target.name] = std::move(at);
  co_return ok();
}

/// Empty when there is no such object.
Task<Result<std::string>> CertificateSource::version_of(BundleTarget target) {
  kube::ListOptions options;
  options.field_selector = "metadata.name=" + target.name;
  options.metadata_only = true;
  std::string version;
  const kube::OnItem take = [&](const Json& item, std::size_t) {
    version = text_at(item, {"metadata", "resourceVersion"});
  };
  const auto listed = co_await client_.list_raw(target.resource, "", std::move(options), take);
  const bool spared = !listed && listed.error().code() == Errc::denied && target.optional;
  if (spared) co_return std::string();
  if (!listed) co_return listed.error();
  co_return version;
}

Duration CertificateSource::look_at_files() {
  const auto read = [&](const std::string& name) {
    return files_.read_regular(config_.folder + "/" + name, pem_bytes_max);
  };
  auto certificate = read("tls.crt");
  auto key = read("tls.key");
  if (!certificate) return nothing_there(certificate.error());
  if (!key) return nothing_there(key.error());
  const Status used = use({std::move(*certificate), std::move(*key)});
  if (used) {
    own_.reset();
    missed_ = false;
    return settled(look_at_files_every);
  }
  // The two files may be of different times while they are being replaced.
  const bool again = std::exchange(missed_, true);
  if (again) failed(used.error().within(config_.folder));
  return look_at_files_every;
}

/// Offers the pair unless it is in use already.
Status CertificateSource::use(net::KeyPair pair) {
  net::TlsServerOptions options;
  options.certificate_pem = std::move(pair.certificate_pem);
  options.key_pem = std::move(pair.key_pem);
  if (!config_.client_ca_name.empty()) {
    auto authority =
        files_.read_regular(config_.folder + "/" + config_.client_ca_name, pem_bytes_max);
    if (!authority) return authority.error().within("webhook.clientCAName");
    options.client_ca_pem = std::move(*authority);
    options.client_certificate_required = true;
  }
  if (same(options, used_)) return ok();
  const Status taken = offer_(options);
  if (!taken) return taken;
  if (!used_.certificate_pem.empty()) {
    log_.info(config_.what + " are served with another certificate");
  }
  used_ = std::move(options);
  return ok();
}

/// Whether the log does not say so already.
bool CertificateSource::is_news(std::string text) {
  return std::exchange(told_, text) != text;
}

Duration CertificateSource::settled(Duration pause) {
  waits_for_.clear();
  told_.clear();
  return pause;
}

/// Readiness that was reached stays.
Duration CertificateSource::failed(const Error& error) {
  if (!waits_for_.empty()) waits_for_ = error.what();
  if (is_news(error.what())) {
    log_.error(config_.what + ": the certificates are not in order", {{"error", error.what()}});
  }
  return retry_after;
}

Duration CertificateSource::nothing_there(const Error& no_file) {
  const bool files_were_used = !used_.certificate_pem.empty() && !own_;
  if (config_.own_otherwise && !files_were_used) {
    const Status offered = offer_own();
    return offered ? settled(look_at_files_every) : failed(offered.error());
  }
  if (config_.demanded || !used_.certificate_pem.empty()) return failed(no_file);
  if (is_news("off")) {
    std::string hint = "put tls.crt and tls.key into " + config_.folder;
    if (config_.managed) {
      hint = "create an empty Secret " + config_.secret.str() + ", or " + hint;
    }
    log_.info("webhooks are not served: there is no certificate", {{"to have them", hint}});
  }
  waits_for_.clear();
  return look_for_any_every;
}

}  // namespace regatta::manager
