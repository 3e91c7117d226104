// Reports side by side.
#include <gtest/gtest.h>

#include <iterator>
#include <sstream>

#include "report/tables/write.h"
#include "report/text/text.h"
#include "tests/report/example.h"

namespace podsim::compare_test {
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

TEST(Compare, what_is_not_known_of_a_job_is_a_dash_and_not_zero) {
  std::vector<Report> reports = {example_report(), example_report()};
  reports[1].model_flops_per_token_full = 0;
  reports[1].memory.total = 0;
  const std::string table = compare_table(reports);
  const auto words_of = [&](const std::string& name) {
    const std::size_t begin = table.find("\n" + name) + 1 + name.size();
    std::istringstream row(table.substr(begin, table.find('\n', begin) - begin));
    return std::vector<std::string>(std::istream_iterator<std::string>(row), {});
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of("MFU, causal"), (Words{percent(reports[0].mfu_causal), "-", "-"})) << table;
  EXPECT_EQ(words_of("MFU of bf16 peak, full"), (Words{percent(reports[0].mfu_bf16_full), "-", "-"}));
  EXPECT_EQ(words_of("memory per chip, GiB"), (Words{fixed(reports[0].memory.total, 2), "-", "-"}));
  EXPECT_EQ(words_of("fits"), (Words{"yes", "-"}));
}

}  // namespace
}  // namespace podsim::compare_test
