// The catalogue: built-in entries, added folders, networks for the verbs that need no job.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "proto/catalog/chip_prices.h"
#include "proto/scenario/chosen_fabric.h"
#include "tests/proto/scenario.h"

namespace podsim::catalog_test {
namespace {

namespace fs = std::filesystem;
using Section = Catalog::Section;

constexpr Section kSections[] = {Section::kChips,    Section::kFabrics,  Section::kModels,
                                 Section::kStacks,   Section::kPrices,   Section::kTransports,
                                 Section::kFailures, Section::kJitters,  Section::kLengths,
                                 Section::kKernels,  Section::kLibraries};

fs::path fresh_folder(const std::string& name) {
  const fs::path path = fs::path(::testing::TempDir()) / name;
  fs::remove_all(path);
  fs::create_directories(path);
  return path;
}

TEST(Catalog, holds_every_file_of_the_source_tree_with_sources) {
  Catalog catalog;
  for (const char* folder : {"chips", "fabrics", "models", "stacks", "prices", "transports", "failures",
                             "jitters", "lengths", "kernels", "libraries"}) {
    const std::string path = std::string(PODSIM_SOURCE_DIR) + "/scenarios/" + folder;
    Lines problems;
    for (const Problem& problem : catalog.add_directory(path)) problems.push_back(format_problem(problem));
    EXPECT_EQ(problems, Lines{}) << path;
  }
  for (const Section section : kSections) EXPECT_EQ(catalog.names(section), built_in().names(section));
}

// What the binary holds is read without the checks that what is added goes through.
TEST(Catalog, an_entry_of_the_binary_has_the_numbers_and_the_text_of_the_same_file_read_with_all_checks) {
  for (const Section section : kSections)
    for (const std::string& name : built_in().names(section)) {
      const fs::path folder = fresh_folder("podsim_checked");
      std::ofstream(folder / "entry.textproto") << *built_in().text(section, name);
      Catalog catalog;
      ASSERT_TRUE(catalog.add_directory(folder.string()).empty()) << name;
      EXPECT_EQ(catalog.numbers(section, name), built_in().numbers(section, name)) << name;
      EXPECT_EQ(catalog.text(section, name), built_in().text(section, name)) << name;
    }
}

TEST(Catalog, names_are_sorted_and_each_has_a_text) {
  for (const Section section : kSections) {
    const auto names = built_in().names(section);
    ASSERT_FALSE(names.empty());
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
    for (const std::string& name : names) {
      const auto text = built_in().text(section, name);
      ASSERT_TRUE(text.has_value()) << name;
      EXPECT_NE(text->find("name: \"" + name + "\""), std::string::npos) << *text;
    }
    EXPECT_FALSE(built_in().text(section, "no such name").has_value());
  }
}

TEST(Catalog, every_pair_of_a_chip_and_its_fabric_loads) {
  const auto fabrics = built_in().names(Section::kFabrics);
  for (const std::string& fabric : fabrics) {
    const int chips = fabric.rfind("nvl72", 0) == 0 ? 144 : 64;
    const auto [spec, problems] = chosen_fabric(built_in(), {fabric, chips, {}, 1, false});
    EXPECT_TRUE(problems.empty()) << fabric << ": " << format_problem(problems.front());
    ASSERT_TRUE(spec.has_value());
    EXPECT_EQ(spec->chips, chips);
  }
}

TEST(Catalog, every_model_has_a_text_that_loads_on_its_own) {
  const fs::path folder = fresh_folder("podsim_model");
  for (const std::string& name : built_in().names(Section::kModels)) {
    std::ofstream(folder / "entry.textproto") << *built_in().text(Section::kModels, name);
    Catalog catalog;
    EXPECT_TRUE(catalog.add_directory(folder.string()).empty()) << name;
  }
}

TEST(Catalog, an_entry_is_cut_out_of_its_file_with_its_comments) {
  const fs::path folder = fresh_folder("podsim_cut");
  std::ofstream(folder / "two.textproto")
      << "# The file.\n\n# First.\nstack { name: \"one\" attention_kernel: \"flash2\" }\n\n"
         "# Second, with a source.\nstack {\n  name: \"two\"  # here\n"
         "  attention_kernel: \"flash2\"\n}\n";
  Catalog catalog;
  ASSERT_TRUE(catalog.add_directory(folder.string()).empty());
  EXPECT_EQ(*catalog.text(Section::kStacks, "one"),
            "# First.\nstack { name: \"one\" attention_kernel: \"flash2\" }\n");
  EXPECT_EQ(
      *catalog.text(Section::kStacks, "two"),
      "# Second, with a source.\nstack {\n  name: \"two\"  # here\n  attention_kernel: \"flash2\"\n}\n");
}

TEST(Catalog, a_folder_adds_and_replaces_entries) {
  const fs::path folder = fresh_folder("podsim_add");
  std::ofstream(folder / "mine.textproto") << R"(
stack { name: "mine" attention_kernel: "flash2" gemm_factor: 0.5 }
model { name: "llama3_70b" layers: 2 d_model: 128 heads: 64 head_dim: 2 kv_heads: 8 ffn: 256 vocabulary: 1024 }
)";
  Catalog catalog;
  ASSERT_TRUE(catalog.add_directory(folder.string()).empty());
  const auto result = load_scenario("job.textproto", valid_but("megatron_bridge_2025", "mine"), catalog, {});
  ASSERT_EQ(problems_of(result), Lines{});
  EXPECT_EQ(result.spec->job.stack.gemm_factor, 0.5);
  EXPECT_EQ(result.spec->job.model.layers, 2);
}

TEST(Catalog, an_entry_that_is_asked_for_alone_is_the_one_among_all) {
  for (const Section section : kSections) {
    const Catalog one_by_one;
    for (const std::string& name : built_in().names(section)) {
      EXPECT_EQ(one_by_one.text(section, name), built_in().text(section, name));
      EXPECT_EQ(one_by_one.numbers(section, name), built_in().numbers(section, name));
    }
    EXPECT_EQ(one_by_one.names(section), built_in().names(section));
  }
}

TEST(Catalog, an_entry_that_was_replaced_or_changed_stays_so_when_all_are_read) {
  const fs::path folder = fresh_folder("podsim_replace");
  std::ofstream(folder / "mine.textproto") << *built_in().text(Section::kChips, "h100") << "# Mine.\n";
  Catalog catalog;
  ASSERT_TRUE(catalog.add_directory(folder.string()).empty());
  ASSERT_TRUE(catalog.set_number(Section::kChips, "h200", "hbm_efficiency", 0.5));
  EXPECT_EQ(catalog.names(Section::kChips), built_in().names(Section::kChips));
  EXPECT_EQ(catalog.text(Section::kChips, "h100"), *built_in().text(Section::kChips, "h100") + "# Mine.\n");
  EXPECT_EQ(catalog.number(Section::kChips, "h200", "hbm_efficiency"), 0.5);
}

TEST(Catalog, several_threads_may_ask_at_once) {
  const Catalog catalog;
  std::vector<std::thread> threads;
  std::array<Lines, 4> texts;
  for (Lines& mine : texts)
    threads.emplace_back([&] {
      for (const Section section : kSections)
        for (const std::string& name : built_in().names(section))
          mine.push_back(*catalog.text(section, name));
    });
  for (std::thread& thread : threads) thread.join();
  for (const Lines& mine : texts) EXPECT_EQ(mine, texts.front());
  EXPECT_EQ(texts.front().front(),
            built_in().text(Section::kChips, built_in().names(Section::kChips).front()));
}

TEST(Catalog, a_file_with_problems_adds_nothing) {
  const fs::path folder = fresh_folder("podsim_bad");
  std::ofstream(folder / "bad.textproto")
      << "stack { name: \"good\" attention_kernel: \"flash2\" }\n"
         "stack { name: \"bad\" gemm_factor: 20 atention_kernel: \"flash2\" }\n";
  Catalog catalog;
  const auto problems = catalog.add_directory(folder.string());
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].file, (folder / "bad.textproto").string());
  EXPECT_EQ(problems[0].message, "stack[1].gemm_factor must be from 0.001 to 10, not 20");
  EXPECT_EQ(problems[1].message, "unknown field \"atention_kernel\" in stack[1]");
  EXPECT_EQ(catalog.names(Section::kStacks), built_in().names(Section::kStacks));
}

TEST(Prices, ranges_hold_the_point_and_longer_contracts_cost_less) {
  std::map<std::pair<std::string, std::string>, double> first;  // of a chip and term
  for (const PriceRow& row : price_rows(built_in())) {
    EXPECT_LE(row.low, row.usd_per_chip_hour) << row.chip << " " << row.term;
    EXPECT_GE(row.high, row.usd_per_chip_hour) << row.chip << " " << row.term;
    EXPECT_TRUE(built_in().canonical(Section::kChips, row.chip)) << row.chip;
    first.try_emplace({row.chip, row.term}, row.usd_per_chip_hour);
  }
  for (const auto& [key, usd] : first) {
    if (key.second != "on_demand") continue;
    const std::string& chip = key.first;
    EXPECT_LT((first.at({chip, "committed_3y"})), (first.at({chip, "committed_1y"}))) << chip;
    EXPECT_LT((first.at({chip, "committed_1y"})), usd) << chip;
    EXPECT_LT((first.at({chip, "spot"})), usd) << chip;
  }
  // The same GPU with a faster host and network does not cost less.
  EXPECT_GT((first.at({"gb200", "on_demand"})), (first.at({"b200", "on_demand"})));
  EXPECT_GT((first.at({"gb300", "on_demand"})), (first.at({"b300", "on_demand"})));
}

TEST(Prices, names_of_slices_count_cores_up_to_v5p_and_chips_after) {
  const auto slice = [](const std::string& name) {
    const auto found = named_slice(built_in(), name);
    return found ? std::to_string(found->chips) + " " + found->chip : "none";
  };
  EXPECT_EQ(slice("v5p-8"), "4 tpu_v5p");
  EXPECT_EQ(slice("v4-512"), "256 tpu_v4");
  EXPECT_EQ(slice("v6e-8"), "8 tpu_v6e");
  EXPECT_EQ(slice("v5litepod-256"), "256 tpu_v5e");
  for (const char* name : {"v5p-7", "v5p-0", "v5p-", "v5p-8x", "v9-8", "h100"})
    EXPECT_EQ(slice(name), "none");
}

TEST(Prices, a_sheet_of_a_users_own_is_a_price_list) {
  const fs::path folder = fresh_folder("podsim_sheet");
  std::ofstream(folder / "ours.csv") << "chip,term,usd_per_chip_hour,kind,minimum_days,provider\n"
                                        "h100,deal,1.75,commitment,90,\"our \"\"own\"\"\"\n";
  std::ofstream(folder / "steps.csv") << "step,seconds\n1,2\n";
  Catalog catalog;
  const auto problems = catalog.add_directory(folder.string());
  for (const Problem& problem : problems) ADD_FAILURE() << format_problem(problem);
  const auto loaded = load_scenario(
      "own", valid_but("chips: 512", "chips: 512 prices: \"ours\" price_term: \"deal\""), catalog, {});
  ASSERT_TRUE(loaded.spec.has_value());
  const Price& price = loaded.spec->cluster.price;
  EXPECT_EQ(price.usd_per_chip_hour, 1.75);
  EXPECT_EQ(price.kind, ContractKind::kCommitment);
  EXPECT_EQ(price.minimum_days, 90);
  EXPECT_EQ(price.provider, "our \"own\"");
  const auto usual = load_scenario("usual", valid_but("chips: 512", "chips: 512"), catalog, {});
  ASSERT_TRUE(usual.spec.has_value());
  EXPECT_EQ(price.pue, usual.spec->cluster.price.pue) << "it has prices of chips alone";
  EXPECT_EQ(price.egress_usd_per_gb, usual.spec->cluster.price.egress_usd_per_gb);
}

TEST(Prices, what_is_wrong_in_a_sheet_is_told_with_its_place) {
  const fs::path folder = fresh_folder("podsim_bad_sheet");
  std::ofstream(folder / "ours.csv") << "chip,term,usd_per_chip_hour,kind\n"
                                        "h100,deal,cheap,spott\n"
                                        ",deal,2,spot\n";
  Catalog catalog;
  const auto problems = catalog.add_directory(folder.string());
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0].line, 2);
  EXPECT_EQ(problems[1].hint, "did you mean \"spot\"?");
  EXPECT_EQ(problems[2].message, "the row has no chip");
  EXPECT_EQ(problems[2].line, 3);
}

// As many years of 365 days as the term says.
TEST(Prices, a_commitment_of_any_number_of_years_is_paid_for_all_of_them) {
  const fs::path folder = fresh_folder("podsim_years");
  std::ofstream(folder / "ours.csv") << "chip,term,usd_per_chip_hour\n"
                                        "h100,committed_1y,2\nh100,committed_2y,2\nh100,committed_5y,2\n";
  Catalog catalog;
  ASSERT_TRUE(catalog.add_directory(folder.string()).empty());
  for (const int years : {1, 2, 5}) {
    const std::string term = "committed_" + std::to_string(years) + "y";
    const auto loaded = load_scenario(
        "own", valid_but("chips: 512", "chips: 512 prices: \"ours\" price_term: \"" + term + "\""), catalog,
        {});
    ASSERT_TRUE(loaded.spec.has_value());
    EXPECT_EQ(loaded.spec->cluster.price.minimum_days, 365.0 * years);
    EXPECT_EQ(loaded.spec->cluster.price.kind, ContractKind::kCommitment);
  }
}

TEST(Prices, a_commitment_without_a_length_is_refused_at_its_place) {
  const fs::path folder = fresh_folder("podsim_no_length");
  std::ofstream(folder / "ours.csv") << "chip,term,usd_per_chip_hour,kind,minimum_days\n"
                                        "h100,committed_1y,2,,\n"
                                        "h100,committed,2,,\n"
                                        "h100,committed_0y,2,,\n"
                                        "h100,committed_101y,2,,\n"
                                        "h100,deal,2,commitment,\n"
                                        "h100,deal_of_no_days,2,commitment,0\n"
                                        "h100,reserved,2,reservation,\n";
  std::ofstream(folder / "theirs.textproto") << "prices {\n  name: \"theirs\" pue: 1.2\n"
                                                "  price { chip: \"h100\" term: \"committed\" "
                                                "usd_per_chip_hour: 2 date: \"2026-01\" source: \"x\" }\n"
                                                "}\n";
  Catalog catalog;
  const auto problems = catalog.add_directory(folder.string());
  ASSERT_EQ(problems.size(), 6u);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    EXPECT_EQ(problems[i].line, static_cast<int>(i) + (i == 0 ? 3 : 2));  // sheets after all other files
    EXPECT_EQ(problems[i].message, "a commitment says how many days it binds");
    EXPECT_NE(problems[i].hint.find("committed_1y to committed_100y"), std::string::npos) << problems[i].hint;
  }
}

TEST(Catalog, a_folder_that_is_not_there_is_a_problem) {
  Catalog catalog;
  ASSERT_EQ(catalog.add_directory("no/such/folder").size(), 1u);
  EXPECT_EQ(catalog.add_directory("no/such/folder")[0].message,
            "cannot read the directory: No such file or directory");
  EXPECT_EQ(catalog.add_directory(fresh_folder("podsim_empty").string())[0].message,
            "the directory has no *.textproto file");
}

Lines problems_with(const FabricChoice& choice) {
  const auto [spec, problems] = chosen_fabric(built_in(), choice);
  EXPECT_EQ(spec.has_value(), problems.empty());
  LoadResult result;
  result.problems = problems;
  if (spec) result.spec.emplace();
  return problems_of(result);
}

TEST(FabricChoice, makes_a_network_without_a_job) {
  const auto [spec, problems] = chosen_fabric(built_in(), {"v5p_pod", 0, {4, 4, 8}, 2, true});
  ASSERT_TRUE(problems.empty());
  EXPECT_EQ(spec->chips, 256);
  EXPECT_TRUE(spec->torus->twisted);
  EXPECT_EQ(problems_with({"dgx_h100", 64, {}, 1, false}), Lines{});
}

TEST(FabricChoice, problems_name_the_flag) {
  EXPECT_EQ(problems_with({"v5_pod", 64, {}, 1, false}),
            Lines{"--fabric the catalogue has no fabric \"v5_pod\" | did you mean \"v5e_pod\"?"});
  EXPECT_EQ(
      problems_with({"v5p_pod", 500, {}, 1, false}),
      Lines{"--chips v5p_pod cannot make a slice of 500 chips | a slice of 448 or 512 chips is possible"});
  EXPECT_EQ(problems_with({"v5p_pod", 0, {4, 4, 5}, 1, false}).size(), 1u);
  EXPECT_EQ(problems_with({"dgx_h100", -8, {}, 1, false}),
            Lines{"--chips chips must be from 1 to 16,777,216, not -8"});
  EXPECT_EQ(problems_with({"dgx_h100", 0, {}, 1, false}),
            Lines{"--chips chips is missing | write, for example, chips: 512"});
  EXPECT_EQ(problems_with({"dgx_h100", 64, {}, 2, false}),
            Lines{"--slices slices is for tori, and dgx_h100 is a GPU cluster | leave it out"});
}

}  // namespace
}  // namespace podsim::catalog_test
