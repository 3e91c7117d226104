// The catalogue: entries by name, built in and added.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/text/problem.h"
#include "topology/fabric_spec.h"
#include "workload/job/model.h"

namespace podsim {

// Chips, fabrics, models, stacks, price lists and mixes of failures by name. Embedded in the binary; more
// files can be added. Const members may be called from several threads at once, and whatever loads a scenario
// calls no others; entries stay where they are. add_directory, add_text and set_number are for one thread,
// while no other reads.
class Catalog {
 public:
  Catalog();  // the built-in entries
  ~Catalog();
  Catalog(Catalog&&) noexcept;
  Catalog& operator=(Catalog&&) noexcept;

  // Adds every *.textproto of a directory, and every *.csv with prices (proto/catalog/price_sheet.h), or a
  // single such file; an entry of a known name replaces it.
  std::vector<Problem> add_directory(const std::string& path);
  // Adds the entries of this text, as if a file of this name held it.
  std::vector<Problem> add_text(const std::string& file, const std::string& text);

  enum class Section {
    kChips,
    kFabrics,
    kModels,
    kStacks,
    kPrices,
    kTransports,
    kFailures,
    kJitters,
    kLengths,
    kKernels,
    kLibraries
  };
  std::vector<std::string> names(Section section) const;  // sorted
  // Entries are found by aliases too, and -, _, spaces, case and an organisation before a "/" make no
  // difference (proto/catalog/entry_name.h). The name of the entry that is found so; nothing for an unknown
  // one.
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

}  // namespace podsim
