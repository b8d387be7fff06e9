#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace regatta::whatif {

/// Text in columns. Columns whose name begins with '>' hold numbers and are aligned to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> columns);

  /// As many cells as columns; missing ones are empty.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// Prints the names of the columns in capitals, then the rows, each after `indent` spaces.
  void print(std::ostream& out, std::size_t indent = 0) const;

 private:
  std::vector<std::string> columns_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

/// The number of characters in UTF-8 text.
std::size_t width_of(std::string_view text);

}  // namespace regatta::whatif
