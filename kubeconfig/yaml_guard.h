#pragma once

#include "lib/base/error.h"

#include <string>
#include <string_view>

namespace regatta::kubeconfig {

/// Checks that a YAML text is one document within the limits of this folder and without aliases. To
/// be called before the text is turned into values.
Status check_yaml(const std::string& text);

}  // namespace regatta::kubeconfig
