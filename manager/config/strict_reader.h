#pragma once

#include "lib/api/labels.h"
#include "lib/api/quantity.h"
#include "manager/config/configuration.h"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::manager {

/// Reads the fields of one JSON object and remembers which were read, so that finish() can report
/// the others. Problems are collected, never thrown. Null counts as absent.
class StrictReader {
 public:
  StrictReader(const Json& value, std::string path, ReadContext* context);

  template <class T>
  void field(std::string_view name, T* out) {
    if (const Json* member = take(name)) read_value(*member, at(name), context_, out);
  }
  /// Null when absent. The field counts as known.
  const Json* take(std::string_view name);
  void require(std::string_view name);
  /// Reports every field that was not read.
  void finish();

  std::string at(std::string_view name) const;
  ReadContext* context() const { return context_; }

 private:
  const Json* object_;
  std::string path_;
  ReadContext* context_;
  std::vector<std::string_view> known_;
};

void wrong_type(const Json& value, const std::string& path, std::string_view wanted,
                ReadContext* context);

void read_value(const Json& value, const std::string& path, ReadContext* context, bool* out);
void read_value(const Json& value, const std::string& path, ReadContext* context, int* out);
void read_value(const Json& value, const std::string& path, ReadContext* context,
                std::int64_t* out);
void read_value(const Json& value, const std::string& path, ReadContext* context, double* out);
void read_value(const Json& value, const std::string& path, ReadContext* context, std::string* out);
void read_value(const Json& value, const std::string& path, ReadContext* context, Duration* out);
void read_value(const Json& value, const std::string& path, ReadContext* context,
                api::Quantity* out);
void read_value(const Json& value, const std::string& path, ReadContext* context,
                api::LabelSelector* out);
/// The index of the text in `texts`.
void read_choice(const Json& value, const std::string& path, ReadContext* context,
                 const std::vector<std::string_view>& texts, std::size_t* out);

template <class T>
void read_value(const Json& value, const std::string& path, ReadContext* context,
                std::optional<T>* out) {
  out->emplace();
  read_value(value, path, context, &**out);
}

template <class T>
void read_value(const Json& value, const std::string& path, ReadContext* context,
                std::vector<T>* out) {
  if (!value.is_array()) return wrong_type(value, path, "a list", context);
  out->clear();
  for (std::size_t i = 0; i < value.size(); ++i) {
    read_value(value[i], path + "[" + std::to_string(i) + "]", context, &out->emplace_back());
  }
}

template <class T>
void read_value(const Json& value, const std::string& path, ReadContext* context,
                std::map<std::string, T>* out) {
  if (!value.is_object()) return wrong_type(value, path, "an object", context);
  out->clear();
  for (const auto& [key, member] : value.items()) {
    read_value(member, path + "[" + key + "]", context, &(*out)[key]);
  }
}

}  // namespace regatta::manager
