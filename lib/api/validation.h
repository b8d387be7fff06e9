#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace regatta::api {

/// What is wrong with a value, in Kubernetes' words; empty when nothing is. Several rules can be
/// broken at once.
using Complaints = std::vector<std::string>;

Complaints check_dns1123_label(std::string_view value);
Complaints check_dns1123_subdomain(std::string_view value);
/// `unit` is what a message about the length counts: "characters", or "bytes" as newer ones do.
Complaints check_dns1123_subdomain(std::string_view value, std::string_view unit);
Complaints check_dns1035_label(std::string_view value);
/// "[prefix/]name", as label and annotation keys, resource names and finalizers are written.
Complaints check_qualified_name(std::string_view value);
Complaints check_label_value(std::string_view value);
/// A label key is a qualified name, which newer messages call by this name.
Complaints check_label_key(std::string_view key);

}  // namespace regatta::api
