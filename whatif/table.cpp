#include "whatif/table.h"

#include <algorithm>
#include <cctype>
#include <ostream>

namespace regatta::whatif {

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

Table::Table(std::vector<std::string> columns) : columns_(std::move(columns)) {
  for (std::string& column : columns_) {
    right_.push_back(column.starts_with('>'));
    if (right_.back()) column.erase(0, 1);
    for (char& c : column) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

void Table::print(std::ostream& out, std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (const std::string& column : columns_) widths.push_back(width_of(column));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text(indent, ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string room(widths[i] - width_of(cells[i]), ' ');
      text += right_[i] ? room + cells[i] : cells[i] + room;
      text += "   ";
    }
    out << text.substr(0, text.find_last_not_of(' ') + 1) << '\n';
  };
  line(columns_);
  for (const auto& row : rows_) line(row);
}

}  // namespace regatta::whatif
