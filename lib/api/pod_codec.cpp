#include "lib/api/pod_fields.h"

namespace regatta::api {
namespace {

// Shared by all empty templates; immutable.

const std::shared_ptr<const PodTemplateView>& empty_view() {
  static const auto view = std::make_shared<const PodTemplateView>();
  return view;
}

const std::shared_ptr<const PodSpec>& empty_spec() {
  static const auto spec = std::make_shared<const PodSpec>();
  return spec;
}

}  // namespace

PodTemplate::PodTemplate() : view_(empty_view()), spec_(empty_spec()) {}

Result<PodTemplate> PodTemplate::from(RawJson raw, const Json& value, std::string_view name) {
  PodTemplate out;
  FirstError error;
  out.read(value, Path{nullptr, name}, &error);
  if (error) return std::move(*error);
  out.raw_ = std::move(raw);
  return out;
}

void PodTemplate::read(const Json& value, const Path& path, FirstError* error) {
  if (!value.is_object()) return fail_type(error, path, "an object", value);
  if (!may_have(1, sizeof(PodSpec), path, error)) return;
  PodTemplateView view;
  auto spec = std::make_shared<PodSpec>();
  FieldReader reader(value, path, error);
  reader.inside("metadata", [&](auto& metadata) {
    metadata("labels", view.labels);
    metadata("annotations", view.annotations);
  });
  reader("spec", *spec);
  if (const Json* read = reader.find("spec")) spec_hash_ = std::hash<Json>()(*read);
  if (view != *view_) view_ = std::make_shared<const PodTemplateView>(std::move(view));
  spec_ = std::move(spec);
}

Result<PodTemplate> PodTemplate::from(const Json& value, std::string_view path) {
  return from(RawJson(dump_json(value)), value, path);
}

Result<PodTemplate> PodTemplate::from(RawJson raw, std::string_view path) {
  const Result<Json> value = parse_json(raw.text());
  if (!value) return value.error().within(path);
  return from(std::move(raw), *value, path);
}

Json PodTemplate::json() const {
  return raw_.empty() ? Json::object() : raw_.json();
}

PodTemplate PodTemplate::without_labels() const {
  PodTemplate out = *this;
  if (view_->labels.empty()) return out;
  out.view_ =
      view_->annotations.empty()
          ? empty_view()
          : std::make_shared<const PodTemplateView>(PodTemplateView{{}, view_->annotations});
  return out;
}

void PodTemplate::place_within(const RawJson& whole, const std::vector<PodTemplate*>& in_order) {
  // Taken once, and searched onward: a text may have very many templates.
  const std::string text = whole.text();
  std::size_t from = 0;
  for (PodTemplate* part : in_order) {
    if (part->raw_.empty()) continue;
    const std::size_t at = text.find(part->raw_.text(), from);
    if (at == std::string::npos) continue;
    part->raw_ = whole.slice(at, part->raw_.size());
    from = at + part->raw_.size();
  }
}

void read_value(const Json& value, PodTemplate& out, const Path& path, FirstError* error) {
  PodTemplate read;
  read.read(value, path, error);
  if (*error) return;
  read.raw_ = RawJson(dump_json(value));
  out = std::move(read);
}

void write_value(const PodTemplate& in, Json& out) {
  out = in.json();
}

}  // namespace regatta::api
