// Scenario files in, validated specs out; every problem at once, each with its place.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/nearest.h"
#include "scheduler/spec.h"

namespace podsim {

// Something the user must fix. Printed by `format_problem` as
//   file:line:column: message
//     source line
//     ^
//     expected ...; did you mean "..."?
struct Problem {
  std::string file;
  int line = 0;    // from 1; 0 = the whole file
  int column = 0;  // from 1
  std::string message;
  std::string source_line;
  std::string hint;  // expected values or the nearest valid name, or empty
  int caret = 0;     // the place in source_line, from 1; 0 = the whole of it
};
std::string format_problem(const Problem& problem);

// Chips, fabrics, models, stacks, price lists and mixes of failures by name. Embedded in the binary; more
// files can be added.
class Catalog {
 public:
  Catalog();  // the built-in entries
  ~Catalog();
  Catalog(Catalog&&) noexcept;
  Catalog& operator=(Catalog&&) noexcept;

  // Adds every *.textproto of a directory; an entry of a known name replaces it.
  std::vector<Problem> add_directory(const std::string& path);

  enum class Section {
    kChips,
    kFabrics,
    kModels,
    kStacks,
    kPrices,
    kTransports,
    kFailures,
    kJitters,
    kLengths
  };
  std::vector<std::string> names(Section section) const;  // sorted
  // Entries are found by aliases too, and -, _, spaces, case and an organisation before a "/" make no
  // difference (proto/entry_name.h). The name of the entry that is found so; nothing for an unknown one.
  std::optional<std::string> canonical(Section section, const std::string& name) const;
  std::vector<std::string> aliases(Section section, const std::string& name) const;
  // For a name that is not found: the nearest one, those of its family, or all.
  std::string hint(Section section, const std::string& name) const;
  // The entry as it is written in its file, with the sources beside the numbers; nothing for an unknown name.
  std::optional<std::string> text(Section section, const std::string& name) const;

  // A number of an entry by the path of its field; elements of lists go by the text of their first field:
  // "hbm_efficiency", "matmul.bf16.sustained", "attention.flash2.forward". Nothing where it is not set.
  std::optional<double> number(Section section, const std::string& name, const std::string& path) const;
  // Paths of all numbers that the entry sets; none for an unknown name.
  std::vector<std::string> numbers(Section section, const std::string& name) const;
  // Sets it, whatever its range. False when there is no such entry or field.
  bool set_number(Section section, const std::string& name, const std::string& path, double value);

  // Nothing for an unknown name, and for a model that is written as operations.
  std::optional<Model> model(const std::string& name) const;

  // How flows share links under a transport of this name; nothing for an unknown one.
  std::optional<Transport> transport(const std::string& name) const;

  // A network without a job, for `podsim collective` and `podsim draw`. `shape` may be empty.
  struct FabricChoice {
    std::string name;
    int chips = 0;
    std::vector<int> shape;
    int slices = 1;
    bool twisted = false;
    std::string routing = {};  // a name of the schema; empty = as the fabric says
    std::optional<std::uint64_t> routing_seed = {};
    std::string transport = {};  // empty = as the fabric says
  };
  std::pair<std::optional<FabricSpec>, std::vector<Problem>> fabric(const FabricChoice& choice) const;

  // What tables of measurements call the networks; by fabric name.
  struct MeasuredSystem {
    std::string system, network, fabric;
  };
  std::vector<MeasuredSystem> measured_systems() const;

  // Fabrics that are built for a chip, the shortest name first: variants of one have longer names. None for
  // an unknown chip.
  std::vector<std::string> fabrics_of(const std::string& chip) const;

  struct Entries;  // protobuf inside
  const Entries& entries() const { return *entries_; }

 private:
  std::unique_ptr<Entries> entries_;
};

// "job.microbatch_sequences=2": sets a scenario field by its path, as --set does. Repeated fields:
// job.mesh[0].size, or job.mesh.tensor.size by the element's name; one past the last index appends; repeated
// scalars take a comma list.
struct Override {
  std::string path;
  std::string value;
};

struct LoadResult {
  std::optional<Spec> spec;  // present when there are no problems
  std::vector<Problem> problems;
  std::vector<Problem> warnings;  // worth telling; the spec is usable
};

// `text` is text format, JSON (suffix .json, or the first non-blank character is '{') or binary (suffix .pb,
// or it has NUL bytes). ENSURES: at most 20 problems; never throws, never crashes, whatever the bytes;
// O(size) with size capped at 4 MiB.
LoadResult load_scenario(const std::string& file_name, const std::string& text, const Catalog& catalog,
                         const std::vector<Override>& overrides);

// Reads the file first; a missing or unreadable file is a problem.
LoadResult load_scenario_file(const std::string& path, const Catalog& catalog,
                              const std::vector<Override>& overrides);

}  // namespace podsim
