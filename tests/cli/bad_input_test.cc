// What a user can do wrong on the command line: exit code 2, a message that helps, nothing on standard
// output.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/command.h"

namespace podsim::bad_input_test {
namespace {

// The command fails with exit code 2 and says `words` on standard error.
void expect_refused(const std::string& arguments, const std::string& words) {
  const CommandResult result = podsim_command(arguments);
  EXPECT_EQ(result.exit_code, 2) << arguments;
  EXPECT_NE(result.err.find(words), std::string::npos) << arguments << "\n" << result.err;
  EXPECT_EQ(result.out, "") << arguments;
}

TEST(BadInput, an_unknown_verb_suggests_the_nearest) {
  expect_refused("rnu x.textproto", "unknown verb \"rnu\"; did you mean \"run\"?");
}

TEST(BadInput, an_unknown_option_suggests_the_nearest) {
  expect_refused("run --fromat json " + small_scenario(),
                 "unknown option \"--fromat\"; did you mean \"--format\"?");
  expect_refused("scale --chip 64 " + small_scenario(), "did you mean \"--chips\"?");
}

TEST(BadInput, no_verb_prints_the_help) {
  const CommandResult result = podsim_command("");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.out.find("compare"), std::string::npos);
}

TEST(BadInput, seeds_out_of_range_are_refused) {
  expect_refused("run --seeds 0 " + small_scenario(), "seeds must be from 1 to 100,000, not 0");
  expect_refused("run --seeds many " + small_scenario(), "--seeds");
}

TEST(BadInput, a_missing_file_is_named) {
  expect_refused("run no_such_file.textproto", "no_such_file.textproto");
}

TEST(BadInput, an_unknown_field_is_located) {
  const std::string file = temporary_file("typo.textproto", "name: \"x\"\nclustre { chip: \"h100\" }\n");
  expect_refused("run " + file, "typo.textproto:2:");
  expect_refused("check " + file, "typo.textproto:2:");
}

// Refused within a second and 256 MiB, whatever the bytes.
void expect_refused_fast(const std::string& name, const std::string& content, const std::string& words) {
  const CommandResult result = limited_podsim_command("run " + temporary_file(name, content));
  EXPECT_EQ(result.exit_code, 2) << name << "\n" << result.err.substr(0, 2000);
  EXPECT_NE(result.err.find(words), std::string::npos) << name << "\n" << result.err.substr(0, 2000);
  EXPECT_EQ(result.out, "") << name;
}

TEST(BadInput, hostile_files_are_refused_fast_and_small) {
  std::string garbage;
  for (unsigned i = 0; i < 100'000; ++i) garbage += static_cast<char>((i * 2654435761u) >> 13);
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "job { ";
  expect_refused_fast("garbage.textproto", garbage, "garbage.textproto");
  expect_refused_fast("deep.textproto", deep, "deep.textproto");
  expect_refused_fast("deep.json", std::string(10'000, '['), "deep.json");
  expect_refused_fast("huge.textproto", std::string(64 << 20, '#'), "huge.textproto");
}

TEST(BadInput, a_billion_chips_are_refused_fast_and_small) {
  std::string text = read_file(small_scenario());
  text.replace(text.find("chips: 16"), 9, "chips: 1000000000");
  text.replace(text.find("size: 16"), 8, "size: 1000000000");
  expect_refused_fast("billion.textproto", text, "billion.textproto:3:");
}

TEST(BadInput, each_of_more_chips_than_can_be_listed_is_not_looked_at) {
  const std::string many =
      " --set cluster.chips=16777216 --set \"job.mesh[0].size=rest\" --set "
      "job.global_batch_sequences=16777216";
  expect_refused("run " + small_scenario() + many + " --fold off", "podsim at 1000000 at most");
  expect_refused("draw " + small_scenario() + many, "podsim at 1000000 at most");
}

TEST(BadInput, memory_that_does_not_suffice_is_said) {
  const CommandResult result = podsim_command_within(128, "draw --fabric dgx_h100 --chips 999936");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err, "podsim: critical: out of memory\n");
}

TEST(BadInput, one_bad_file_among_good_ones_runs_nothing) {
  const std::string good = small_scenario();
  expect_refused("run --format json " + good + " " + temporary_file("empty.textproto", ""),
                 "empty.textproto");
}

TEST(BadInput, unknown_formats_stages_and_values_are_refused) {
  expect_refused("run --format yaml " + small_scenario(), "yaml");
  expect_refused("run --dump soup " + small_scenario(), "soup");
  expect_refused("run --fold maybe " + small_scenario(), "maybe");
  expect_refused("run --steady maybe " + small_scenario(), "maybe");
  expect_refused("run --threads -1 " + small_scenario(), "--threads");
  expect_refused("run --seed pear " + small_scenario(), "pear");
}

TEST(BadInput, pictures_stages_and_formats_exclude_each_other) {
  for (const char* both :
       {"--svg links --format json", "--dump plan --format csv", "--dump plan --svg links"})
    expect_refused(std::string("run ") + both + " " + small_scenario(), "excludes");
  expect_refused("scale --chips 8,16 --svg --format json " + small_scenario(), "excludes");
}

TEST(BadInput, set_without_value_or_with_an_unknown_path_is_refused) {
  expect_refused("run --set chips " + small_scenario(), "expected path=value");
  expect_refused("run --set job.global_batch=1 " + small_scenario(), "global_batch");
}

TEST(BadInput, compare_needs_two) { expect_refused("compare " + small_scenario(), "at least two"); }

TEST(BadInput, ranges_that_are_none_are_explained) {
  expect_refused("scale --chips many " + small_scenario(), "64..4096x2");
  expect_refused("collective --fabric dgx_h100 --chips 16 --bytes lots", "1MiB..16GiB");
  expect_refused("collective --fabric dgx_h100 --chips 16 --group 0..16", "chip 16 is not in the fabric");
  expect_refused("collective --fabric dgx_h100 --chips 16 --group 1,1", "named twice");
  expect_refused("collective --fabric v5p_pod --shape 8by8", "8x8x8");
}

TEST(BadInput, networks_that_cannot_be_are_refused) {
  expect_refused("collective --fabric dgx_h1000 --chips 16", "dgx_h100");
  expect_refused("collective --fabric v5p_pod --shape 5x5x5", "multiple");
  expect_refused("collective --fabric dgx_h100 --chips 1000000000", "1000000000");
  expect_refused("collective --fabric dgx_h100 --chips 16 --kind all-rdeuce", "all-rdeuce");
  expect_refused("draw", "--fabric");
}

TEST(BadInput, an_algorithm_that_does_not_apply_is_said) {
  expect_refused("collective --fabric dgx_h100 --chips 64 --algorithm nvls --bytes 1MiB", "does not apply");
  expect_refused("collective --fabric dgx_h100 --chips 64 --algorithm tree --bytes 1MiB --fidelity stepwise",
                 "take --fidelity fluid");
  expect_refused("collective --fabric dgx_h100 --chips 64 --transport roce", "rocev2");
  expect_refused("flows --transport roce scenarios/flows/c01_torus444_perm_dor.json", "rocev2");
}

TEST(BadInput, an_unknown_entry_of_the_catalogue_suggests_the_nearest) {
  expect_refused("catalog chips h10", "of this family it has: h100, h100_500w, h100_pcie, h20, h200, h800");
  expect_refused("catalog fabrics dxg_h200", "did you mean \"dgx_h200\"?");
  expect_refused("catalog chip", "chips");
}

TEST(BadInput, a_folder_that_cannot_be_read_as_catalogue_is_refused) {
  expect_refused("run --catalog no_such_folder " + small_scenario(), "no_such_folder");
}

TEST(BadInput, a_file_that_cannot_be_written_is_a_failure_of_the_run) {
  const CommandResult result = podsim_command("run --out no/such/folder/report.txt " + small_scenario());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("no/such/folder/report.txt"), std::string::npos);
}

TEST(BadInput, a_job_that_does_not_fit_prints_its_report_and_exits_with_2) {
  const std::string too_big =
      "--set job.microbatch_sequences=2 --set job.recompute=none --set job.sequence_tokens=65536 ";
  const CommandResult table = podsim_command("run " + too_big + small_scenario());
  EXPECT_EQ(table.exit_code, 2);
  EXPECT_NE(table.out.find("does not fit: a chip of stage 0 needs"), std::string::npos) << table.out;
  EXPECT_NE(table.err.find("small does not fit"), std::string::npos);
  const CommandResult json = podsim_command("run --format json " + too_big + small_scenario());
  EXPECT_EQ(json.exit_code, 2);
  EXPECT_EQ(json.out[0], '{');
  EXPECT_NE(json.err.find("What would make it fit"), std::string::npos);
}

}  // namespace
}  // namespace podsim::bad_input_test
