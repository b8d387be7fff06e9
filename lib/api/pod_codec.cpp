#include "lib/api/pod_fields.h"

namespace regatta::api {
namespace {

std::shared_ptr<const PodTemplateView> empty_view() {
  // Shared by templates that hold nothing; immutable.
  static const auto view = std::make_shared<const PodTemplateView>();
  return view;
}

template <class V, Is<PodTemplateView> T>
void template_fields(V& v, T& o) {
  v.inside("metadata", [&](auto& m) {
    m("labels", o.labels);
    m("annotations", o.annotations);
  });
  v("spec", o.spec);
}

Result<std::shared_ptr<const PodTemplateView>> read_view(const Json& value, const Path& path) {
  FirstError error;
  if (!value.is_object()) {
    fail_type(&error, path, "an object", value);
    return std::move(*error);
  }
  auto view = std::make_shared<PodTemplateView>();
  FieldReader reader(value, path, &error);
  template_fields(reader, *view);
  if (error) return std::move(*error);
  return std::shared_ptr<const PodTemplateView>(std::move(view));
}

}  // namespace

PodTemplate::PodTemplate() : view_(empty_view()) {}

PodTemplate::PodTemplate(RawJson raw, std::shared_ptr<const PodTemplateView> view)
    : raw_(std::move(raw)), view_(std::move(view)) {}

Result<PodTemplate> PodTemplate::from(const Json& value, std::string_view path) {
  auto view = read_view(value, Path{nullptr, path});
  if (!view) return view.error();
  return PodTemplate(RawJson(dump_json(value)), std::move(*view));
}

Result<PodTemplate> PodTemplate::from(RawJson raw, std::string_view path) {
  const Result<Json> value = parse_json(raw.text());
  if (!value) return value.error().within(path);
  auto view = read_view(*value, Path{nullptr, path});
  if (!view) return view.error();
  return PodTemplate(std::move(raw), std::move(*view));
}

Json PodTemplate::json() const {
  return raw_.empty() ? Json::object() : raw_.json();
}

PodTemplate PodTemplate::within(const RawJson& whole) const {
  if (raw_.empty()) return *this;
  const std::string_view text = whole.text();
  const std::size_t at = text.find(raw_.text());
  if (at == std::string_view::npos) return *this;
  return PodTemplate(whole.slice(text.substr(at, raw_.text().size())), view_);
}

void read_value(const Json& value, PodTemplate& out, const Path& path, FirstError* error) {
  Result<PodTemplate> read = PodTemplate::from(value, path.str());
  if (read) {
    out = std::move(*read);
  } else if (!*error) {
    *error = read.error();
  }
}

void write_value(const PodTemplate& in, Json& out) {
  out = in.json();
}

}  // namespace regatta::api
