#include "lab/apiserver/negotiate.h"

#include "lib/base/lower_case.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

namespace regatta::apiserver {
namespace {

struct Clause {
  std::string media;
  std::map<std::string, std::string> parameters;
  double quality = 1;
};

std::string trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return std::string(text);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(trimmed(text.substr(at, end - at)));
    at = end + 1;
  }
  return parts;
}

/// The clauses of an Accept header, the preferred ones first.
std::vector<Clause> clauses_of(std::string_view accept) {
  std::vector<Clause> clauses;
  for (const std::string& part : split(accept, ',')) {
    if (part.empty()) continue;
    Clause clause;
    const std::vector<std::string> pieces = split(part, ';');
    clause.media = lower_case(pieces[0]);
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      const std::size_t equals = pieces[i].find('=');
      if (equals == std::string::npos) continue;
      const std::string name = lower_case(pieces[i].substr(0, equals));
      const std::string value = pieces[i].substr(equals + 1);
      if (name == "q") {
        clause.quality = std::strtod(value.c_str(), nullptr);
      } else {
        clause.parameters[name] = value;
      }
    }
    const auto after = std::find_if(clauses.begin(), clauses.end(), [&clause](const Clause& c) {
      return c.quality < clause.quality;
    });
    clauses.insert(after, std::move(clause));
  }
  return clauses;
}

std::string parameter(const Clause& clause, const std::string& name) {
  const auto found = clause.parameters.find(name);
  return found == clause.parameters.end() ? "" : found->second;
}

/// Reads what an `as=` asks for; false when this server does not support it.
bool read_transform(const Clause& clause, const Offer& offer, Form& form) {
  const std::string as = parameter(clause, "as");
  const std::string group = parameter(clause, "g");
  const std::string version = parameter(clause, "v");
  if (as.empty()) return true;
  if (offer.discovery && as == "APIGroupDiscoveryList" && group == "apidiscovery.k8s.io") {
    form.discovery = version == "v2" ? 2 : 0;
    return form.discovery != 0;
  }
  if (!offer.transforms || group != "meta.k8s.io" || (version != "v1" && version != "v1beta1")) {
    return false;
  }
  form.as_version = version;
  if (as == "Table") {
    form.as = Representation::table;
  } else if (as == "PartialObjectMetadata") {
    form.as = Representation::partial_metadata;
  } else if (as == "PartialObjectMetadataList") {
    form.as = Representation::partial_metadata_list;
  } else {
    return false;
  }
  return true;
}

std::optional<Form> form_of(const Clause& clause, const Offer& offer) {
  Form form;
  if (clause.media == "application/json" || clause.media == "*/*") {
    form.media = Form::Media::json;
  } else if (clause.media == "application/yaml" && !offer.watch) {
    form.media = Form::Media::yaml;
  } else {
    return std::nullopt;
  }
  if (!read_transform(clause, offer, form)) return std::nullopt;
  return form;
}

bool known_media(const std::string& media) {
  return media == "application/json" || media == "application/yaml" || media == "*/*" ||
         media == "application/vnd.kubernetes.protobuf";
}

Failure not_acceptable(const std::vector<Clause>& clauses, const Offer& offer) {
  const std::string types =
      "application/json, application/yaml, application/vnd.kubernetes.protobuf";
  const std::string streams =
      "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
  const bool any_known = std::any_of(clauses.begin(), clauses.end(),
                                     [](const Clause& c) { return known_media(c.media); });
  Failure failure{406, "NotAcceptable", ""};
  if (offer.builtin && !any_known) {
    failure.message = "406: Not Acceptable\n\nAvailable representations: " + types +
                      (offer.watch ? ", " + streams : "");
    failure.details.emplace();
  } else {
    failure.message =
        "only the following media types are accepted: " + (offer.watch ? streams : types);
  }
  return failure;
}

}  // namespace

Answer<Form> negotiate(std::string_view accept, const Offer& offer) {
  const std::vector<Clause> clauses = clauses_of(accept);
  if (clauses.empty()) return Form{};
  for (const Clause& clause : clauses) {
    if (std::optional<Form> form = form_of(clause, offer)) return std::move(*form);
  }
  return not_acceptable(clauses, offer);
}

Form form_for_errors(std::string_view accept) {
  Form form;
  for (const Clause& clause : clauses_of(accept)) {
    if (clause.media == "application/json" || clause.media == "*/*") break;
    if (clause.media == "application/yaml") {
      form.media = Form::Media::yaml;
      break;
    }
    if (clause.media == "application/vnd.kubernetes.protobuf") {
      form.media = Form::Media::protobuf;
      break;
    }
  }
  return form;
}

bool wants_pretty(std::string_view pretty_parameter, bool has_parameter,
                  std::string_view user_agent) {
  if (has_parameter) return pretty_parameter != "false" && pretty_parameter != "0";
  return user_agent.starts_with("curl") || user_agent.starts_with("Mozilla") ||
         user_agent.starts_with("Wget");
}

std::string media_type(std::string_view content_type) {
  return lower_case(trimmed(content_type.substr(0, content_type.find(';'))));
}

}  // namespace regatta::apiserver
