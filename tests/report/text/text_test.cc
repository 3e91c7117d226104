// Numbers as text.
#include "report/text/text.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "report/text/align.h"

namespace podsim::text_test {
namespace {

TEST(Text, no_number_of_a_table_has_hundreds_of_digits) {
  EXPECT_EQ(significant(1.2345e-300, 3), "1.23e-300");
  EXPECT_EQ(significant(-9.9e-13, 2), "-9.9e-13");
  EXPECT_EQ(significant(1e-11, 3), "0.0000000000100");
  EXPECT_EQ(significant(6.02e23, 3), "6.02e+23");
  EXPECT_EQ(fixed(1e300, 1), "1.0e+300");
  EXPECT_EQ(fixed(-2.5e21, 12), "-2.500e+21");
  EXPECT_EQ(fixed(9e20, 0), "900000000000000000000");
  EXPECT_EQ(fixed(1e-300, 2), "0.00");
  EXPECT_EQ(percent(1e302), "1.0e+304%");
}

TEST(Text, no_share_is_less_than_nothing_by_rounding) {
  EXPECT_EQ(percent(-1e-16), "0.0%");
  EXPECT_EQ(percent(-0.0), "0.0%");
  EXPECT_EQ(percent(-0.001), "-0.1%");
}

TEST(Text, significant_digits_group_thousands_without_an_exponent) {
  EXPECT_EQ(significant(1234567.8, 4), "1,234,568");
  EXPECT_EQ(significant(12.3456, 4), "12.35");
  EXPECT_EQ(significant(0.00123456, 3), "0.00123");
  EXPECT_EQ(significant(-4321, 2), "-4,321");
  EXPECT_EQ(significant(0, 4), "0");
}

TEST(Text, exact_seconds_show_every_picosecond) {
  EXPECT_EQ(exact_seconds({1}), "0.000000000001");
  EXPECT_EQ(exact_seconds({12'345'678'901'234}), "12.345678901234");
  EXPECT_EQ(exact_seconds({-1'500'000'000'000}), "-1.500000000000");
}

TEST(Text, the_shortest_form_reads_back_as_the_same_number) {
  for (const double value : {0.1, 1.0 / 3, 6.02e23, 1e-300})
    EXPECT_EQ(std::strtod(shortest(value).c_str(), nullptr), value);
  EXPECT_EQ(shortest(0.1), "0.1");
}

TEST(Text, binary_units_are_powers_of_1024) {
  EXPECT_EQ(binary_bytes({512}), "512 B");
  EXPECT_EQ(binary_bytes({64.0 * 1024 * 1024}), "64.0 MiB");
}

// A cell without its quotes, as RFC 4180 has them.
std::string read_back(const std::string& cell) {
  if (!cell.starts_with('"')) return cell;
  std::string text;
  for (std::size_t i = 1; i + 1 < cell.size(); ++i) {
    text += cell[i];
    if (cell[i] == '"') ++i;
  }
  return text;
}

TEST(CsvText, a_cell_reads_back_as_its_text_with_an_apostrophe_before_what_would_be_a_formula) {
  for (const std::string text : {"", "a", "a,b", "a \"b\"", "\"", "a\nb", "a\rb", "a=b"}) {
    EXPECT_EQ(read_back(csv_text_cell(text)), text);
    EXPECT_EQ(read_back(quoted_csv_text(text)), text);
    for (const char sign : std::string("=+-@\t\r")) {
      const std::string formula = sign + text;
      EXPECT_EQ(read_back(csv_text_cell(formula)), "'" + formula);
      EXPECT_EQ(quoted_csv_text(formula).front(), '"');
    }
  }
}

TEST(Align, first_column_is_left_and_the_others_right_aligned) {
  EXPECT_EQ(align({{"a", "1"}, {"long", "22"}}), "a      1\nlong  22\n");
}

TEST(Align, short_rows_leave_no_trailing_blanks) {
  EXPECT_EQ(align({{"head"}, {"x", "12"}}), "head\nx     12\n");
}

TEST(Text, of_shares_says_their_sign_and_hundredths_of_a_percent_where_these_count) {
  EXPECT_EQ(signed_percent(0.0123), "+1.2");
  EXPECT_EQ(signed_percent(-0.5), "-50.0");
  EXPECT_EQ(signed_percent(0), "+0.0");
  EXPECT_EQ(hundredths(0.98765), "98.77%");
}

}  // namespace
}  // namespace podsim::text_test
