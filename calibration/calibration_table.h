// Which numbers of the catalogue a calibration may move: from where, how far, and together with which others.
#pragma once

#include <string>
#include <vector>

#include "proto/catalog/catalog.h"

namespace podsim {

// A number of a chip, fabric or stack, in the unit of its field.
struct CalibratedNumber {
  Catalog::Section section = Catalog::Section::kChips;
  std::string entry, path;   // as Catalog::number takes them
  double start = 0;          // what is held true before any run is seen
  double low = 0, high = 0;  // it stays between them
};

// One free parameter, an offset in spreads. Offset 0 leaves its numbers where they are.
struct CalibrationParameter {
  bool adds =
      false;  // spread is in the unit of the numbers; else it multiplies them, and spread is in logarithms
  double spread = 0;  // how far the offset 1 moves: one standard deviation of what is held true before
  std::vector<std::size_t> numbers;  // indices
  std::string name;                  // entries and paths as the table writes them
};

// Lines of the form  section,entries,paths,kind,start,spread,low,high,source  (docs/evidence/calibration.md):
//   chip,h100|h200,matmul.bf16.sustained|matmul.fp16.sustained,scale,0.72|0.74,0.06,0.2,1,measured
//   chip,h100|h200|gb200,matmul.bf16.sustained,scale,,0.1,,,shared: all chips throttle alike
// A line with starts lets its numbers be calibrated; each number has exactly one such line. A line without
// starts moves numbers of other lines too, so that what some entries teach reaches the others; of its paths,
// an entry has those that the catalogue states.
struct CalibrationTable {
  std::vector<CalibratedNumber> numbers;
  std::vector<CalibrationParameter> parameters;

  // [number] all of them at these offsets:  start x exp(sum of spread x offset of the parameters that scale)
  // + sum of spread x offset of those that add, within its bounds. REQUIRES: an offset per parameter.
  std::vector<double> values(const std::vector<double>& offsets) const;

  // [number] by how much an offset of 1 of the parameter moves them from their starts, to first order.
  std::vector<double> effect(std::size_t parameter) const;
};

// Adds the lines of one file to `table`. An unknown section, kind, entry or path, a number that its entry
// does not state, one started twice or moved without a start, bounds that do not hold the start: all are
// problems, with their place and the nearest valid name.
std::vector<Problem> add_calibration_lines(const std::string& file, const std::string& text,
                                           const Catalog& catalog, CalibrationTable& table);

}  // namespace podsim
