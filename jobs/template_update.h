#pragma once

#include "lib/api/field_errors.h"
#include "lib/api/meta.h"
#include "lib/base/json.h"

#include <string>

namespace regatta::jobs {

/// The errors in a change of the template of Pods at `field`: what decides where they may run and
/// what they ask for is what was admitted.
void check_template_update(const std::string& field, const Json& before, const Json& after,
                           api::ErrorList* errors);

/// What a job gives to the metadata of a template of its Pods.
struct TemplateMarks {
  std::string parent;  ///< the framework that they belong to
  api::StringMap labels;
  api::StringMap annotations;
};
/// Marks them as held back by their parent.
Json marked_metadata(const TemplateMarks& marks);

/// The labels of a job that its Pods need, too: its queue and its class.
api::StringMap queue_labels(const api::StringMap& labels);

}  // namespace regatta::jobs
