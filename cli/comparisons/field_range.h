// A field between two values, and a figure of a scenario at some of them.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "proto/text/document.h"
#include "proto/text/override.h"
#include "proto/text/read_file.h"

namespace podsim {

class Evaluator;

struct FieldRange {
  std::string path;
  double from = 0, to = 0;     // 0 < from < to
  bool whole_numbers = false;  // then both ends are
  Override at(double value) const;
  std::string text() const;  // as it was asked for
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
  // Reads the file, "-" for standard input; throws NoFigure. REQUIRES: the catalogue outlives this object.
  FieldFigures(const std::string& file, const Catalog& catalog, std::string figure);
  FieldFigures(FieldFigures&&) noexcept;
  ~FieldFigures();
  // Throws NoFigure. Logs what the scenario is warned of, each warning once.
  double at(const std::vector<Override>& changes);
  const InputText& input() const { return input_; }

  // Whether the job fits in memory: at any of the changes that were asked, at every one.
  bool ever_fits() const { return fits_ > 0; }
  bool always_fits() const { return misses_ == 0; }

 private:
  InputText input_;
  const std::string figure_;
  std::set<std::string> warned_;
  const Catalog& catalog_;
  int fits_ = 0, misses_ = 0;
  std::unique_ptr<Evaluator> evaluator_;
};

// Tells whose job does not fit in memory, or not everywhere. The exit code: of an error where none ever fits.
int judge_fields(const std::vector<const FieldFigures*>& files);

}  // namespace podsim
