#include "visibility/api.h"

#include "lib/api/yaml.h"
#include "visibility/discovery.h"
#include "visibility/media.h"
#include "visibility/status.h"
#include "visibility/summary.h"
#include "visibility/target.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace regatta::visibility {
namespace {

using admission::PageRequest;
using admission::PendingPlace;

/// As Go reads a whole number.
Result<std::int64_t> read_number(const std::string& text) {
  const auto failed = [&](const char* why) {
    return Error(Errc::invalid, "strconv.ParseInt: parsing " + dump_json(Json(text)) + ": " + why);
  };
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.starts_with('-') && digits.size() < text.size()) return failed("invalid syntax");
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument) {
    return failed("invalid syntax");
  }
  if (error == std::errc::result_out_of_range) return failed("value out of range");
  return value;
}

/// No limit, and 0, mean the default; what is negative counts as 0.
Result<PageRequest> read_page(const Target& target) {
  std::int64_t limit = limit_default;
  std::int64_t offset = 0;
  if (const std::string* text = target.first("limit")) {
    const auto read = read_number(*text);
    if (!read) return read.error();
    if (*read != 0) limit = *read;
  }
  if (const std::string* text = target.first("offset")) {
    const auto read = read_number(*text);
    if (!read) return read.error();
    offset = *read;
  }
  return PageRequest{static_cast<std::size_t>(std::max<std::int64_t>(offset, 0)),
                     static_cast<std::size_t>(std::clamp<std::int64_t>(limit, 0, limit_max))};
}

Answer document(const Json& body) {
  return {200, "application/json", dump_json(body)};
}

Answer in_media(Answer answer, Media media) {
  if (media == Media::discovery) {
    answer.content_type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  }
  if (media != Media::yaml) return answer;
  const auto body = parse_json(answer.body);
  if (!body) return answer;
  return {answer.status, "application/yaml", api::dump_yaml(*body)};
}

class Answerer {
 public:
  Answerer(const Query& query, const Source& source)
      : query_(query), source_(source), target_(parse_target(query.target)) {}

  Answer answer() {
    const bool of_apis = target_.path.size() == 1 && target_.path[0] == "apis";
    const auto media = negotiate(query_.accept, of_apis);
    if (!media) return not_acceptable();
    return in_media(route(*media), *media);
  }

 private:
  const std::string& part(std::size_t index) const {
    static const std::string none;
    return index < target_.path.size() ? target_.path[index] : none;
  }

  Answer route(Media media) {
    if (part(0) != "apis") return no_such_page();
    if (target_.path.size() > 1 && part(1) != group) return no_such_page();
    if (target_.path.size() > 2 && !known_version(part(2))) return no_such_page();
    switch (target_.path.size()) {
      case 1:
        return only_read(media == Media::discovery ? group_discovery() : group_list());
      case 2:
        return only_read(group_document());
      case 3:
        return only_read(resource_list(part(2)));
      case 6:
        if (part(3) != "clusterqueues" || part(5) != "pendingworkloads") return no_such_page();
        return query_.method == "GET" ? cluster_queue(part(4)) : no_such_method();
      case 8:
        if (part(3) != "namespaces" || part(5) != "localqueues" || part(7) != "pendingworkloads") {
          return no_such_page();
        }
        return query_.method == "GET" ? local_queue({part(4), part(6)}) : no_such_method();
      default:
        return no_such_page();
    }
  }

  Answer only_read(const Json& body) const {
    return query_.method == "GET" ? document(body) : no_such_method();
  }

  Answer cluster_queue(const std::string& name) const {
    const auto page = read_page(target_);
    if (!page) return bad_request(page.error().what());
    const admission::QueueInfo* queue = source_.queues.find_queue(name);
    if (queue == nullptr) return no_such_queue("clusterqueue", name);
    return summary(admission::page_of(source_.queues, *queue, *page));
  }

  /// A stopped LocalQueue takes part in nothing: Kueue does not find it either.
  Answer local_queue(const api::ObjectKey& key) const {
    const auto page = read_page(target_);
    if (!page) return bad_request(page.error().what());
    const admission::LocalQueueInfo* local = source_.queues.find_local_queue(key);
    if (local == nullptr || local->spec.stop_policy != api::StopPolicy::None) {
      return no_such_queue("localqueue", key.name);
    }
    if (local->queue == admission::no_id) return summary({});
    return summary(admission::page_of(source_.queues, source_.queues.queue(local->queue),
                                      source_.queues.local_queue_id(key), *page));
  }

  Answer summary(const std::vector<PendingPlace>& places) const {
    return {200, "application/json", summary_text(part(2), places, source_)};
  }

  const Query& query_;
  const Source& source_;
  Target target_;
};

}  // namespace

Answer answer(const Query& query, const Source& source) {
  return Answerer(query, source).answer();
}

}  // namespace regatta::visibility
