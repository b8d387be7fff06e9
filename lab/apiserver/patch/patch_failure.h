#pragma once

#include "lab/terms.h"
#include "lib/manifest/strategy.h"

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>

#include <string>

namespace regatta::apiserver {

/// Why a patch is refused: the parts of the Status that the caller cannot know.
struct PatchFailure {
  int code = 500;
  std::string reason;  ///< empty for most 500s
  std::string message;
  bool has_details = false;  ///< details are there, if only as an empty object
  FieldErrors causes;        ///< of the details
  friend bool operator==(const PatchFailure&, const PatchFailure&) = default;
};

[[noreturn]] void throw_exception_from_error(const PatchFailure& e, const boost::source_location&);

template <class T>
using PatchAnswer = boost::system::result<T, PatchFailure>;

PatchFailure bad_patch(std::string message);
PatchFailure failed_patch(std::string message);
/// 422 without a word on what is wrong, as the JSON patch handler answers.
PatchFailure rejected_patch();
/// 422 about the patched object as a whole, which `shown` presents.
PatchFailure invalid_patch_result(const std::string& shown, const std::string& why);

}  // namespace regatta::apiserver
