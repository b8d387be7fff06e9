#include "lab/apiserver/patch/patch_failure.h"

#include "lab/terms.h"
#include "lib/manifest/fields/go_text.h"

#include <boost/throw_exception.hpp>

#include <stdexcept>

namespace regatta::apiserver {

void throw_exception_from_error(const PatchFailure& e, const boost::source_location& where) {
  boost::throw_exception(std::logic_error("unchecked patch failure: " + e.message), where);
}

PatchFailure bad_patch(std::string message) {
  return PatchFailure{400, "BadRequest", std::move(message), false, {}};
}

PatchFailure failed_patch(std::string message) {
  return PatchFailure{500, "", std::move(message), false, {}};
}

PatchFailure rejected_patch() {
  return PatchFailure{
      422, "Invalid", "the server rejected our request due to an error in our request", true, {}};
}

PatchFailure invalid_patch_result(const std::string& shown, const std::string& why) {
  std::string value = "Invalid value: " + go_quoted(shown) + ": " + why;
  return PatchFailure{422,
                      "Invalid",
                      " \"\" is invalid: patch: " + value,
                      true,
                      {FieldError{"FieldValueInvalid", "patch", value}}};
}

}  // namespace regatta::apiserver
