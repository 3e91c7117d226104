// Commands in parts: whoever does them, lost or twice, the answer is that of one process.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/cli/command.h"

namespace podsim::parts_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string kJob =
    "cluster { chip: \"h100\" chips: 16 fabric: \"dgx_h100\" }\n"
    "job { model: \"llama3_8b\" model_override { layers: 4 } stack: \"megatron_bridge_2025\"\n"
    "  mesh { name: \"data\" size: 16 } sharding: \"data\" sharding: \"zero1\"\n"
    "  global_batch_sequences: 16 microbatch_sequences: 1 sequence_tokens: 2048 precision: bf16 }\n"
    "space { tensor: [1, 2] context: 1 pipeline: [1, 2] microbatch: 1 sharding: zero1 recompute: none }\n";

// A folder of this process with nothing in it but the job.
fs::path new_folder(const std::string& name) {
  const fs::path folder = fs::path(temporary_file(name + ".textproto", kJob)).parent_path() / name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::copy_file(temporary_file(name + ".textproto", kJob), folder / "job.textproto");
  return folder;
}

int shell(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// The one that an engine made beside the store.
fs::path folder_of_parts(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && entry.path().filename().string().rfind("all.db.podsim-", 0) == 0)
      return entry;
  ADD_FAILURE() << "no folder of parts in " << folder;
  return folder;
}

std::string searched_at_once(const fs::path& folder) {
  return podsim_command("search " + (folder / "job.textproto").string() + " --quiet --format csv").out;
}

std::string search_by(const fs::path& folder, const std::string& engine) {
  return "search " + (folder / "job.textproto").string() + " --quiet --format csv --engine " + engine +
         " --store " + (folder / "all.db").string();
}

// Submits the command to an sbatch that takes jobs and does nothing: their scripts are then run by hand.
fs::path submitted_to_slurm(const fs::path& folder, const std::string& command) {
  fs::create_directories(folder / "bin");
  const fs::path sbatch = folder / "bin" / "sbatch";
  EXPECT_EQ(shell("printf '#!/bin/sh\\necho \"$@\" >>" + (folder / "submitted").string() + "\\necho 7\\n' >" +
                  sbatch.string() + " && chmod +x " + sbatch.string()),
            0);
  EXPECT_EQ(shell("PATH=" + (folder / "bin").string() + ":$PATH " PODSIM_BINARY " " + command + " >" +
                  (folder / "told").string()),
            0);
  return folder_of_parts(folder);
}

int run_part(const fs::path& parts, const std::string& job) {
  return shell("SLURM_ARRAY_TASK_ID=" + job + " bash " + (parts / "parts.sh").string() + " >/dev/null 2>&1");
}

TEST(Parts, scripts_for_slurm_give_the_answer_of_one_process_where_jobs_come_twice_or_again) {
  const fs::path folder = new_folder("slurm_scripts");
  const fs::path parts = submitted_to_slurm(folder, search_by(folder, "slurm") + " --parts 3");
  EXPECT_NE(read_file(folder / "told").find("3 parts are the job array 7"), std::string::npos);
  EXPECT_NE(read_file(folder / "submitted").find("--dependency=afterok:7 "), std::string::npos);
  const std::string script = read_file(parts / "parts.sh");
  EXPECT_NE(script.find("#SBATCH --array=1-3\n"), std::string::npos) << script;
  const auto progress = [&] { return podsim_command("store progress " + (folder / "all.db").string()).out; };
  EXPECT_NE(progress().find(": 0 of 3 parts are done, 0 under way\n"), std::string::npos) << progress();
  temporary_file("part-2.progress",
                 "{\"layouts\": 40, \"simulated\": 3, \"best_s\": 0.5, \"bound_s\": 0.45}");
  fs::copy_file(temporary_file("part-1.progress",
                               "{\"layouts\": 20, \"simulated\": 1, \"best_s\": 0.6, \"bound_s\": 0.4}"),
                parts / "part-1.progress");
  fs::copy_file(folder.parent_path() / "part-2.progress", parts / "part-2.progress");
  EXPECT_NE(progress().find("2 under way with 60 layouts, 4 simulated; best step 0.5000 s\n"),
            std::string::npos)
      << progress();
  fs::copy_file(folder.parent_path() / "part-2.progress", parts / "part-3.progress");
  EXPECT_NE(progress().find("best step 0.5000 s, nothing is better by more than 20.0%\n"), std::string::npos)
      << progress();
  for (const char* job : {"1", "3", "2", "3"}) EXPECT_EQ(run_part(parts, job), 0) << job;
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(shell("bash " + (parts / "answer.sh").string() + " >" + (parts / "answer.txt").string() +
                    " 2>" + (parts / "answer.log").string()),
              0)
        << read_file(parts / "answer.log");
    EXPECT_EQ(read_file(parts / "answer.txt"), searched_at_once(folder));
  }
  EXPECT_NE(read_file(parts / "answer.log").find("all 3 parts are done"), std::string::npos);
  EXPECT_NE(progress().find(": 3 of 3 parts are done, 0 under way; best step "), std::string::npos);
  EXPECT_NE(progress().find(", nothing is better\n"), std::string::npos) << progress();
}

TEST(Parts, manifests_for_kubernetes_have_the_scenario_and_give_the_answer_of_one_process) {
  const fs::path folder = new_folder("kubernetes");
  // A chip of one's own: what a part would not find without the folder.
  const std::string own = (folder / "own").string();
  fs::create_directories(own);
  const CommandResult chip = podsim_command("catalog new-chip h100 --like h100 --peak-tflops 500 --out " +
                                            own + "/faster.textproto");
  EXPECT_EQ(chip.exit_code, 0) << chip.err;
  const CommandResult written =
      podsim_command(search_by(folder, "kubernetes") + " --parts 2 --image here/podsim:1 --catalog " + own);
  EXPECT_EQ(written.exit_code, 0) << written.err;
  const fs::path parts = folder_of_parts(folder);
  const Json both = Json::parse(read_file(parts / "parts.json"));
  const Json &scenarios = both["items"][0], &job = both["items"][2],
             last = Json::parse(read_file(parts / "answer.json"));
  EXPECT_EQ(scenarios["data"]["job.textproto"], kJob);
  EXPECT_EQ(both["items"][1]["data"]["faster.textproto"], read_file(own + "/faster.textproto"));
  EXPECT_EQ(job["spec"]["completionMode"], "Indexed");
  EXPECT_EQ(job["spec"]["completions"], 2);
  const auto container = [](const Json& of) { return of["spec"]["template"]["spec"]["containers"][0]; };
  EXPECT_EQ(container(job)["image"], "here/podsim:1");
  EXPECT_EQ(container(job)["volumeMounts"][0]["mountPath"], "/scenarios");
  EXPECT_EQ(container(job)["volumeMounts"][1]["mountPath"], "/catalog/1");
  EXPECT_EQ(job["spec"]["template"]["spec"]["volumes"][1]["configMap"]["name"],
            both["items"][1]["metadata"]["name"]);
  // The same scripts, with folders of this machine in place of those of a pod.
  const auto run = [&](const Json& of, const std::string& index) {
    std::string script = container(of)["command"].back();
    for (const auto& [from, to] :
         {std::pair<std::string, std::string>{"/podsim/", folder.string() + "/volume/"},
          {"/scenarios/", folder.string() + "/"},
          {"/catalog/1", own}})
      for (std::size_t at = 0; (at = script.find(from, at)) != std::string::npos; at += to.size())
        script.replace(at, from.size(), to);
    const std::string file = temporary_file("pod.sh", "podsim() { " PODSIM_BINARY " \"$@\"; }\n" + script);
    return shell("JOB_COMPLETION_INDEX=" + index + " bash -euo pipefail " + file + " >" +
                 (folder / "log").string() + " 2>/dev/null");
  };
  fs::create_directories(folder / "volume");
  for (const char* index : {"1", "0"}) EXPECT_EQ(run(job, index), 0) << index;
  EXPECT_EQ(run(last, "0"), 0);
  const std::string at_once = podsim_command("search " + (folder / "job.textproto").string() +
                                             " --quiet --format csv --catalog " + own)
                                  .out;
  EXPECT_EQ(read_file(folder / "log"), at_once);
  EXPECT_NE(at_once, searched_at_once(folder));
}

TEST(Parts, ranks_of_mpi_give_the_answer_of_one_process) {
  if (!fs::exists(fs::path(PODSIM_BINARY).parent_path() / "podsim-mpi"))
    GTEST_SKIP() << "podsim was built without MPI";
  const fs::path folder = new_folder("mpi");
  for (const char* ranks : {"3", "1"}) {
    const std::string answer = (folder / "answer").string();
    EXPECT_EQ(
        shell(std::string(
                  "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n ") +
              ranks + " " PODSIM_BINARY " " + search_by(folder, "mpi") + " --parts 4 >" + answer + " 2>" +
              answer + ".log"),
        0)
        << read_file(answer + ".log");
    EXPECT_EQ(read_file(answer), searched_at_once(folder)) << ranks;
  }
}

TEST(Parts, of_a_plan_joined_are_the_plan_and_its_clusters_are_not_searched_again) {
  const fs::path folder = new_folder("plan");
  const std::string question = "plan " + (folder / "job.textproto").string() + " --tokens 1e10 --chips 8,16";
  const std::string plan = question + " --format csv", all = (folder / "all.db").string();
  std::string stores;
  for (const char* part : {"1", "2"}) {
    const std::string store = (folder / (std::string("part-") + part + ".db")).string();
    const CommandResult done = podsim_command(plan + " --shard " + part + "/2 --store " + store);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_NE(done.out.find("1 rows of 2 clusters"), std::string::npos) << done.out;
    stores += " " + store;
  }
  EXPECT_EQ(podsim_command("store merge " + all + stores).exit_code, 0);
  EXPECT_EQ(podsim_command(plan + " --store " + all).out, podsim_command(plan).out);
  const CommandResult table = podsim_command(question + " --store " + all);
  EXPECT_NE(table.err.find("2 of 2 clusters were in " + all), std::string::npos) << table.err;
  EXPECT_EQ(table.out, podsim_command(question).out);
}

TEST(Parts, of_a_sweep_have_every_value_once) {
  const fs::path folder = new_folder("sweep");
  const std::string sweep = "sweep " + (folder / "job.textproto").string() +
                            " --over job.global_batch_sequences=16,32,48 --columns step_time_s --format csv";
  const std::string first = podsim_command(sweep + " --shard 1/2").out,
                    second = podsim_command(sweep + " --shard 2/2").out, all = podsim_command(sweep).out;
  const auto rows = [](const std::string& text) { return text.substr(text.find('\n') + 1); };
  const std::string odd = rows(first);
  const std::size_t middle = odd.find('\n') + 1;
  EXPECT_EQ(all.substr(0, all.find('\n') + 1) + odd.substr(0, middle) + rows(second) + odd.substr(middle),
            all);
}

// More parts than values, and one whose only value does not fit.
TEST(Parts, of_a_sweep_that_have_nothing_or_do_not_fit_are_done_too) {
  const fs::path folder = new_folder("sweep_slurm");
  const std::string sweep = "sweep " + (folder / "job.textproto").string() +
                            " --over job.microbatch_sequences=1,1024 --set job.global_batch_sequences=16384 "
                            "--quiet --format csv";
  const fs::path parts =
      submitted_to_slurm(folder, sweep + " --engine slurm --parts 3 --store " + (folder / "all.db").string());
  for (const char* job : {"3", "2", "1"}) EXPECT_EQ(run_part(parts, job), 0) << job;
  EXPECT_EQ(shell("bash " + (parts / "answer.sh").string() + " >" + (parts / "answer.txt").string() + " 2>" +
                  (parts / "answer.log").string()),
            0)
      << read_file(parts / "answer.log");
  EXPECT_EQ(read_file(parts / "answer.txt"), podsim_command(sweep).out);
  EXPECT_NE(read_file(parts / "answer.txt").find("false"), std::string::npos) << "one does not fit";
  EXPECT_NE(read_file(parts / "answer.log").find("all 3 parts are done"), std::string::npos);
}

TEST(Parts, of_a_sweep_are_one_study_in_the_order_of_the_values) {
  const fs::path folder = new_folder("sweep_study");
  const std::string all = (folder / "all.db").string(), whole = (folder / "whole.db").string(),
                    sweep = "sweep " + (folder / "job.textproto").string() +
                            " --over job.global_batch_sequences=48,16,32 --quiet --store ";
  std::string stores;
  for (const char* part : {"2", "1"}) {
    const std::string store = (folder / (std::string("part-") + part + ".db")).string();
    EXPECT_EQ(podsim_command(sweep + store + " --shard " + part + "/2").exit_code, 0);
    stores += " " + store;
  }
  EXPECT_EQ(podsim_command("store merge " + all + stores).exit_code, 0);
  EXPECT_EQ(podsim_command(sweep + whole).exit_code, 0);
  const auto rows = [](const std::string& store) {
    std::istringstream text(podsim_command("store show " + store + " --study 1 --format csv").out);
    std::string all_but_cpu_s, line;
    for (std::getline(text, line); std::getline(text, line);)
      all_but_cpu_s += line.substr(0, line.rfind(',')) + "\n";
    return all_but_cpu_s;
  };
  EXPECT_EQ(rows(all), rows(whole));
  EXPECT_NE(rows(all), "");
}

TEST(Parts, that_an_engine_cannot_do_are_refused_in_a_sentence) {
  const fs::path folder = new_folder("refused");
  const std::string search = "search " + (folder / "job.textproto").string();
  const CommandResult storeless = podsim_command(search + " --engine slurm"),
                      twice = podsim_command(search + " --engine mpi --shard 1/2 --store x.db"),
                      input = podsim_command("search - --engine slurm --store x.db </dev/null");
  EXPECT_EQ(storeless.exit_code, 2);
  EXPECT_NE(storeless.err.find("needs a --store"), std::string::npos) << storeless.err;
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_NE(twice.err.find("leave --shard out"), std::string::npos) << twice.err;
  EXPECT_EQ(input.exit_code, 2);
}

// Takes a quarter of a minute, and the ports of a Slurm: only where one asks for it.
TEST(Parts, of_a_slurm_array_one_of_which_is_killed_and_requeued_give_the_answer_of_one_process) {
  if (std::getenv("PODSIM_SLURM") == nullptr) GTEST_SKIP() << "PODSIM_SLURM is not set";
  const fs::path folder = new_folder("slurm");
  const std::string script = temporary_file(
      "slurm_array.sh",
      "set -eu\n"
      "cd " +
          folder.string() + "\n" PODSIM_BINARY " " + search_by(folder, "slurm") +
          " --parts 8 --threads 1 >told\n"
          "array=$(sed 's/.*job array \\([0-9]*\\).*/\\1/' told)\n"
          "for i in $(seq 200); do squeue -h -r -t R -j $array | grep -q _3 && break; sleep 0.05; done\n"
          "scontrol requeue ${array}_3\n"
          "for i in $(seq 1500); do [ -z \"$(squeue -h)\" ] && break; sleep 0.1; done\n"
          "scontrol show job ${array}_3 | grep -o 'Restarts=[0-9]*' >restarts\n");
  const int code =
      shell(PODSIM_SOURCE_DIR "/tests/cli/on_slurm " + (folder / "one").string() + " bash " + script);
  if (code == 77) GTEST_SKIP() << "there is no slurm-wlm, or this is not root";
  ASSERT_EQ(code, 0);
  const fs::path parts = folder_of_parts(folder);
  EXPECT_EQ(read_file(folder / "restarts"), "Restarts=1\n");
  EXPECT_EQ(read_file(parts / "answer.txt"), searched_at_once(folder)) << read_file(parts / "answer.log");
}

}  // namespace
}  // namespace podsim::parts_test
