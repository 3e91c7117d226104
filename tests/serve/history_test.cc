// Reports that outlive the server: after a kill, of several versions, and where the store is damaged.
#include "serve/history.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/serve/served.h"

namespace podsim::serve_history_test {
namespace {

using nlohmann::json;
using serve_test::asked_of;
using serve_test::kSmall;

// A file of this process, gone with it.
struct StoreFile {
  StoreFile() { remove(); }
  ~StoreFile() { remove(); }
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;
  void remove() const {
    for (const char* tail : {"", "-wal", "-shm"}) std::filesystem::remove(path + tail);
  }
  const std::string path = ::testing::TempDir() + "podsim_history_" + std::to_string(::getpid()) + ".db";
};

json kept_by(Service& service) {
  return json::parse(asked_of(service, "GET", "/api/history").body).at("kept");
}

// Serves with this store until a run is told as done; says so, and waits for its end.
[[noreturn]] void serve_and_wait(const std::string& path, int told) {
  const Catalog catalog;
  History history(path, "v");
  Service service(catalog, "", 1, &history);
  asked_of(service, "POST", "/api/run", kSmall);
  for (int i = 0; i < 3000 && json::parse(service.runs().events_after(0).back().json).at("state") != "done";
       ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (::write(told, "k", 1) != 1) std::_Exit(1);
  for (;;) ::pause();
}

TEST(History, a_run_that_was_told_as_done_is_there_after_a_kill_and_a_restart) {
  const StoreFile file;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) serve_and_wait(file.path, ends[1]);
  char told = 0;
  ASSERT_EQ(::read(ends[0], &told, 1), 1);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  ::close(ends[0]);
  ::close(ends[1]);

  const Catalog catalog;
  History history(file.path, "v");
  Service service(catalog, "", 1, &history);
  const json kept = kept_by(service);
  ASSERT_EQ(kept.size(), 1u);
  const std::string key = kept[0].at("key");
  EXPECT_EQ(asked_of(service, "GET", "/api/history/" + key + "/scenario").body, kSmall);
  const json report = json::parse(asked_of(service, "GET", "/api/history/" + key).body);
  EXPECT_EQ(report.at("step_time_s"), kept[0].at("step_time_s"));
  for (const std::string& none :
       {key.substr(0, 63), key + "0", key + "/page", std::string("../../etc/passwd"), std::string("%"),
        std::string("' OR 1=1 --")})
    EXPECT_EQ(asked_of(service, "GET", "/api/history/" + none).status, 404) << none;
}

TEST(History, a_store_that_cannot_be_read_is_told_and_ends_nothing) {
  const StoreFile file;
  const Catalog catalog;
  History history(file.path, "v");
  Service service(catalog, "", 1, &history);
  EXPECT_EQ(kept_by(service), json::array());
  for (const char* tail : {"-wal", "-shm"}) std::filesystem::remove(file.path + tail);
  std::ofstream(file.path) << "no store, but a text that is long enough to look at: "
                           << std::string(4096, 'x');
  EXPECT_EQ(asked_of(service, "GET", "/api/history").status, 500);
  EXPECT_EQ(asked_of(service, "GET", "/api/jobs").status, 200);
}

TEST(History, of_a_key_is_the_report_that_was_kept_last_whatever_its_version_is_called) {
  const StoreFile file;
  const StoredScenario scenario{"abc", kSmall, "small"};
  const MainFigures figures;
  for (const char* version : {"0.9", "0.10", "0.10-dirty", "0.8"}) {
    Store(file.path, version).keep(scenario, figures, std::string("{\"by\": \"") + version + "\"}", 0);
    const Catalog catalog;
    History history(file.path, version);
    Service service(catalog, "", 0, &history);
    EXPECT_EQ(json::parse(asked_of(service, "GET", "/api/history/abc").body).at("by"), version);
    EXPECT_EQ(kept_by(service)[0].at("version"), version) << "as the list has it first";
  }
}

TEST(History, of_no_key_or_of_the_beginning_of_one_there_is_none) {
  const StoreFile file;
  const Catalog catalog;
  History history(file.path, "v");
  Store(file.path, "v").keep({"abc", kSmall, "small"}, MainFigures{}, "{}", 0);
  for (const char* key : {"", "a", "ab", "abcd"}) EXPECT_FALSE(history.find(key)) << key;
  EXPECT_EQ(history.find("abc")->scenario.text, kSmall);
  Service service(catalog, "", 0, &history);
  for (const char* path : {"/api/history/", "/api/history//scenario", "/api/history/ab/scenario"})
    EXPECT_EQ(asked_of(service, "GET", path).status, 404) << path;
}

}  // namespace
}  // namespace podsim::serve_history_test
