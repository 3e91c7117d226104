// Reads the number of years in the name of a term.
#include "proto/catalog/contract_length.h"

#include <string>
#include <string_view>

#include "engine/number_text.h"
#include "engine/unit_factors.h"
#include "proto/catalog.pb.h"

namespace podsim {
namespace {

// What the name of a term stands for.
ContractKind kind_of_term(const std::string& term) {
  if (term.starts_with("committed")) return ContractKind::kCommitment;
  schema::Contract::Kind kind = schema::Contract::on_demand;
  schema::Contract::Kind_Parse(term, &kind);
  return static_cast<ContractKind>(kind - 1);
}

// Of "committed_3y" the days of three years; of other names 0.
double days_of_term(const std::string& term) {
  constexpr std::string_view kBegin = "committed_", kEnd = "y";
  constexpr int kMostYears = 100;  // minimum_days has no more
  if (!term.starts_with(kBegin) || !term.ends_with(kEnd)) return 0;
  const std::string_view between =
      std::string_view(term).substr(kBegin.size(), term.size() - kBegin.size() - kEnd.size());
  const int years = whole_text_as<int>(between).value_or(0);
  return years > 0 && years <= kMostYears ? years * kDaysPerYear : 0;
}

}  // namespace

ContractKind kind_of_row(const schema::ChipPrice& row) {
  return row.has_kind() ? static_cast<ContractKind>(row.kind() - 1) : kind_of_term(row.term());
}

double days_of_row(const schema::ChipPrice& row) {
  return row.has_minimum_days() ? row.minimum_days() : days_of_term(row.term());
}

bool lacks_length(const schema::ChipPrice& row) {
  return kind_of_row(row) == ContractKind::kCommitment && days_of_row(row) == 0;
}

}  // namespace podsim
