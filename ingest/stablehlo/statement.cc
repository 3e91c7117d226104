// Statements begin where something is assigned, and end where the next one begins.
#include "ingest/stablehlo/statement.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "engine/number_text.h"
#include "ingest/stablehlo/tensor_type.h"

namespace podsim::stablehlo {
namespace {

bool ends_block(std::string_view word) {
  return word == "return" || word == "func.return" || word == "stablehlo.return" || word == "sdy.return" ||
         word == "mhlo.return";
}

std::string hlo_element(const std::string& element) {
  static const std::map<std::string, std::string> kNames = {
      {"i1", "pred"},          {"i2", "s2"},    {"i4", "s4"},    {"i8", "s8"},     {"i16", "s16"},
      {"i32", "s32"},          {"i64", "s64"},  {"ui2", "u2"},   {"ui4", "u4"},    {"ui8", "u8"},
      {"ui16", "u16"},         {"ui32", "u32"}, {"ui64", "u64"}, {"index", "s64"}, {"complex<f32>", "c64"},
      {"complex<f64>", "c128"}};
  const auto found = kNames.find(element);
  if (found != kNames.end()) return found->second;
  std::string lower = element;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

}  // namespace

bool Words::is_value(std::size_t i) const {
  return i < size() && tokens_.all[i].kind == Token::Kind::kWord && at(i).starts_with("%");
}

std::size_t Words::next(std::size_t i) const { return partner(i) > i ? partner(i) + 1 : i + 1; }

std::string_view Words::text(std::size_t begin, std::size_t end) const {
  if (begin >= end || begin >= size()) return {};
  const Token& last = tokens_.all[std::min(end, size()) - 1];
  const std::size_t from = tokens_.all[begin].at;
  return text_.substr(from, last.at + last.text.size() - from);
}

// %0 = ..., %0:2 = ..., %0, %1 = ..., return ..., ^bb0(...):
bool Words::begins_statement(std::size_t i) const {
  if (i >= size() || tokens_.all[i].kind != Token::Kind::kWord) return false;
  if (ends_block(at(i)) || at(i).starts_with("^")) return true;
  if (!is_value(i)) return false;
  std::size_t k = i + 1;
  while (is(k, ",") && is_value(k + 1)) k += 2;
  if (is(k, ":") && whole_text_as<std::int64_t>(at(k + 1))) k += 2;
  return is(k, "=");
}

std::vector<Statement> Words::statements(std::size_t begin, std::size_t end) const {
  std::vector<Statement> found;
  for (std::size_t i = begin; i < end;) {
    if (!begins_statement(i)) {
      i = next(i);
      continue;
    }
    Statement made;
    std::size_t k = i;
    for (; !is(k, "=") && k < end && is_value(i); ++k) {
      if (!is_value(k)) continue;
      const bool several = is(k + 1, ":");
      const std::int64_t count = several ? whole_text_as<std::int64_t>(at(k + 2)).value_or(1) : 1;
      if (count > 10'000) throw Unread{"an operation with more than 10,000 results"};
      for (std::int64_t r = 0; r < count; ++r)
        made.results.push_back(std::string(at(k)) + (several ? "#" + std::to_string(r) : ""));
    }
    made.begin = is_value(i) ? k + 1 : k;
    made.operation = ends_block(at(made.begin)) ? "return" : std::string(at(made.begin));
    std::size_t stop = made.begin + 1;
    while (stop < end && !begins_statement(stop)) stop = next(stop);
    made.end = std::min(stop, end);
    made.types = made.begin + 1;
    while (made.types < made.end && !is(made.types, ":")) made.types = next(made.types);
    made.types = std::min(made.types, made.end);
    // Regions in brackets have values of their own.
    for (std::size_t v = made.begin + 1; v < made.types; ++v) {
      if (is(v, "{"))
        v = partner(v);
      else if (is(v, "(") && is(v + 1, "{"))
        v = partner(v);
      else if (is_value(v))
        made.operands.emplace_back(at(v));
    }
    if (!at(i).starts_with("^")) found.push_back(std::move(made));
    i = stop;
  }
  return found;
}

std::optional<std::size_t> Words::attribute(const Statement& of, std::string_view name) const {
  for (std::size_t i = of.begin; i + 2 < of.end; ++i)
    if (at(i) == name && is(i + 1, "=")) return i + 2;
  return std::nullopt;
}

std::vector<std::int64_t> Words::numbers(std::size_t value) const {
  std::size_t end = value + 1;
  if (is(value, "["))
    end = partner(value);
  else if (is(value + 1, "<"))
    end = behind_angle(value + 1);
  std::vector<std::int64_t> found;
  for (std::size_t i = value; i < end; ++i)
    if (const auto number = whole_text_as<std::int64_t>(at(i))) found.push_back(*number);
  return found;
}

std::vector<std::int64_t> Words::numbers(const Statement& of, std::string_view name) const {
  const auto value = attribute(of, name);
  return value ? numbers(*value) : std::vector<std::int64_t>();
}

std::size_t Words::behind_angle(std::size_t i) const {
  int open = 0;
  for (; i < size(); ++i) {
    if (is(i, "<")) ++open;
    if (is(i, ">") && --open == 0) return i + 1;
  }
  return i;
}

std::string Words::hlo_type(std::size_t& i) const {
  if (!is(i, "tensor") || !is(i + 1, "<"))
    throw Unread{"type " + std::string(at(i)) + ", which is no tensor"};
  const std::size_t end = behind_angle(i + 1);
  std::string unknown;
  const auto type = tensor_type(text(i + 2, end - 1), unknown);
  if (!type || type->has_open_size || type->element.starts_with("!"))
    throw Unread{"a tensor of open size or of another dialect"};
  std::string made = hlo_element(type->element) + "[";
  for (std::size_t d = 0; d < type->sizes.size(); ++d)
    made += (d == 0 ? "" : ",") + std::to_string(type->sizes[d]);
  i = end;
  return made + "]";
}

std::vector<std::string> Words::result_types(const Statement& of) const {
  std::size_t i = of.types + 1;
  for (std::size_t k = of.types; k < of.end; k = next(k))
    if (is(k, "->")) i = k + 1;
  std::vector<std::string> types;
  for (std::size_t end = is(i, "(") ? partner(i) : of.end; i < end;) {
    if (is(i, "{")) {
      i = next(i);
    } else if (is(i, "tensor") || at(i).starts_with("!")) {
      types.push_back(hlo_type(i));
    } else if (is(i, "(") || is(i, ",")) {
      ++i;
    } else {
      break;
    }
  }
  if (types.empty()) throw Unread{"operation " + of.operation + " without types"};
  const std::size_t results = std::max<std::size_t>(1, of.results.size());
  if (types.size() == results) return types;
  return std::vector<std::string>(results, types.back());
}

std::string Words::annotation(std::size_t angle) const {
  return annotation_in(text(angle, behind_angle(angle)));
}

std::vector<std::string> Words::result_shardings(std::size_t begin, std::size_t end) const {
  std::vector<std::string> found;
  for (std::size_t i = begin; i < end; ++i) {
    if (is(i, "tensor")) found.emplace_back();
    if (is(i, "{") && !found.empty()) {
      found.back() = sharding(i, partner(i));
      i = partner(i);
    }
  }
  return found;
}

std::string Words::sharding(std::size_t begin, std::size_t end) const {
  for (std::size_t i = begin; i < end; ++i) {
    if (!is(i + 1, "=")) continue;
    std::string shardy;
    if (is(i, "sdy.sharding")) shardy = annotation(i + 3);
    if (is(i, "xla.sdy.sharding")) shardy = annotation_in(at(i + 2));
    if (!shardy.empty()) return ", shardy=" + shardy;
    if (is(i, "mhlo.sharding")) return ", sharding=" + std::string(at(i + 2));
  }
  return "";
}

std::string annotation_in(std::string_view text) {
  const std::size_t begin = text.find("[{"), none = text.find("[]");
  if (begin == std::string_view::npos && none == std::string_view::npos) return "";
  std::string made;
  for (std::size_t i = std::min(begin, none); i < text.size() && text[i] != '>'; ++i) {
    if (text.substr(i).starts_with("\\22")) {
      i += 2;
    } else if (text.substr(i).starts_with("],")) {
      made += "] ";
      ++i;
    } else if (text.substr(i).starts_with("},") && made.find(']') != std::string::npos) {
      made += "} ";
      ++i;
    } else if (text[i] != '"' && text[i] != ' ') {
      made += text[i];
    }
  }
  return "{" + made + "}";
}

}  // namespace podsim::stablehlo
