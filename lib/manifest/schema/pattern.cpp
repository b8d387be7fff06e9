#include "lib/manifest/schema/pattern.h"

#include "lib/manifest/schema/pattern_syntax.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace regatta::manifest {
namespace {

constexpr std::size_t instructions_max = 20000;
constexpr std::size_t states_max = 1000;
constexpr std::uint16_t dead = 0;

enum class Op : std::uint8_t { bytes, split, jump, begin, end, match };
struct Instruction {
  Op op;
  std::uint32_t a = 0;  ///< bytes: index of the class; split, jump: target
  std::uint32_t b = 0;  ///< split: second target
};

using ThreadSet = std::vector<std::uint32_t>;

}  // namespace

/// The instructions of the non-deterministic machine and, when it is small enough (nearly always),
/// the table of the deterministic one made from them.
struct Pattern::Program {
  std::vector<Instruction> code;
  std::vector<ByteSet> classes;

  struct State {
    bool accepts = false;         ///< found, whatever follows
    bool accepts_at_end = false;  ///< found, if the text ends here
  };
  std::array<std::uint16_t, 256> column{};  ///< byte -> column of the table
  std::size_t columns = 0;
  std::vector<State> states;
  std::vector<std::uint16_t> next;  ///< [state * columns + column]
  bool has_table = false;

  void add(ThreadSet& set, std::vector<bool>& seen, std::uint32_t start, bool at_begin,
           bool at_end) const;
  State verdict(const ThreadSet& set) const;
  ThreadSet step(const ThreadSet& set, unsigned char byte) const;
  bool simulate(std::string_view text) const;
};

void Pattern::Program::add(ThreadSet& set, std::vector<bool>& seen, std::uint32_t start,
                           bool at_begin, bool at_end) const {
  std::vector<std::uint32_t> todo{start};
  while (!todo.empty()) {
    const auto pc = todo.back();
    todo.pop_back();
    if (seen[pc]) continue;
    seen[pc] = true;
    const auto& in = code[pc];
    switch (in.op) {
      case Op::jump:
        todo.push_back(in.a);
        break;
      case Op::split:
        todo.push_back(in.b);
        todo.push_back(in.a);
        break;
      case Op::begin:
        if (at_begin) todo.push_back(pc + 1);
        break;
      case Op::end:
        if (at_end) {
          todo.push_back(pc + 1);
        } else {
          set.push_back(pc);
        }
        break;
      default:
        set.push_back(pc);
    }
  }
}

Pattern::Program::State Pattern::Program::verdict(const ThreadSet& set) const {
  State out;
  for (const auto pc : set) out.accepts |= code[pc].op == Op::match;
  out.accepts_at_end = out.accepts;
  ThreadSet beyond;
  std::vector<bool> seen(code.size());
  for (const auto pc : set) {
    if (code[pc].op == Op::end) add(beyond, seen, pc, false, true);
  }
  for (const auto pc : beyond) out.accepts_at_end |= code[pc].op == Op::match;
  return out;
}

ThreadSet Pattern::Program::step(const ThreadSet& set, unsigned char byte) const {
  ThreadSet out;
  std::vector<bool> seen(code.size());
  for (const auto pc : set) {
    const auto& in = code[pc];
    if (in.op == Op::bytes && classes[in.a][byte]) add(out, seen, pc + 1, false, false);
  }
  add(out, seen, 0, false, false);  // the match may also start here
  std::sort(out.begin(), out.end());
  return out;
}

bool Pattern::Program::simulate(std::string_view text) const {
  ThreadSet set;
  std::vector<bool> seen(code.size());
  add(set, seen, 0, true, false);
  if (verdict(set).accepts) return true;
  for (const char c : text) {
    set = step(set, static_cast<unsigned char>(c));
    if (set.empty()) return false;
    for (const auto pc : set) {
      if (code[pc].op == Op::match) return true;
    }
  }
  if (!text.empty()) return verdict(set).accepts_at_end;
  ThreadSet at_both;
  std::vector<bool> fresh(code.size());
  add(at_both, fresh, 0, true, true);
  return verdict(at_both).accepts;
}

/// Turns a syntax tree into a Program.
class PatternCompiler {
 public:
  using Program = Pattern::Program;

  static Result<Pattern> compile(const PatternNode& root) {
    PatternCompiler compiler;
    if (!compiler.emit(root)) return Error(Errc::invalid, "regular expression is too large");
    compiler.program_->code.push_back({Op::match});
    compiler.build_columns();
    compiler.build_table();
    Pattern out;
    out.program_ = compiler.program_;
    return out;
  }

 private:
  bool emit(const PatternNode& node) {
    auto& code = program_->code;
    if (code.size() > instructions_max) return false;
    switch (node.kind) {
      case PatternNode::Kind::bytes:
        program_->classes.push_back(node.bytes);
        code.push_back({Op::bytes, static_cast<std::uint32_t>(program_->classes.size() - 1)});
        return true;
      case PatternNode::Kind::begin:
        code.push_back({Op::begin});
        return true;
      case PatternNode::Kind::end:
        code.push_back({Op::end});
        return true;
      case PatternNode::Kind::sequence:
        return std::all_of(node.children.begin(), node.children.end(),
                           [this](const auto& child) { return emit(child); });
      case PatternNode::Kind::alternatives:
        return emit_alternatives(node);
      case PatternNode::Kind::repeat:
        return emit_repeat(node);
    }
    return false;
  }

  bool emit_alternatives(const PatternNode& node) {
    auto& code = program_->code;
    std::vector<std::uint32_t> exits;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const bool last = i + 1 == node.children.size();
      const auto split = here();
      if (!last) code.push_back({Op::split, split + 1});
      if (!emit(node.children[i])) return false;
      if (last) break;
      exits.push_back(here());
      code.push_back({Op::jump});
      code[split].b = here();
    }
    for (const auto exit : exits) code[exit].a = here();
    return true;
  }

  bool emit_repeat(const PatternNode& node) {
    auto& code = program_->code;
    const auto& child = node.children.front();
    for (int i = 0; i < node.min; ++i) {
      if (!emit(child)) return false;
    }
    if (node.max < 0) {
      const auto split = here();
      code.push_back({Op::split, split + 1});
      if (!emit(child)) return false;
      code.push_back({Op::jump, split});
      code[split].b = here();
      return true;
    }
    std::vector<std::uint32_t> splits;
    for (int i = node.min; i < node.max; ++i) {
      splits.push_back(here());
      code.push_back({Op::split, here() + 1});
      if (!emit(child)) return false;
    }
    for (const auto split : splits) code[split].b = here();
    return true;
  }

  std::uint32_t here() const { return static_cast<std::uint32_t>(program_->code.size()); }

  /// Bytes no class tells apart share a column.
  void build_columns() {
    std::map<std::vector<bool>, std::uint16_t> known;
    for (int byte = 0; byte < 256; ++byte) {
      std::vector<bool> key;
      key.reserve(program_->classes.size());
      for (const auto& set : program_->classes) key.push_back(set[static_cast<std::size_t>(byte)]);
      const auto at = known.emplace(key, static_cast<std::uint16_t>(known.size())).first;
      program_->column[static_cast<std::size_t>(byte)] = at->second;
    }
    program_->columns = known.size();
  }

  void build_table() {
    auto& p = *program_;
    if (p.code.size() > 2000) return;
    std::map<ThreadSet, std::uint16_t> known;
    std::vector<ThreadSet> sets;
    auto number_of = [&](ThreadSet set) {
      const auto at = known.find(set);
      if (at != known.end()) return at->second;
      const auto number = static_cast<std::uint16_t>(sets.size());
      known.emplace(set, number);
      p.states.push_back(p.verdict(set));
      sets.push_back(std::move(set));
      return number;
    };
    std::vector<unsigned char> sample(p.columns);
    for (int byte = 255; byte >= 0; --byte) {
      sample[p.column[static_cast<std::size_t>(byte)]] = static_cast<unsigned char>(byte);
    }
    number_of({});  // the dead state is number 0
    ThreadSet start;
    std::vector<bool> seen(p.code.size());
    p.add(start, seen, 0, true, false);
    std::sort(start.begin(), start.end());
    // Number 1, not in `known`: at the beginning `$` and `^` mean more than in a later state with
    // the same threads.
    p.states.push_back(p.verdict(start));
    sets.push_back(start);
    for (std::size_t s = 0; s < sets.size(); ++s) {
      if (sets.size() > states_max) return;
      for (std::size_t c = 0; c < p.columns; ++c) {
        p.next.push_back(s == dead && !restarts() ? dead : number_of(p.step(sets[s], sample[c])));
      }
    }
    ThreadSet at_both;
    std::vector<bool> fresh(p.code.size());
    p.add(at_both, fresh, 0, true, true);
    p.states[1].accepts_at_end = p.verdict(at_both).accepts;
    p.has_table = true;
  }

  /// Whether a match may start anywhere but at the beginning.
  bool restarts() const {
    ThreadSet set;
    std::vector<bool> seen(program_->code.size());
    program_->add(set, seen, 0, false, false);
    return !set.empty();
  }

  std::shared_ptr<Program> program_ = std::make_shared<Program>();
};

Result<Pattern> Pattern::compile(std::string_view expression) {
  auto root = parse_pattern(expression);
  if (!root) return root.error();
  return PatternCompiler::compile(*root);
}

bool Pattern::search(std::string_view text) const {
  if (!program_) return true;
  const auto& p = *program_;
  if (!p.has_table) return p.simulate(text);
  std::size_t state = 1;
  for (const char c : text) {
    if (p.states[state].accepts) return true;
    state = p.next[state * p.columns + p.column[static_cast<unsigned char>(c)]];
  }
  return p.states[state].accepts || p.states[state].accepts_at_end;
}

}  // namespace regatta::manifest
