#include "lab/apiserver/protobuf.h"

#include "lib/base/base64.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <sstream>
#include <string>

namespace regatta::apiserver {
namespace {

constexpr std::string_view magic("k8s\0", 4);

struct Field {
  std::uint32_t number = 0;
  std::uint64_t integer = 0;
  std::string_view bytes;
};

/// Reads the fields of one message; stops at anything malformed.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  bool next(Field& field) {
    std::uint64_t key = 0;
    if (rest_.empty() || !varint(key)) return false;
    field = Field{static_cast<std::uint32_t>(key >> 3), 0, {}};
    switch (key & 7) {
      case 0:
        return varint(field.integer);
      case 1:
        return skip(8);
      case 2: {
        std::uint64_t size = 0;
        if (!varint(size) || size > rest_.size()) return false;
        field.bytes = rest_.substr(0, size);
        return skip(size);
      }
      case 5:
        return skip(4);
      default:
        return false;
    }
  }

 private:
  bool varint(std::uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return false;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool skip(std::uint64_t count) {
    if (count > rest_.size()) return false;
    rest_.remove_prefix(count);
    return true;
  }

  std::string_view rest_;
};

/// One entry of a map of strings (or of bytes, as base64).
void add_entry(Json& map, std::string_view entry, bool bytes) {
  std::string key;
  std::string_view value;
  Message message(entry);
  for (Field field; message.next(field);) {
    if (field.number == 1) key = field.bytes;
    if (field.number == 2) value = field.bytes;
  }
  map[key] = bytes ? base64_encode(value) : std::string(value);
}

/// One entry of a map of quantities.
void add_amount(Json& map, std::string_view entry) {
  std::string key;
  std::string amount;
  Message message(entry);
  for (Field field; message.next(field);) {
    if (field.number == 1) key = field.bytes;
    if (field.number != 2) continue;
    Message quantity(field.bytes);
    for (Field part; quantity.next(part);) {
      if (part.number == 1) amount = part.bytes;
    }
  }
  map[key] = amount;
}

Json number_or_text(std::string_view bytes) {
  bool is_text = false;
  std::int64_t number = 0;
  std::string text;
  Message message(bytes);
  for (Field field; message.next(field);) {
    if (field.number == 1) is_text = field.integer == 1;
    if (field.number == 2) number = static_cast<std::int64_t>(field.integer);
    if (field.number == 3) text = field.bytes;
  }
  return is_text ? Json(text) : Json(number);
}

Json owner_of(std::string_view bytes) {
  static const std::map<std::uint32_t, const char*> texts = {
      {1, "kind"}, {3, "name"}, {4, "uid"}, {5, "apiVersion"}};
  Json owner = Json::object();
  Message message(bytes);
  for (Field field; message.next(field);) {
    const auto text = texts.find(field.number);
    if (text != texts.end()) owner[text->second] = std::string(field.bytes);
    if (field.number == 6) owner["controller"] = field.integer != 0;
    if (field.number == 7) owner["blockOwnerDeletion"] = field.integer != 0;
  }
  return owner;
}

Json read_metadata(std::string_view bytes) {
  static const std::map<std::uint32_t, const char*> texts = {
      {1, "name"}, {2, "generateName"}, {3, "namespace"}, {5, "uid"}, {6, "resourceVersion"}};
  Json metadata = Json::object();
  Message message(bytes);
  for (Field field; message.next(field);) {
    const auto text = texts.find(field.number);
    if (text != texts.end() && !field.bytes.empty()) {
      metadata[text->second] = std::string(field.bytes);
    } else if (field.number == 11) {
      add_entry(metadata["labels"], field.bytes, false);
    } else if (field.number == 12) {
      add_entry(metadata["annotations"], field.bytes, false);
    } else if (field.number == 14) {
      metadata["finalizers"].push_back(std::string(field.bytes));
    } else if (field.number == 13) {
      metadata["ownerReferences"].push_back(owner_of(field.bytes));
    }
  }
  return metadata;
}

struct Member;
using Members = std::map<std::uint32_t, Member>;

struct Member {
  enum class Kind {
    texts,
    bytes,
    boolean,
    flag,
    integer,
    count,
    intstr,
    amounts,
    text,
    list,
    metadata,
    message,
    messages,
    ignored
  } kind;
  std::string name;
  Members members;  ///< of a message
};

/// The messages that kubectl builds of its flags, with those fields that flags can set: name of the
/// message, then number, name and sort of each field. Sorts: text, list, texts (a map), bytes,
/// flag (left out when false), boolean, count (left out when 0), integer, intstr, amounts (a map of
/// quantities), metadata, ignored, or a message; `[]` before it when there are many; `inline` when
/// its fields are the owner's.
constexpr std::string_view message_texts = R"(
Rule 1 verbs list 2 apiGroups list 3 resources list 4 resourceNames list 5 nonResourceURLs list
Subject 1 kind text 2 apiGroup text 3 name text 4 namespace text
RoleRef 1 apiGroup text 2 kind text 3 name text
Role 1 metadata metadata 2 rules []Rule
ClusterRole 1 metadata metadata 2 rules []Rule
RoleBinding 1 metadata metadata 2 subjects []Subject 3 roleRef RoleRef
ClusterRoleBinding 1 metadata metadata 2 subjects []Subject 3 roleRef RoleRef
Port 1 name text 2 hostPort count 3 containerPort integer 4 protocol text
Variable 1 name text 2 value text
Resources 1 limits amounts 2 requests amounts
Container 1 name text 2 image text 3 command list 4 args list 5 workingDir text 6 ports []Port +
 7 env []Variable 8 resources Resources 13 terminationMessagePath text 14 imagePullPolicy text +
 20 terminationMessagePolicy text
PodSpec 2 containers []Container 3 restartPolicy text 4 terminationGracePeriodSeconds integer +
 5 activeDeadlineSeconds integer 6 dnsPolicy text 7 nodeSelector texts 8 serviceAccountName text +
 9 serviceAccount text 10 nodeName text 19 schedulerName text
PodTemplate 1 metadata metadata 2 spec PodSpec
Requirement 1 key text 2 operator text 3 values list
LabelSelector 1 matchLabels texts 2 matchExpressions []Requirement
JobSpec 1 parallelism integer 2 completions integer 3 activeDeadlineSeconds integer +
 6 template PodTemplate 7 backoffLimit integer 8 ttlSecondsAfterFinished integer +
 9 completionMode text 10 suspend boolean
Job 1 metadata metadata 2 spec JobSpec 3 status ignored
JobTemplate 1 metadata metadata 2 spec JobSpec
CronJobSpec 1 schedule text 3 concurrencyPolicy text 4 suspend boolean 5 jobTemplate JobTemplate +
 8 timeZone text
CronJob 1 metadata metadata 2 spec CronJobSpec 3 status ignored
DeploymentStrategy 1 type text
DeploymentSpec 1 replicas integer 2 selector LabelSelector 3 template PodTemplate +
 4 strategy DeploymentStrategy
Deployment 1 metadata metadata 2 spec DeploymentSpec 3 status ignored
ServicePort 1 name text 2 protocol text 3 port integer 4 targetPort intstr 5 nodePort count
ServiceSpec 1 ports []ServicePort 2 selector texts 3 clusterIP text 4 type text +
 7 sessionAffinity text 8 loadBalancerIP text 10 externalName text
Service 1 metadata metadata 2 spec ServiceSpec 3 status ignored
QuotaSpec 1 hard amounts 2 scopes list
ResourceQuota 1 metadata metadata 2 spec QuotaSpec 3 status ignored
PriorityClass 1 metadata metadata 2 value integer 3 globalDefault flag 4 description text +
 5 preemptionPolicy text
BudgetSpec 1 minAvailable intstr 2 selector LabelSelector 3 maxUnavailable intstr
PodDisruptionBudget 1 metadata metadata 2 spec BudgetSpec 3 status ignored
BackendPort 1 name text 2 number count
BackendService 1 name text 2 port BackendPort
Backend 4 service BackendService
Path 1 path text 2 backend Backend 3 pathType text
Http 1 paths []Path
RuleValue 1 http Http
IngressRule 1 host text 2 inline RuleValue
IngressTLS 1 hosts list 2 secretName text
IngressSpec 1 defaultBackend Backend 2 tls []IngressTLS 3 rules []IngressRule +
 4 ingressClassName text
Target 1 kind text 2 name text 3 apiVersion text
MetricTarget 1 type text 4 averageUtilization integer
ResourceMetric 1 name text 2 target MetricTarget
Metric 1 type text 4 resource ResourceMetric
ScalerSpec 1 scaleTargetRef Target 2 minReplicas integer 3 maxReplicas integer 4 metrics []Metric
HorizontalPodAutoscaler 1 metadata metadata 2 spec ScalerSpec 3 status ignored
Ingress 1 metadata metadata 2 spec IngressSpec 3 status ignored
Preconditions 1 uid text 2 resourceVersion text
DeleteOptions 1 gracePeriodSeconds integer 2 preconditions Preconditions +
 3 orphanDependents boolean 4 propagationPolicy text 5 dryRun list
)";

Member::Kind kind_of(const std::string& word) {
  using Kind = Member::Kind;
  static const std::map<std::string, Kind> kinds = {
      {"text", Kind::text},       {"list", Kind::list},       {"texts", Kind::texts},
      {"bytes", Kind::bytes},     {"flag", Kind::flag},       {"boolean", Kind::boolean},
      {"count", Kind::count},     {"integer", Kind::integer}, {"intstr", Kind::intstr},
      {"amounts", Kind::amounts}, {"ignored", Kind::ignored}, {"metadata", Kind::metadata}};
  const auto found = kinds.find(word);
  if (found != kinds.end()) return found->second;
  return word.starts_with("[]") ? Kind::messages : Kind::message;
}

std::map<std::string, Members> read_messages() {
  std::map<std::string, Members> messages;
  std::string text(message_texts);
  for (std::size_t at = text.find("+\n"); at != std::string::npos; at = text.find("+\n")) {
    text.erase(at, 2);
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string message, name, sort;
    std::uint32_t number = 0;
    words >> message;
    while (words >> number >> name >> sort) {
      Member member{kind_of(sort), name, {}};
      // Messages stand before those that hold them.
      if (member.kind == Member::Kind::message) member.members = messages.at(sort);
      if (member.kind == Member::Kind::messages) member.members = messages.at(sort.substr(2));
      messages[message].emplace(number, std::move(member));
    }
  }
  return messages;
}

const std::map<std::string, Members>& partial_kinds() {
  static const std::map<std::string, Members> messages = read_messages();
  return messages;
}

const Members& object_members(const std::string& kind, bool* known) {
  using Kind = Member::Kind;
  static const Member metadata{Kind::metadata, "metadata", {}};
  static const Member status{Kind::ignored, "", {}};
  static const Member resource{Kind::message,
                               "resourceAttributes",
                               {{1, {Kind::text, "namespace", {}}},
                                {2, {Kind::text, "verb", {}}},
                                {3, {Kind::text, "group", {}}},
                                {4, {Kind::text, "version", {}}},
                                {5, {Kind::text, "resource", {}}},
                                {6, {Kind::text, "subresource", {}}},
                                {7, {Kind::text, "name", {}}}}};
  static const Member path{Kind::message,
                           "nonResourceAttributes",
                           {{1, {Kind::text, "path", {}}}, {2, {Kind::text, "verb", {}}}}};
  static const Members bound = {{1, {Kind::text, "kind", {}}},
                                {2, {Kind::text, "apiVersion", {}}},
                                {3, {Kind::text, "name", {}}},
                                {4, {Kind::text, "uid", {}}}};
  static const std::map<std::string, Members> kinds = {
      {"Namespace", {{1, metadata}, {2, status}, {3, status}}},
      {"ServiceAccount", {{1, metadata}}},
      {"SelfSubjectReview", {{1, metadata}, {2, status}}},
      {"SelfSubjectRulesReview",
       {{1, metadata},
        {2, {Kind::message, "spec", {{1, {Kind::text, "namespace", {}}}}}},
        {3, status}}},
      {"SelfSubjectAccessReview",
       {{1, metadata}, {2, {Kind::message, "spec", {{1, resource}, {2, path}}}}, {3, status}}},
      {"TokenRequest",
       {{1, metadata},
        {3, status},
        {2,
         {Kind::message,
          "spec",
          {{1, {Kind::list, "audiences", {}}},
           {3, {Kind::message, "boundObjectRef", bound}},
           {4, {Kind::integer, "expirationSeconds", {}}}}}}}},
      {"ConfigMap",
       {{1, metadata},
        {2, {Kind::texts, "data", {}}},
        {3, {Kind::bytes, "binaryData", {}}},
        {4, {Kind::boolean, "immutable", {}}}}},
      {"Secret",
       {{1, metadata},
        {2, {Kind::bytes, "data", {}}},
        {3, {Kind::text, "type", {}}},
        {4, {Kind::texts, "stringData", {}}},
        {5, {Kind::boolean, "immutable", {}}}}}};
  static const Members none;
  for (const auto* table : {&kinds, &partial_kinds()}) {
    const auto found = table->find(kind);
    if (found == table->end()) continue;
    *known = true;
    return found->second;
  }
  *known = false;
  return none;
}

/// False when something was said that the tables above do not know; it must not be lost.
bool read_members(Json& object, std::string_view raw, const Members& members) {
  Message message(raw);
  for (Field field; message.next(field);) {
    const auto member = members.find(field.number);
    if (member == members.end()) {
      if (field.integer != 0 || !field.bytes.empty()) return false;
      continue;
    }
    const Member::Kind kind = member->second.kind;
    if (kind == Member::Kind::text && field.bytes.empty()) continue;
    if (kind == Member::Kind::ignored) continue;
    const bool left_out = kind == Member::Kind::flag || kind == Member::Kind::count;
    if (left_out && field.integer == 0) continue;
    if (member->second.name == "inline") {
      if (!read_members(object, field.bytes, member->second.members)) return false;
      continue;
    }
    Json& value = object[member->second.name];
    switch (kind) {
      case Member::Kind::texts:
      case Member::Kind::bytes:
        add_entry(value, field.bytes, kind == Member::Kind::bytes);
        break;
      case Member::Kind::amounts:
        add_amount(value, field.bytes);
        break;
      case Member::Kind::intstr:
        value = number_or_text(field.bytes);
        break;
      case Member::Kind::flag:
      case Member::Kind::boolean:
        value = field.integer != 0;
        break;
      case Member::Kind::count:
      case Member::Kind::integer:
        value = static_cast<std::int64_t>(field.integer);
        break;
      case Member::Kind::list:
        value.push_back(std::string(field.bytes));
        break;
      case Member::Kind::text:
        value = std::string(field.bytes);
        break;
      case Member::Kind::metadata:
        value = read_metadata(field.bytes);
        break;
      case Member::Kind::message:
        value = Json::object();
        if (!read_members(value, field.bytes, member->second.members)) return false;
        break;
      case Member::Kind::messages:
        value.push_back(Json::object());
        if (!read_members(value.back(), field.bytes, member->second.members)) return false;
        break;
      case Member::Kind::ignored:
        break;
    }
  }
  return true;
}

}  // namespace

std::optional<Json> from_protobuf(std::string_view body) {
  if (!body.starts_with(magic)) return std::nullopt;
  std::string_view raw;
  std::string api_version, kind;
  Message envelope(body.substr(magic.size()));
  for (Field field; envelope.next(field);) {
    if (field.number == 2) raw = field.bytes;
    if (field.number != 1) continue;
    Message type(field.bytes);
    for (Field part; type.next(part);) {
      if (part.number == 1) api_version = part.bytes;
      if (part.number == 2) kind = part.bytes;
    }
  }
  bool known = false;
  const Members& members = object_members(kind, &known);
  if (!known) return std::nullopt;
  Json object = {{"apiVersion", api_version}, {"kind", kind}, {"metadata", Json::object()}};
  if (!read_members(object, raw, members)) return std::nullopt;
  return object;
}

}  // namespace regatta::apiserver
