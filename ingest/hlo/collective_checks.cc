// Groups first, then what each kind makes of its operands.
#include "ingest/hlo/collective_checks.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "ingest/hlo/fields.h"
#include "ingest/hlo/group_lists.h"
#include "ingest/hlo/operations.h"
#include "ingest/hlo/replica_groups.h"
#include "ingest/hlo/scanner.h"

namespace podsim::hlo {
namespace {

const char* word_of(GroupMode mode) {
  return mode == GroupMode::kPartitions ? "partition" : mode == GroupMode::kDevices ? "device" : "replica";
}

class CollectiveChecker {
 public:
  CollectiveChecker(const std::string& file, const Module& module, const Computation& computation,
                    const Instruction& collective)
      : file_(file),
        module_(module),
        computation_(computation),
        of_(collective),
        kind_(collective_kind(collective.opcode)) {}

  void check() {
    const auto groups = groups_of(module_, of_);
    if (!groups) unreadable();
    if (of_.has("source_target_pairs")) {
      check_pairs(groups->mode, source_target_pairs(of_).value());
      return check_shapes(groups->size, true);
    }
    const NamedNumbers named = written_groups(of_).value().named;
    check_numbers(groups->mode, named);
    check_shapes(groups->size, groups->size > 1 || named.count > 0);
  }

 private:
  [[noreturn]] void refuse(const char* attribute, const std::string& why,
                           const std::string& hint = "") const {
    fail_in_line(
        file_, of_.line,
        "\"" + of_.name + "\" has " + attribute + "=" + std::string(of_.attribute(attribute)) + ", " + why,
        hint);
  }

  [[noreturn]] void unreadable() const {
    if (of_.has("source_target_pairs"))
      refuse("source_target_pairs", "which names no groups", "expected {{0,1},{1,0}}");
    refuse("replica_groups", "which names no groups",
           "expected {{0,1},{2,3}}, {}, [2,4]<=[8] or mesh['a'=2,'b'=4] {'a'}");
  }

  // Where the header leaves out how many there are, any number may be one of them.
  void check_range(const char* attribute, GroupMode mode, std::int64_t number) const {
    const std::int64_t count = numbered(module_, mode);
    if (count == 1 || number < count) return;
    const std::string word = word_of(mode);
    refuse(attribute, "but the module has no " + word + " " + std::to_string(number),
           "expected numbers of " + word + "s, 0 to " + std::to_string(count - 1));
  }

  void check_numbers(GroupMode mode, const NamedNumbers& named) const {
    constexpr const char* kGroups = "replica_groups";
    if (of_.attribute("use_global_device_ids") == "true" && !of_.has("channel_id"))
      refuse("use_global_device_ids", "but no channel_id", "expected both, or neither");
    if (named.count == 0) return;
    const std::string word = word_of(mode);
    if (named.twice)
      refuse(kGroups, "in which " + word + " " + std::to_string(*named.twice) + " stands twice");
    check_range(kGroups, mode, named.largest);
    if (kind_ == "collective-broadcast") return;  // whoever is in no group is given zeros
    if (named.empty_group) refuse(kGroups, "in which a group is empty");
    const std::int64_t count = numbered(module_, mode);
    if (named.missing < std::max(count == 1 ? 0 : count, named.largest + 1))
      refuse(kGroups, "in which no group has " + word + " " + std::to_string(named.missing));
    if (!named.even && kind_ != "all-reduce")
      refuse(kGroups, "whose groups differ in size", "expected groups of one size");
  }

  // Of a permute in place a device may send several parts.
  void check_pairs(GroupMode mode, const Pairs& pairs) const {
    constexpr const char* kPairs = "source_target_pairs";
    std::vector<std::int64_t> sources, targets;
    for (const auto& [source, target] : pairs) {
      sources.push_back(source);
      targets.push_back(target);
      check_range(kPairs, mode, std::max(source, target));
    }
    if (of_.has("slice_sizes")) return;
    for (auto* numbers : {&sources, &targets}) {
      std::ranges::sort(*numbers);
      const auto twice = std::ranges::adjacent_find(*numbers);
      if (twice == numbers->end()) continue;
      refuse(kPairs, "in which " + std::string(word_of(mode)) + " " + std::to_string(*twice) +
                         (numbers == &sources ? " sends twice" : " receives twice"));
    }
  }

  const Shape& operand(std::size_t i) const { return computation_.operand(of_, i).shape; }

  // One for each operand; nothing where a start has a form of its own.
  std::optional<std::vector<Shape>> results() const {
    const Shape* shape = &of_.shape;
    if (of_.opcode.ends_with("-start") && kind_ != "all-reduce") {
      if (shape->leaves.size() < 2) return std::nullopt;
      shape = &shape->leaves[1];
    }
    if (shape->is_tuple()) return shape->leaves;
    return std::vector<Shape>{*shape};
  }

  // A group of everybody has an unknown size where the header leaves out how many there are.
  void check_shapes(std::int64_t size, bool known) const {
    const auto made = results();
    const bool plain = std::ranges::none_of(of_.operands, [&](int o) {
      return computation_.instructions[static_cast<std::size_t>(o)].shape.is_tuple();
    });
    if (!made || !plain || of_.has("slice_sizes")) return;
    if (kind_ == "ragged-all-to-all") {
      if (of_.operands.size() > 1) expect(made->front(), operand(1));  // where it writes
      return;
    }
    if (made->size() != of_.operands.size())
      wrong(std::to_string(made->size()) + " results",
            "it has " + std::to_string(of_.operands.size()) + " operands");
    const bool in_parts = kind_ == "all-to-all" && !of_.has("dimensions");
    if (in_parts && known && static_cast<std::int64_t>(of_.operands.size()) != size)
      wrong(std::to_string(of_.operands.size()) + " parts", "its groups are of " + std::to_string(size));
    for (std::size_t i = 0; i < made->size(); ++i) {
      if (kind_ == "all-gather" || kind_ == "reduce-scatter" || (kind_ == "all-to-all" && !in_parts)) {
        if (known) cut((*made)[i], operand(i), size);
      } else {
        expect((*made)[i], operand(i));
      }
    }
  }

  [[noreturn]] void wrong(const std::string& gives, const std::string& from) const {
    fail_in_line(file_, of_.line,
                 "\"" + of_.name + "\": " + of_.opcode.text() + " gives " + gives + ", " + from);
  }

  void expect(const Shape& made, const Shape& like) const {
    if (!alike(made, like)) wrong(shape_words(made), "its operand is " + shape_words(like));
  }

  // The dimension that is gathered, scattered or exchanged.
  void cut(const Shape& made, const Shape& from, std::int64_t size) const {
    Shape expected = from;
    const auto along = list_of(of_.attribute("dimensions"));
    const bool there = along.size() == 1 && along[0] < static_cast<std::int64_t>(from.dimensions.size());
    if (!there)
      wrong(shape_words(made),
            "but " + shape_words(from) + " has no dimension " + std::string(of_.attribute("dimensions")));
    std::int64_t& length = expected.dimensions[static_cast<std::size_t>(along[0])];
    if (kind_ != "all-gather" && length % size != 0)
      wrong(shape_words(made), "but dimension " + std::to_string(along[0]) + " of " + shape_words(from) +
                                   " has no " + std::to_string(size) + " equal parts");
    if (kind_ == "all-gather") length = saturating_multiply(length, size);
    if (kind_ == "reduce-scatter") length /= size;
    if (kind_ == "all-to-all") exchange(expected, length, size);
    if (alike(made, expected)) return;
    wrong(shape_words(made), "its operand, dimension and groups of " + std::to_string(size) + " make it " +
                                 shape_words(expected));
  }

  // HLO joins what it has split; StableHLO may join along another dimension.
  void exchange(Shape& shape, std::int64_t& split, std::int64_t size) const {
    const auto joined = list_of(of_.attribute("concat_dimension"));
    if (joined.size() != 1 || joined[0] >= static_cast<std::int64_t>(shape.dimensions.size())) return;
    split /= size;
    std::int64_t& length = shape.dimensions[static_cast<std::size_t>(joined[0])];
    length = saturating_multiply(length, size);
  }

  const std::string& file_;
  const Module& module_;
  const Computation& computation_;
  const Instruction& of_;
  std::string_view kind_;
};

}  // namespace

void check_collectives(const std::string& file, const Module& module) {
  for (const Computation& computation : module.computations)
    for (const Instruction& each : computation.instructions)
      if (!collective_kind(each.opcode).empty()) CollectiveChecker(file, module, computation, each).check();
}

}  // namespace podsim::hlo
