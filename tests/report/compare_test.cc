// Reports side by side.
#include <gtest/gtest.h>

#include "report/write.h"
#include "tests/report/example.h"

namespace podsim {
namespace {

TEST(Compare, names_the_bucket_that_makes_the_difference) {
  std::vector<Report> reports = {example_report(), example_report()};
  reports[1].scenario = "slower";
  reports[1].step_time += Time::seconds(5);
  reports[1].compute += Time::seconds(1);
  reports[1].pipeline_bubble += Time::seconds(4);
  const std::string table = compare_table(reports);
  EXPECT_NE(table.find("slower: a step takes 1.500x as long as in example (+5.00 s). "
                       "The difference lies most in pipeline bubble: +4.00 s."),
            std::string::npos)
      << table;
}

TEST(Compare, jobs_of_different_size_compare_by_chip_seconds_per_token) {
  std::vector<Report> reports = {example_report(), example_report()};
  reports[1].scenario = "wider";
  reports[1].chips = 8;
  reports[1].tokens_per_step = 2000;
  EXPECT_NE(compare_table(reports).find("wider: a token takes 1.000x as long"), std::string::npos);
}

TEST(Compare, figures_stand_beside_their_ratio_to_the_first) {
  std::vector<Report> reports = {example_report(), example_report()};
  reports[1].tokens_per_s_per_chip = 50;
  const std::string table = compare_table(reports);
  const std::size_t row = table.find("tokens/s per chip");
  EXPECT_NE(table.substr(row, table.find('\n', row) - row).find("2.000x"), std::string::npos) << table;
}

}  // namespace
}  // namespace podsim
