// What a job is told about its axes on the cluster.
#include <gtest/gtest.h>

#include "tests/proto/scenario.h"

namespace podsim::parallelism_test {
namespace {

Lines warnings_of(const std::string& text) {
  const auto result = load(text);
  EXPECT_EQ(problems_of(result), Lines{});
  Lines lines;
  for (const Problem& warning : result.warnings) lines.push_back(warning.message + " | " + warning.hint);
  return lines;
}

// 512 H100 in domains of 8.
std::string on_mesh(const std::string& outer, const std::string& inner) {
  return replaced(valid_but("mesh { name: \"fsdp\" size: 128 }", outer), "mesh { name: \"tensor\" size: 4 }",
                  inner);
}

TEST(AxesBeyondNvlink, are_told_with_what_a_byte_costs_there) {
  const std::string fsdp = "mesh { name: \"fsdp\" size: 64 }", tensor = "mesh { name: \"tensor\" size: 8 }";
  EXPECT_EQ(warnings_of(on_mesh(fsdp, tensor)), Lines{});
  const Lines inside_out = warnings_of(on_mesh(tensor, fsdp));
  ASSERT_EQ(inside_out.size(), 1u);
  EXPECT_EQ(inside_out[0].substr(0, inside_out[0].find(" | ")),
            "matmuls are cut over mesh axis \"tensor\", whose groups reach over 512 GPUs, and an NVLink "
            "domain has 8");
  const Lines wide =
      warnings_of(on_mesh("mesh { name: \"fsdp\" size: 32 }", "mesh { name: \"tensor\" size: 16 }"));
  ASSERT_EQ(wide.size(), 1u);
  EXPECT_NE(wide[0].find("reach over 16 GPUs"), std::string::npos) << wide[0];
  EXPECT_NE(wide[0].find("times as long; make the axis smaller or list it last"), std::string::npos)
      << wide[0];
}

TEST(AxesBeyondNvlink, are_no_matter_where_one_domain_holds_the_group) {
  EXPECT_EQ(warnings_of(replaced(
                replaced(on_mesh("mesh { name: \"fsdp\" size: 4 }", "mesh { name: \"tensor\" size: 16 }"),
                         "\"h100\"", "\"gb200\""),
                "chips: 512\n  fabric: \"dgx_h100\"", "chips: 64\n  fabric: \"nvl72_gb200\"")),
            Lines{});
}

}  // namespace
}  // namespace podsim::parallelism_test
