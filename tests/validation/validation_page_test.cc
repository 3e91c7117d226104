// docs/evidence/validation.md tells of every run of the shipped tables, and its sections are what they say.
#include "tests/validation/validation_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "proto/text/csv_table.h"

namespace podsim::testing::validation_page_test {
namespace {

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(PODSIM_SOURCE_DIR "/" + path).rdbuf();
  return text.str();
}

PageRow made(const std::string& id, const std::string& family, double measured_s, double predicted_s) {
  PageRow row;
  row.predicted.run.id = id;
  row.predicted.run.family = family;
  row.predicted.run.chip = "h100";
  row.predicted.run.architecture = "dense";
  row.predicted.run.measured_s = measured_s;
  row.predicted.run.assumptions = {"assumed of " + family};
  row.predicted.report.step_time = Time::seconds(predicted_s);
  row.predicted.report.memory.fits = true;
  row.predicted.report.band =
      StepTimeBand{Time::seconds(0.9 * predicted_s), Time::seconds(1.1 * predicted_s), "same chip", 40};
  return row;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ValidationPage, lists_every_run_of_the_tables) {
  const std::string page = read("docs/evidence/validation.md");
  for (const char* file : {"gpu_runs", "tpu_runs"}) {
    const RunTable table = read_run_table(file, read(std::string("scenarios/measurements/") + file + ".csv"));
    ASSERT_GT(table.rows.size(), 90u);
    for (const RunRow& row : table.rows)
      EXPECT_TRUE(has(page, "\n| " + row.text("id") + " | " + row.text("family") + " | "))
          << row.text("id") << ": run tests/validation/update";
  }
}

TEST(ValidationPage, begins_with_software_that_the_catalogue_does_not_know) {
  const std::string page = read("docs/evidence/validation.md");
  const std::string section = new_software_section(builtin_new_stack_residuals(), builtin_residuals());
  EXPECT_TRUE(has(page, section)) << "run tests/validation/update; it must have\n" << section;
  EXPECT_LT(page.find("## Software that"), page.find("## In short"));
}

TEST(ValidationPage, known_causes_are_of_families_and_runs_of_the_tables) {
  std::set<std::string> known;
  for (const char* file : {"gpu_runs", "tpu_runs"})
    for (const RunRow& row :
         read_run_table(file, read(std::string("scenarios/measurements/") + file + ".csv")).rows) {
      known.insert(row.text("family") + "/");
      known.insert(row.text("family") + "/" + row.text("id"));
    }
  CsvTable causes("known_causes.csv", read("scenarios/measurements/known_causes.csv"));
  EXPECT_TRUE(causes.problems().empty());
  for (const CsvRow& row : causes.rows())
    EXPECT_EQ(known.count(causes.cell(row, "family").text + "/" + causes.cell(row, "id").text), 1u)
        << "line " << row.line;
}

TEST(ValidationPage, runs_are_listed_worst_first_with_band_and_assumptions) {
  PageInput input;
  input.rows = {made("a", "f", 1, 1.05), made("b", "g", 1, 0.5), made("c", "f", 1, 1.25)};
  input.causes = {{"g", "", "of the family"}, {"f", "c", "of the row"}};
  const std::string page = validation_page(input);
  const std::size_t a = page.find("\n| a | f |"), b = page.find("\n| b | g |  |"),
                    c = page.find("\n| c | f |  |");
  ASSERT_NE(a, std::string::npos) << page;
  EXPECT_LT(b, c);
  EXPECT_LT(c, a);
  EXPECT_TRUE(has(page, "| 0.9450 to 1.155 |  |  | 2 |")) << page;
  EXPECT_TRUE(has(page, "| -50.0 | 0.4500 to 0.5500 | outside |  | 1 |")) << page;
  EXPECT_TRUE(has(page, "| g | of the family | 1 | 50.0 | -50.0 |"));
  EXPECT_TRUE(has(page, "| b | g | as its family | -50.0 |  |"));
  EXPECT_TRUE(has(page, "| c | f | of the row | +25.0 |  |"));
  EXPECT_TRUE(has(page, "| all | 3 | 26.7 | 25.0 | 50.0 | 50.0 | -6.7 | 33 | 0 | 32.5 |")) << page;
}

TEST(ValidationPage, unseen_errors_are_told_beside_those_of_the_chip_left_out) {
  PageInput input;
  input.rows = {made("a", "f", 1, 1.0), made("b", "g", 1, 1.0)};
  input.rows[0].group_left_out = Unseen{0.1, true};
  input.rows[0].chip_left_out = Unseen{-0.2, false};
  input.rows[0].predicted.run.ready = true;
  const std::string page = validation_page(input);
  EXPECT_TRUE(
      has(page,
          "| GPU runs whose layout is stated | 1 | 10.0 | 10.0 | 10.0 | 10.0 | +10.0 | 100 | 0 | 10.0 | "
          "20.0 | 20.0 | -20.0 | 0 |"))
      << page;
}

TEST(ValidationPage, a_run_whose_layout_does_not_fit_is_marked_and_counted_wherever_it_stands) {
  PageInput input;
  input.rows = {made("a", "f", 1, 1.05), made("b", "g", 1, 0.5)};
  for (PageRow& row : input.rows) row.group_left_out = row.chip_left_out = Unseen{0.1, true};
  input.rows[1].predicted.report.memory.fits = false;
  const std::string page = validation_page(input);
  EXPECT_TRUE(has(page, "| all | 2 | 27.5 | 27.5 | 50.0 | 50.0 | -22.5 | 50 | 1 | 27.5 |")) << page;
  EXPECT_TRUE(has(page, "| all | 2 | 10.0 | 10.0 | 10.0 | 10.0 | +10.0 | 100 | 1 | 10.0 |")) << page;
  EXPECT_TRUE(has(page, "| g | 1 | 50.0 | 50.0 | 50.0 | 50.0 | -50.0 | 0 | 1 |")) << page;
  EXPECT_TRUE(has(page, "| b | g | not known | -50.0 | NO |")) << page;
  EXPECT_TRUE(has(page, "| outside | NO |")) << page;
}

TEST(ValidationPage, a_stated_layout_with_other_assumptions_is_not_counted_as_stated_in_full) {
  PageInput input;
  input.rows = {made("a", "f", 1, 1.1), made("b", "g", 1, 1.2)};
  for (PageRow& row : input.rows) row.predicted.run.ready = true;
  input.rows[0].predicted.run.assumptions.clear();
  const std::string page = validation_page(input);
  EXPECT_TRUE(has(page, "| GPU runs whose layout is stated | 2 | 15.0 |")) << page;
  EXPECT_TRUE(has(page, "| of these, stated in full | 1 | 10.0 |")) << page;
  EXPECT_TRUE(has(page, "| of these, with other assumptions | 1 | 20.0 |")) << page;
}

TEST(ValidationPage, a_section_of_tables_that_are_not_at_hand_is_kept) {
  PageInput input;
  input.rows = {made("a", "f", 1, 1.05)};
  input.own_tables = own_tables_section({{"mine", {made("x", "y", 1, 1.2).predicted}}});
  EXPECT_TRUE(has(input.own_tables, "| mine | 1 | 20.0 |"));
  EXPECT_EQ(own_tables_section(validation_page(input)), input.own_tables);
  EXPECT_EQ(own_tables_section(std::string("no such section")), "");
}

}  // namespace
}  // namespace podsim::testing::validation_page_test
