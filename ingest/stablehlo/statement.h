// Operations of MLIR text one by one, as StableHLO writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/stablehlo/tokens.h"

namespace podsim::stablehlo {

// What cannot be read: the words say of what.
struct Unread {
  std::string what;
  std::optional<std::size_t> at = std::nullopt;  // byte of the text
};

// One operation of a block with its regions, as tokens.
struct Statement {
  std::vector<std::string> results;  // "%0"; of several "%0#0", "%0#1"
  std::string operation;             // "stablehlo.add"; "return" for all that end a block
  std::vector<std::string> operands;
  std::size_t begin = 0, end = 0;  // tokens from the operation's name on
  std::size_t types = 0;           // the colon before them; end where there is none
};

// Tokens with the text they are of, which must outlive this.
class Words {
 public:
  Words(const Tokens& tokens, std::string_view text) : tokens_(tokens), text_(text) {}

  bool is(std::size_t i, std::string_view word) const { return tokens_.is(i, word); }
  std::size_t size() const { return tokens_.all.size(); }
  std::string_view at(std::size_t i) const { return i < size() ? tokens_.all[i].text : std::string_view(); }
  std::size_t byte(std::size_t i) const { return i < size() ? tokens_.all[i].at : text_.size(); }
  bool is_string(std::size_t i) const { return i < size() && tokens_.all[i].kind == Token::Kind::kString; }
  bool is_value(std::size_t i) const;     // %0
  std::size_t next(std::size_t i) const;  // behind it, and behind its bracket where it opens one
  std::size_t partner(std::size_t i) const { return i < size() ? tokens_.partner[i] : 0; }
  std::string_view text(std::size_t begin, std::size_t end) const;  // of tokens, the last one left out

  // Those of a block, between its braces.
  std::vector<Statement> statements(std::size_t begin, std::size_t end) const;

  // Where the value of an attribute begins, anywhere before `end`; nothing where it has none.
  std::optional<std::size_t> attribute(const Statement& of, std::string_view name) const;
  // [0, 1], array<i64: 0, 1>, dense<[0, 1]>, 0 : i64.
  std::vector<std::int64_t> numbers(std::size_t value) const;
  std::vector<std::int64_t> numbers(const Statement& of, std::string_view name) const;

  // f32[8,128] of tensor<8x128xf32>, which begins at `i`; `i` moves behind it.
  std::string hlo_type(std::size_t& i) const;
  std::vector<std::string> result_types(const Statement& of) const;
  // <@mesh, [{"x"}, {"y", ?}], replicated={"z"}> from `<` on, as {[{x},{y,?}] replicated={z}}.
  std::string annotation(std::size_t angle) const;
  // ", shardy={...}" or ", sharding={...}" for those of Shardy or GSPMD between two tokens; empty where there
  // are none.
  std::string sharding(std::size_t begin, std::size_t end) const;
  // Of -> (tensor<..> {sdy.sharding = ...}, ...), one each.
  std::vector<std::string> result_shardings(std::size_t begin, std::size_t end) const;

 private:
  bool begins_statement(std::size_t i) const;
  std::size_t behind_angle(std::size_t i) const;  // of <...> that begins at i

  const Tokens& tokens_;
  std::string_view text_;
};

// The same of text that was hidden in a string: quotes are \22.
std::string annotation_in(std::string_view text);

}  // namespace podsim::stablehlo
