#pragma once

#include "lib/base/json.h"
#include "webhooks/gates.h"

#include <nlohmann/json.hpp>

#include <string_view>

/// Conversion reviews (apiextensions.k8s.io/v1) of Kueue's kinds, on /convert.
namespace regatta::webhooks {

constexpr std::string_view conversion_path = "/convert";

struct ConversionAnswer {
  int http_status = 200;
  Json review;  ///< null: the answer has no body
};

/// Converts the objects of a ConversionReview between v1beta1 and v1beta2. One object that cannot
/// be converted fails the review, which then returns none of them. So do objects with more domains
/// of topology assignments than a DomainAllowance allows them all together. HTTP status 400 when
/// the body is no review.
ConversionAnswer convert_review(std::string_view body, const Gates& gates);

}  // namespace regatta::webhooks
