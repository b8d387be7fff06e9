#include "lab/apiserver/journal.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

namespace regatta::apiserver {
namespace {

constexpr const char* schema =
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=NORMAL;"
    "CREATE TABLE IF NOT EXISTS objects("
    "  shelf TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL, text TEXT NOT NULL,"
    "  PRIMARY KEY(shelf, key)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS state(name TEXT PRIMARY KEY, value INTEGER NOT NULL) "
    "  WITHOUT ROWID;";

struct CloseStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, CloseStatement>;

/// The file holds Secrets. SQLite gives the files beside it the same permissions.
Status keep_private(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const bool done = fd >= 0 && ::fchmod(fd, 0600) == 0;
  const int problem = errno;
  if (fd >= 0) ::close(fd);
  if (done) return ok();
  return Error(Errc::invalid, "opening " + file + ": " + std::strerror(problem));
}

class SqliteJournal final : public Journal {
 public:
  SqliteJournal() = default;
  SqliteJournal(const SqliteJournal&) = delete;
  SqliteJournal& operator=(const SqliteJournal&) = delete;
  ~SqliteJournal() override {
    put_.reset();
    erase_.reset();
    version_.reset();
    sqlite3_close(db_);
  }

  Status open(const std::string& file) {
    if (const Status own = keep_private(file); !own) return own;
    if (sqlite3_open(file.c_str(), &db_) != SQLITE_OK) return failure("opening " + file);
    if (Status made = run(schema); !made) return made;
    if (Status ready = prepare("INSERT OR REPLACE INTO objects VALUES(?1,?2,?3,?4)", &put_);
        !ready) {
      return ready;
    }
    if (Status ready = prepare("DELETE FROM objects WHERE shelf=?1 AND key=?2", &erase_); !ready) {
      return ready;
    }
    return prepare("INSERT OR REPLACE INTO state VALUES('version',?1)", &version_);
  }

  Status append(const std::vector<JournalEntry>& entries) override {
    if (Status begun = run("BEGIN IMMEDIATE"); !begun) return begun;
    std::uint64_t highest = 0;
    for (const JournalEntry& entry : entries) {
      highest = std::max(highest, entry.version);
      sqlite3_stmt* statement = entry.text.empty() ? erase_.get() : put_.get();
      bind(statement, 1, entry.shelf);
      bind(statement, 2, entry.key);
      if (!entry.text.empty()) {
        sqlite3_bind_int64(statement, 3, static_cast<sqlite3_int64>(entry.version));
        bind(statement, 4, entry.text);
      }
      if (Status stepped = step(statement); !stepped) return stepped;
    }
    sqlite3_bind_int64(version_.get(), 1, static_cast<sqlite3_int64>(highest));
    if (Status stepped = step(version_.get()); !stepped) return stepped;
    return run("COMMIT");
  }

  Status load(const std::function<void(JournalEntry)>& each, std::uint64_t* version) override {
    Statement all;
    if (Status ready = prepare("SELECT shelf, key, version, text FROM objects", &all); !ready) {
      return ready;
    }
    int result = 0;
    while ((result = sqlite3_step(all.get())) == SQLITE_ROW) {
      JournalEntry entry{column(all.get(), 0), column(all.get(), 1),
                         static_cast<std::uint64_t>(sqlite3_column_int64(all.get(), 2)),
                         column(all.get(), 3)};
      *version = std::max(*version, entry.version);
      each(std::move(entry));
    }
    if (result != SQLITE_DONE) return failure("reading objects");
    Statement state;
    if (Status ready = prepare("SELECT value FROM state WHERE name='version'", &state); !ready) {
      return ready;
    }
    if (sqlite3_step(state.get()) == SQLITE_ROW) {
      *version =
          std::max(*version, static_cast<std::uint64_t>(sqlite3_column_int64(state.get(), 0)));
    }
    return ok();
  }

 private:
  static void bind(sqlite3_stmt* statement, int index, const std::string& text) {
    sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }

  static std::string column(sqlite3_stmt* statement, int index) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, index));
    const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement, index));
    return text ? std::string(text, bytes) : std::string();
  }

  Status failure(const std::string& doing) const {
    return Error(Errc::unavailable, doing + ": " + sqlite3_errmsg(db_));
  }

  Status run(const char* sql) {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failure(sql);
    return ok();
  }

  Status prepare(const char* sql, Statement* into) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr) != SQLITE_OK) return failure(sql);
    into->reset(statement);
    return ok();
  }

  Status step(sqlite3_stmt* statement) {
    const int result = sqlite3_step(statement);
    sqlite3_reset(statement);
    return result == SQLITE_DONE ? ok() : failure("writing");
  }

  sqlite3* db_ = nullptr;
  Statement put_, erase_, version_;
};

}  // namespace

Result<std::unique_ptr<Journal>> open_sqlite_journal(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return Error(Errc::invalid, "data directory " + directory + ": " + error.message());
  }
  auto journal = std::make_unique<SqliteJournal>();
  if (Status opened = journal->open(directory + "/apiserver.db"); !opened) return opened.error();
  return std::unique_ptr<Journal>(std::move(journal));
}

}  // namespace regatta::apiserver
