#pragma once

namespace regatta::manifest {}

namespace regatta::apiserver {

/// The API server speaks of kinds, schemas and objects in the terms of lib/manifest.
using namespace manifest;

}  // namespace regatta::apiserver
