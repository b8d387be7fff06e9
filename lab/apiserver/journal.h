#pragma once

#include "lib/base/error.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace regatta::apiserver {

struct JournalEntry {
  std::string shelf;
  std::string key;
  std::uint64_t version = 0;
  std::string text;  ///< JSON; empty: deleted
};

/// Keeps objects across a crash of the process or the machine.
class Journal {
 public:
  virtual ~Journal() = default;
  /// Returns when every entry is durable, all or none.
  virtual Status append(const std::vector<JournalEntry>& entries) = 0;
  /// Calls `each` for every object; `*version` becomes the highest version ever written.
  virtual Status load(const std::function<void(JournalEntry)>& each, std::uint64_t* version) = 0;
};

/// A journal in an SQLite file `<directory>/apiserver.db`, which is created when missing.
Result<std::unique_ptr<Journal>> open_sqlite_journal(const std::string& directory);

}  // namespace regatta::apiserver
