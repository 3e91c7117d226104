// JSON and textproto of every verb begin with who made them and from what.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/command.h"

namespace podsim::header_test {
namespace {

using nlohmann::ordered_json;

const std::string kTrace =
    "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc\n"
    "0,0,0,5,forward-compute,0,1,0,0,0,0\n0,0,0,5,backward-compute,1,2,0,0,0,0\n0,0,0,5,gc,4,0,0,-1,-1,-1\n"
    "0,0,0,5,layernorm-grads-all-reduce,4,0.25,0,-1,-1,-1\n"
    "0,0,0,5,embedding-grads-all-reduce,4,0.25,0,-1,-1,-1\n"
    "0,0,0,5,optimizer-clip-main-grad,4,0.25,0,-1,-1,-1\n0,0,0,5,optimizer,4,0.25,0,-1,-1,-1\n";

ordered_json answer(const std::string& arguments) {
  const CommandResult result = podsim_command(arguments);
  EXPECT_EQ(result.exit_code, 0) << arguments << "\n" << result.err;
  return ordered_json::parse(result.out, nullptr, false);
}

// The version is that of the program; a list begins with it in each element.
void expect_header(const ordered_json& result, const std::string& arguments) {
  if (result.is_array()) {
    for (const ordered_json& one : result) expect_header(one, arguments);
    return;
  }
  ASSERT_TRUE(result.is_object()) << arguments;
  auto field = result.begin();
  EXPECT_EQ(field.key(), "podsim") << arguments;
  EXPECT_EQ(podsim_command("--version").out.rfind("podsim " + field->get<std::string>(), 0), 0u) << arguments;
  EXPECT_EQ((++field).key(), "schema") << arguments;
  EXPECT_EQ(*field, 1) << arguments;
  if (arguments.rfind("catalog", 0) == 0) return;  // nothing was asked
  EXPECT_EQ((++field).key(), "scenario_sha256") << arguments;
  EXPECT_EQ(field->get<std::string>().size(), 64u) << arguments;
}

TEST(ResultHeader, begins_the_json_of_every_verb) {
  const std::string small = small_scenario();
  const std::vector<std::string> commands = {
      "run " + small,
      "run " + small + " " + small,
      "run scenarios/two_jobs_oversubscribed.textproto",
      "compare " + small + " " + small,
      "scale --chips 8,16 " + small,
      "whatif --slow chip:1=0.5x " + small,
      "explain " + small,
      "collective --fabric dgx_h100 --chips 16 --bytes 1MiB",
      "flows scenarios/flows/c01_torus444_perm_dor.json",
      "flows scenarios/flows/c01_torus444_perm_dor.json scenarios/flows/c01_torus444_perm_dor.json",
      "shard scenarios/sharding/fabric_choices.json",
      "replay " + temporary_file("header_trace.csv", kTrace),
      "validate scenarios/measurements/nccl_allreduce.csv --only 1984",
      "validate scenarios/measurements/gpu_runs.csv --only id=g001",
      "validate --suite reliability --only R17",
      "availability scenarios/reliability/v4_pod_slices.textproto",
      "reliability --seeds 2 scenarios/reliability/lemon_nodes_64.textproto",
      "catalog",
  };
  for (const std::string& command : commands) expect_header(answer(command + " --format json"), command);
}

TEST(ResultHeader, begins_every_report_in_text_format) {
  const std::string text = podsim_command("run --format textproto " + small_scenario()).out;
  const std::string head =
      "# proto-file: proto/report.proto\n# proto-message: podsim.schema.RunReport\npodsim: \"";
  EXPECT_EQ(text.rfind(head, 0), 0u) << text.substr(0, 300);
  EXPECT_NE(text.find("\"\nschema: 1\nscenario_sha256: \""), std::string::npos) << text.substr(0, 300);
  EXPECT_EQ(answer("run --format json " + small_scenario())["scenario_sha256"],
            text.substr(text.find("scenario_sha256: \"") + 18, 64));
}

TEST(ResultHeader, tells_questions_apart) {
  const std::string small = small_scenario();
  const auto digest = [](const std::string& arguments) {
    const ordered_json result = answer(arguments + " --format json");
    return (result.is_array() ? result.back() : result)["scenario_sha256"].get<std::string>();
  };
  const std::string asked = digest("run " + small);
  EXPECT_EQ(digest("run --threads 1 --quiet --fold off " + small), asked);
  EXPECT_EQ(digest("scale --chips 8,16 " + small), asked);
  EXPECT_NE(digest("scale --chips 16,8 " + small), asked);
  EXPECT_NE(digest("scale --chips 16,8 --strong " + small), digest("scale --chips 16,8 " + small));
  EXPECT_NE(digest("run --seed 2 " + small), asked);
  EXPECT_NE(digest("whatif --slow chip:1=0.5x " + small), digest("whatif --slow chip:2=0.5x " + small));
  const std::string collective = "collective --fabric dgx_h100 --chips 16 --bytes ";
  EXPECT_NE(digest(collective + "1MiB"), digest(collective + "2MiB"));
  EXPECT_EQ(digest(collective + "1MiB --out /dev/stdout"), digest(collective + "1MiB"));
}

}  // namespace
}  // namespace podsim::header_test
