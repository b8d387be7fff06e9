#pragma once

// Visits fields() for their names alone; see fields.h and field_paths.h.

#include "lib/api/field_paths.h"
#include "lib/api/fields.h"

namespace regatta::api {

class FieldLister {
 public:
  FieldLister(std::string prefix, std::vector<std::string>* out)
      : prefix_(std::move(prefix)), out_(out) {}

  template <class T>
  void operator()(std::string_view name, const T& in) {
    std::string path = prefix_;
    if (!path.empty()) path += '.';
    path += name;
    out_->push_back(path);
    enter(path, in);
  }
  template <class T>
  void always(std::string_view name, const T& in) {
    (*this)(name, in);
  }
  template <class T>
  void micro(std::string_view name, const T& in) {
    (*this)(name, in);
  }
  template <class T>
  void over(std::string_view name, const RawJson&, const T& in) {
    (*this)(name, in);
  }
  template <class F>
  void inside(std::string_view name, F visit) {
    (*this)(name, 0);
    FieldLister below(out_->back(), out_);
    visit(below);
  }
  void names(std::string_view name, const std::vector<std::string>&) {
    (*this)(name, 0);
    out_->push_back(out_->back() + "[].name");
  }

 private:
  template <class T>
  void enter(const std::string& path, const T& in) {
    if constexpr (HasFields<T>) {
      FieldLister below(path, out_);
      fields(below, in);
    }
  }
  template <class T>
  void enter(const std::string& path, const std::optional<T>&) {
    enter(path, T{});
  }
  template <class T>
  void enter(const std::string& path, const std::vector<T>&) {
    enter(path + "[]", T{});
  }

  std::string prefix_;
  std::vector<std::string>* out_;
};

template <class T>
std::vector<std::string> field_paths() {
  std::vector<std::string> out;
  FieldLister lister("", &out);
  const T empty{};
  fields(lister, empty);
  return out;
}

}  // namespace regatta::api
