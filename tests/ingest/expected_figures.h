// Files with the figures that are expected of them, which lie beside them; and files with damage. They are
// not part of the repository: PODSIM_DATA names a folder that has them in ingest/.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ingest/file_kind.h"

namespace podsim::expected_figures {

// PODSIM_DATA, or where the data lie beside the sources.
std::string data_folder();

// One answer: of a file, or of the ranks of a set.
struct Case {
  std::string figures;             // the file that has them
  std::vector<std::string> files;  // what they are of
  Stated stated;
  std::string expected;  // JSON
  bool refused = false;  // an error is expected
};

// FILE beside FILE.expected.json; NAME.0.et and so on beside NAME.expected.json; all others of the folder
// beside all_ranks.expected.json. "chips=512 slices=1" in a file of figures names what is stated.
std::vector<Case> cases_below(const std::string& folder);

// As podsim import reads them; nothing, and problems, where the file is refused or of no kind that is read.
std::optional<Imported> import_files(const std::vector<InputText>& files, const Stated& stated,
                                     std::vector<Problem>& problems);

// The texts of files, unpacked.
std::vector<InputText> texts_of(const std::vector<std::string>& files);

// JSON.
std::string figures_of(const Imported& imported);

// Whatever is expected is there, and alike; `given` may have more. Nothing is asked where null is expected,
// and of keys that are for readers. Of lists of objects each has its own counterpart, in any order.
bool same(const std::string& expected, const std::string& given, std::string& difference);

// The bytes as they lie on the disk: whoever damages a compressed file damages what is compressed.
std::string bytes_of(const std::string& file);

// What reading damaged bytes gave.
struct Damaged {
  bool read = false;
  std::string problem;   // the first
  std::string figures;   // JSON, without what counts comments and the like
  bool doubted = false;  // in words that the answer has
};
Damaged import_damaged(const std::string& file, std::string bytes);

}  // namespace podsim::expected_figures
