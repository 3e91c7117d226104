// Figures of a report by the names that its JSON has.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace podsim {

struct ReportFigure {
  enum class Kind { kNone, kWord, kTruth, kWhole, kReal } kind;
  std::string exact;  // as the JSON has it, words without quotes; empty where it is null
  double number = 0;  // of kWhole and kReal
};

class ReportFigures {
 public:
  explicit ReportFigures(const std::string& report_json);

  // "memory_per_chip_gib.total"; nothing where there is none, and where it is a group or a list.
  std::optional<ReportFigure> at(const std::string& path) const;
  bool holds(const std::string& path) const;  // it is there, and true
  // That there is none of this name, with the nearest that there is.
  std::string there_is_no(const std::string& path) const;

 private:
  struct Content;
  std::shared_ptr<const Content> content_;
};

}  // namespace podsim
