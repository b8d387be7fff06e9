#include "kubeconfig/yaml_guard.h"

#include "kubeconfig/kubeconfig.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <sstream>

namespace regatta::kubeconfig {
namespace {

/// Throws at the first event that is not allowed.
class Guard final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw YAML::Exception(mark, "aliases are not allowed");
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    count(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    enter(mark);
  }
  void OnSequenceEnd() override { --depth_; }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    enter(mark);
  }
  void OnMapEnd() override { --depth_; }

 private:
  void count(const YAML::Mark& mark) {
    if (++values_ > values_max) throw YAML::Exception(mark, "too many values");
  }
  void enter(const YAML::Mark& mark) {
    count(mark);
    if (++depth_ > depth_max) throw YAML::Exception(mark, "nested too deeply");
  }

  std::size_t values_ = 0;
  int depth_ = 0;
};

}  // namespace

Status check_yaml(const std::string& text) {
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Guard guard;
    if (!parser.HandleNextDocument(guard)) return ok();
    if (parser) return Error(Errc::invalid, "yaml: more than one document");
    return ok();
  } catch (const YAML::Exception& e) {
    return Error(Errc::invalid, "yaml: line " + std::to_string(e.mark.line + 1) + ": " + e.msg);
  }
}

}  // namespace regatta::kubeconfig
