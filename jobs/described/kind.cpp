#include "jobs/described/kind.h"

#include "lib/api/metadata.h"
#include "lib/base/json_access.h"

#include <algorithm>

namespace regatta::jobs {
namespace {

/// What the descriptions of the pod sets say of one object.
struct ReadSlots {
  std::vector<PodSlot> slots;
  std::string wrong;  ///< why they say nothing of it; empty otherwise
};

Result<std::int64_t> count_in(const Json& object, const DescribedCount& count) {
  if (const auto* number = std::get_if<std::int32_t>(&count)) return *number;
  if (const auto* expression = std::get_if<Expression>(&count)) return expression->number(object);
  const auto& path = std::get<Json::json_pointer>(count);
  if (!object.contains(path) || object.at(path).is_null()) return 1;
  const Json& given = object.at(path);
  if (given.is_number_integer()) return given.get<std::int64_t>();
  return Error(Errc::invalid, field_of(path) + " is no whole number");
}

ReadSlots read_slots(const KindDescription& description, const Json& object) {
  ReadSlots out;
  for (const DescribedPodSet& set : description.pod_sets) {
    const bool there = object.contains(set.path) && !object.at(set.path).is_null();
    if (!there && set.optional) continue;
    if (!there || !object.at(set.path).is_object()) {
      out.wrong = "there is no pod template at " + set.field;
      break;
    }
    const auto count = count_in(object, set.count);
    const bool fits = count && *count >= 0 && *count <= INT32_MAX;
    if (!fits) {
      out.wrong = "the number of pods of \"" + set.name + "\" cannot be read: " +
                  (count ? std::to_string(*count) + " is out of range" : count.error().what());
      break;
    }
    PodSlot& slot = out.slots.emplace_back();
    slot.name = set.name;
    slot.path = set.path;
    slot.field = set.field;
    slot.count = static_cast<std::int32_t>(*count);
  }
  if (out.wrong.empty() && out.slots.empty()) out.wrong = "there is no pod template";
  if (!out.wrong.empty()) out.slots.clear();
  return out;
}

/// What the expressions say of the state of a job.
struct State {
  std::optional<Finished> finished;
  bool active = false;
  bool ready = false;
  std::vector<api::ReclaimablePod> reclaimable;
  std::string unread;
};

/// A job as expressions see it: with a status, which is empty before there is one.
Json with_status(const Json& object) {
  Json out = object;
  out["status"] = object_or_empty(object, {"status"});
  return out;
}

class StateReader {
 public:
  StateReader(const KindDescription& description, const Json& object)
      : description_(description), object_(object) {}

  State read(bool suspended, const std::vector<PodSlot>& slots) {
    State out;
    if (truth("status.finished", description_.finished, false)) out.finished = end();
    // Pods of which nothing is known run as long as they may.
    const bool may_run = !suspended && !out.finished;
    out.active = may_run;
    if (description_.active) out.active = truth("status.active", *description_.active, may_run);
    out.ready = out.active;
    if (description_.pods_ready)
      out.ready = truth("status.podsReady", *description_.pods_ready, false);
    for (const PodSlot& slot : slots) add_reclaimable(slot, &out.reclaimable);
    out.unread = std::move(unread_);
    return out;
  }

 private:
  Finished end() {
    Finished out;
    out.success = truth("status.success", description_.success, false);
    out.message = description_.kind + (out.success ? " finished successfully" : " failed");
    if (!description_.message) return out;
    auto message = description_.message->text(object_);
    if (!message) note("status.message", message.error());
    if (message && !message->empty()) out.message = std::move(*message);
    return out;
  }
  bool truth(const char* name, const Expression& expression, bool otherwise) {
    const auto answer = expression.truth(object_);
    if (answer) return *answer;
    note(name, answer.error());
    return otherwise;
  }
  /// Pods of which an expression says nothing may be needed again.
  void add_reclaimable(const PodSlot& slot, std::vector<api::ReclaimablePod>* out) {
    const auto& sets = description_.pod_sets;
    const auto set = std::find_if(sets.begin(), sets.end(), [&](const DescribedPodSet& one) {
      return one.name == slot.name;
    });
    if (set == sets.end() || !set->reclaimable) return;
    const auto free = set->reclaimable->number(object_);
    if (!free) return note("reclaimable of the pod set " + slot.name, free.error());
    const std::int64_t all = slot.count;
    if (*free > 0) out->push_back({slot.name, static_cast<std::int32_t>(std::min(*free, all))});
  }
  void note(const std::string& name, const Error& why) {
    if (!unread_.empty()) unread_ += "; ";
    unread_ +=
        name + " of the described kind " + description_.kind + " has no answer: " + why.what();
  }

  const KindDescription& description_;
  const Json& object_;
  std::string unread_;
};

class DescribedKind final : public JobKind, public std::enable_shared_from_this<DescribedKind> {
 public:
  explicit DescribedKind(KindDescription description)
      : description_(std::move(description)),
        framework_(description_.framework()),
        resource_{description_.group, description_.version, description_.kind,
                  description_.plural} {}

  std::string_view framework() const override { return framework_; }
  const api::ResourceInfo& resource() const override { return resource_; }
  bool dispatched() const override { return !description_.shape.managed_by.empty(); }
  Result<JobPtr> decode(const Json& object, api::TemplatePool* pool) const override;
  const KindDescription& description() const { return description_; }

 private:
  const KindDescription description_;
  const std::string framework_;
  const api::ResourceInfo resource_;
};

class DescribedJob final : public TemplatedJob {
 public:
  DescribedJob(std::shared_ptr<const DescribedKind> kind, const Json& given,
               api::ObjectMeta metadata, ReadSlots read)
      : TemplatedJob(given, std::move(metadata), kind->description().shape, std::move(read.slots)),
        kind_(std::move(kind)),
        wrong_(std::move(read.wrong)),
        state_(state_of(given)) {}

  const JobKind& kind() const override { return *kind_; }
  /// There is none, but without its pod sets the job is as little comparable as one without it.
  Result<std::optional<RuntimeRef>> runtime() const override;
  std::string pod_selector() const override { return {}; }
  bool active() const override { return state_.active; }
  std::optional<Finished> finished() const override { return state_.finished; }
  bool pods_ready() const override { return state_.ready; }
  std::string unread() const override { return state_.unread; }
  std::vector<api::ReclaimablePod> reclaimable_pods() const override { return state_.reclaimable; }
  Json status_patch(const GenericJob& remote) const override;
  Json release_patch() const override;
  Json final_patch(bool success, const std::string& message, TimePoint now) const override;

 private:
  const KindDescription& description() const { return kind_->description(); }
  State state_of(const Json& given) const;
  /// The status with this at the place that comes home from workers; null: with nothing there.
  Json status_with(const Json& part) const;

  const std::shared_ptr<const DescribedKind> kind_;
  const std::string wrong_;
  const State state_;
};

Result<std::optional<RuntimeRef>> DescribedJob::runtime() const {
  if (wrong_.empty()) return std::optional<RuntimeRef>();
  return Error(Errc::invalid, wrong_);
}

State DescribedJob::state_of(const Json& given) const {
  const bool whole = object_at(given, "status");
  const Json filled = whole ? Json() : with_status(given);
  return StateReader(description(), whole ? given : filled).read(suspended(), slots());
}

/// Whether a value can be put there without changing what is no object on the way.
bool leads_through_objects(const Json& object, Json::json_pointer path) {
  for (path.pop_back(); !path.empty(); path.pop_back()) {
    if (!object.contains(path)) continue;
    const Json& holder = object.at(path);
    if (!holder.is_object() && !holder.is_null()) return false;
  }
  return true;
}

Json DescribedJob::status_with(const Json& part) const {
  Json whole = {{"status", status()}};
  const Json::json_pointer& place = description().remote_status;
  if (!leads_through_objects(whole, place)) return status();
  whole[place] = part;
  return whole["status"].is_object() ? std::move(whole["status"]) : Json::object();
}

/// Of a copy that has not run yet, the hub's job shows as little.
Json DescribedJob::status_patch(const GenericJob& remote) const {
  const auto* theirs = dynamic_cast<const DescribedJob*>(&remote);
  const Json::json_pointer& place = description().remote_status;
  if (!theirs) return Json::object();
  const bool there = theirs->object().contains(place);
  return status_becomes(status_with(there ? theirs->object().at(place) : Json()));
}

/// What came home goes, so that the job is again one that has not run.
Json DescribedJob::release_patch() const {
  return active() ? status_becomes(status_with(Json())) : Json::object();
}

/// Without a description of that, only its Workload says how the job ended.
Json DescribedJob::final_patch(bool success, const std::string&, TimePoint) const {
  if (finished()) return Json::object();
  Json after = status();
  after.merge_patch(success ? description().succeeded : description().failed);
  return status_becomes(after);
}

Result<JobPtr> DescribedKind::decode(const Json& object, api::TemplatePool*) const {
  auto metadata = api::read_metadata(object);
  if (!metadata) return metadata.error();
  for (const Json::json_pointer* place :
       {&description_.shape.suspend, &description_.shape.managed_by}) {
    if (place->empty() || leads_through_objects(object, *place)) continue;
    return Error(Errc::invalid, field_of(place->parent_pointer()) + " is no object, so that " +
                                    field_of(*place) + " cannot be written");
  }
  return std::make_shared<const DescribedJob>(shared_from_this(), object, std::move(*metadata),
                                              read_slots(description_, object));
}

}  // namespace

std::shared_ptr<const JobKind> described_kind(KindDescription description) {
  return std::make_shared<const DescribedKind>(std::move(description));
}

}  // namespace regatta::jobs
