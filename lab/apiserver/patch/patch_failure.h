#pragma once

#include "lab/terms.h"
#include "lib/manifest/strategy.h"

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>

#include <string>

namespace regatta::apiserver {

/// The refusal of a patch: the parts of the Status that the caller does not know.
struct PatchFailure {
  int code = 500;
  std::string reason;  ///< empty for most 500s
  std::string message;
  bool has_details = false;  ///< details exist, if only as an empty object
  FieldErrors causes;        ///< of the details
  friend bool operator==(const PatchFailure&, const PatchFailure&) = default;
};

[[noreturn]] void throw_exception_from_error(const PatchFailure& e, const boost::source_location&);

template <class T>
using PatchAnswer = boost::system::result<T, PatchFailure>;

PatchFailure bad_patch(std::string message);
PatchFailure failed_patch(std::string message);
/// A 422 without a cause, as the JSON patch handler answers.
PatchFailure rejected_patch();
/// A 422 about the patched object as a whole, whose text is `shown`.
PatchFailure invalid_patch_result(const std::string& shown, const std::string& why);

}  // namespace regatta::apiserver
