// A field between two values, and a figure of a scenario at some of them.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "proto/text/document.h"
#include "proto/text/override.h"

namespace podsim {

class Evaluator;

struct FieldRange {
  std::string path;
  double from = 0, to = 0;  // 0 < from < to
  bool whole_numbers = false;
  Override at(double value) const;
};
// "cluster.usd_per_chip_hour=0.5..10"; nothing, with the reason logged, for other text.
std::optional<FieldRange> field_range(const std::string& option, const std::string& text);

// A figure that a scenario does not have, or a scenario that there is not.
struct NoFigure : std::runtime_error {
  NoFigure(const std::string& what, std::vector<Problem> found)
      : std::runtime_error(what), problems(std::move(found)) {}
  std::vector<Problem> problems;
};
void tell_no_figure(const NoFigure& problem);

// Steps of one scenario under changes.
class FieldFigures {
 public:
  // REQUIRES: the catalogue outlives this object.
  FieldFigures(std::string file, const Catalog& catalog, std::string figure);
  FieldFigures(FieldFigures&&) noexcept;
  ~FieldFigures();
  double at(const std::vector<Override>& changes);  // throws NoFigure

  // Whether the job fits in memory: at any of the changes that were asked, at every one.
  bool ever_fits() const { return fits_ > 0; }
  bool always_fits() const { return misses_ == 0; }
  const std::string& file() const { return file_; }

 private:
  const std::string file_, figure_;
  const Catalog& catalog_;
  int fits_ = 0, misses_ = 0;
  std::unique_ptr<Evaluator> evaluator_;
};

// Tells whose job does not fit in memory, or not everywhere. The exit code: of an error where none ever fits.
int judge_fields(const std::vector<const FieldFigures*>& files);

}  // namespace podsim
