// The service without a network: who may ask, what it answers, and that no bytes break it.
#include "serve/service.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/random.h"
#include "proto/scenario/load.h"
#include "proto/traces/step_trace.h"
#include "proto/writing/write.h"

namespace podsim::service_test {
namespace {

using nlohmann::json;

const std::string kSmall = R"(question: "q?" cluster { chip: "h100" chips: 8 fabric: "dgx_h100" }
job { model: "llama3_8b" stack: "megatron_bridge_2025" mesh { name: "tensor" size: 8 } sharding: "megatron_sp"
  global_batch_sequences: 8 microbatch_sequences: 1 sequence_tokens: 4096 precision: bf16 recompute: full })";

class Served : public ::testing::Test {
 protected:
  Served() { service.set_port(8737); }

  ServeAnswer ask(const std::string& method, const std::string& target, const std::string& body = "",
                  std::map<std::string, std::string> more = {}) {
    ServeRequest request{method,
                         target,
                         {{"host", "localhost:8737"}, {"x-podsim", "1"}, {"content-type", "text/plain"}},
                         body};
    for (auto& [name, value] : more) request.headers[name] = value;
    return service.answer(request);
  }

  // Waits until the run has ended.
  ServeAnswer ended(std::int64_t id) {
    for (int i = 0; i < 3000; ++i) {
      const ServeAnswer answer = ask("GET", "/api/jobs/" + std::to_string(id));
      if (answer.status != 202) return answer;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return {.status = 0};
  }

  Catalog catalog;
  Service service{catalog,
                  "first </textarea><script>",
                  1,
                  nullptr,
                  {[](const Space&, const SearchAnswer& answer) { return json(answer.best.size()).dump(); },
                   [](const Space& space, const SearchAnswer&, std::span<const SearchMoment>) {
                     return Page{.title = space.spec().name, .json = "{}"};
                   },
                   [](std::span<const Report> reports) {
                     return Page{.title = std::to_string(reports.size()) + " reports", .json = "{}"};
                   }}};
};

TEST_F(Served, names_of_other_machines_are_refused) {
  for (const char* host :
       {"evil.example:8737", "localhost", "localhost:80", "127.0.0.1.evil.example:8737", ""})
    EXPECT_EQ(ask("GET", "/", "", {{"host", host}}).status, 421) << host;
  for (const char* host : {"localhost:8737", "127.0.0.1:8737", "[::1]:8737"})
    EXPECT_EQ(ask("GET", "/", "", {{"host", host}}).status, 200) << host;
}

TEST_F(Served, requests_of_other_sites_are_refused) {
  EXPECT_EQ(ask("POST", "/api/check", kSmall, {{"origin", "http://evil.example"}}).status, 403);
  EXPECT_EQ(ask("POST", "/api/check", kSmall, {{"origin", "null"}}).status, 403);
  EXPECT_EQ(ask("POST", "/api/check", kSmall, {{"origin", "http://localhost:8737"}}).status, 200);
  EXPECT_EQ(ask("POST", "/api/run", kSmall, {{"x-podsim", ""}}).status, 403)
      << "as a form of another site would";
  EXPECT_EQ(ask("DELETE", "/api/jobs/1", "", {{"x-podsim", ""}}).status, 403);
  EXPECT_EQ(ask("POST", "/api/check", kSmall, {{"content-type", "multipart/form-data"}}).status, 415);
}

TEST_F(Served, paths_and_methods_that_it_lacks_are_told) {
  EXPECT_EQ(ask("GET", "/nothing").status, 404);
  EXPECT_EQ(ask("GET", "/../etc/passwd").status, 404);
  EXPECT_EQ(ask("GET", "/api/jobs/../../etc/passwd").status, 404);
  EXPECT_EQ(ask("GET", "/api/jobs/7").status, 404);
  EXPECT_EQ(ask("GET", "/api/check").allow, "POST");
  EXPECT_EQ(ask("POST", "/").status, 405);
}

TEST_F(Served, problems_have_lines_and_columns) {
  const ServeAnswer answer = ask("POST", "/api/check", "question: \"q\"\nclutser { }\n");
  EXPECT_EQ(answer.status, 200);
  const json problems = json::parse(answer.body).at("problems");
  const auto of_word = std::find_if(problems.begin(), problems.end(), [](const json& each) {
    return each.at("message").get<std::string>().find("clutser") != std::string::npos;
  });
  ASSERT_NE(of_word, problems.end()) << answer.body;
  EXPECT_EQ(of_word->at("line"), 2);
  EXPECT_EQ(of_word->at("column"), 1);
  EXPECT_TRUE(json::parse(ask("POST", "/api/check", kSmall).body).at("problems").empty());
  EXPECT_TRUE(json::parse(ask("POST", "/api/check", "\xEF\xBB\xBF" + kSmall).body).at("problems").empty());
  const std::string large = std::string(kSmall).replace(kSmall.find("llama3_8b"), 9, "llama31_405b");
  const std::string told = ask("POST", "/api/check", large).body;
  EXPECT_NE(told.find("does not fit in memory"), std::string::npos) << told;
}

TEST_F(Served, a_run_gives_the_report_that_the_command_gives_with_its_details) {
  const ServeAnswer asked = ask("POST", "/api/run", kSmall);
  ASSERT_EQ(asked.status, 202) << asked.body;
  const std::int64_t id = json::parse(asked.body).at("id");
  const ServeAnswer answer = ended(id);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Prediction& told = *service.runs().find(id)->prediction;
  ASSERT_TRUE(told.detail);
  EXPECT_EQ(answer.body, report_json(told.report, &*told.detail));
  EXPECT_GT(json::parse(answer.body).at("step_time_s"), 0);
  const ServeAnswer page = ask("GET", "/api/jobs/" + std::to_string(id) + "/page");
  EXPECT_TRUE(page.page);
  EXPECT_NE(page.body.find("<section id=\"step\""), std::string::npos);
  EXPECT_EQ(ask("DELETE", "/api/jobs/" + std::to_string(id)).status, 409) << "it has ended";
  std::vector<std::string> states;
  for (const RunEvent& event : service.runs().events_after(0))
    states.push_back(json::parse(event.json).at("state"));
  EXPECT_EQ(states.front(), "waiting");
  EXPECT_EQ(states.back(), "done");
}

TEST_F(Served, a_scenario_with_problems_is_not_run) {
  const ServeAnswer answer = ask("POST", "/api/run", "x");
  EXPECT_EQ(answer.status, 422);
  EXPECT_FALSE(json::parse(answer.body).at("problems").empty());
}

TEST(RunQueue, takes_no_more_than_may_wait_and_drops_what_is_cancelled) {
  const Catalog catalog;
  Service service(catalog, "", 0);  // nobody works
  service.set_port(1);
  const auto ask = [&](const std::string& method, const std::string& target) {
    return service
        .answer({method,
                 target,
                 {{"host", "localhost:1"}, {"x-podsim", "1"}, {"content-type", "text/plain"}},
                 kSmall})
        .status;
  };
  for (std::size_t i = 0; i < RunQueue::kMostWaiting; ++i) EXPECT_EQ(ask("POST", "/api/run"), 202);
  EXPECT_EQ(ask("POST", "/api/run"), 429);
  EXPECT_EQ(ask("DELETE", "/api/jobs/1"), 202);
  EXPECT_EQ(ask("GET", "/api/jobs/1"), 410);
  EXPECT_EQ(ask("POST", "/api/run"), 202) << "there is room again";
  EXPECT_TRUE(service.runs().end(std::chrono::milliseconds(0)));
}

TEST_F(Served, a_run_that_is_cancelled_ends) {
  const ServeAnswer asked = ask("POST", "/api/run", kSmall);
  ASSERT_EQ(asked.status, 202);
  const std::int64_t id = json::parse(asked.body).at("id");
  const int told = ask("DELETE", "/api/jobs/" + std::to_string(id)).status;
  const int status = ended(id).status;
  EXPECT_TRUE(status == 410 || status == 200) << status;
  EXPECT_TRUE(told == 202 || status == 200) << "one that has ended cannot be cancelled";
  EXPECT_TRUE(service.runs().end(std::chrono::milliseconds(5000)));
}

TEST_F(Served, a_search_tells_its_best_and_every_layout_that_it_simulated_while_it_goes_on) {
  const std::string few =
      " space { tensor: 8 pipeline: 1 sharding: ddp recompute: full microbatch: 1 microbatch: 2 }";
  const ServeAnswer asked = ask("POST", "/api/search", kSmall + few);
  ASSERT_EQ(asked.status, 202) << asked.body;
  const std::string id = json::parse(asked.body).at("id").dump();
  const ServeAnswer answer = ended(std::stoll(id));
  ASSERT_EQ(answer.status, 200) << answer.body;
  std::size_t found = 0;
  json last;
  for (const RunEvent& event : service.runs().events_after(0)) {
    last = json::parse(event.json);
    found += last.at("search").at("found").size();
  }
  EXPECT_EQ(last.at("state"), "done");
  EXPECT_GT(found, 0u);
  EXPECT_EQ(found, last.at("search").at("simulated").get<std::size_t>());
  EXPECT_GT(last.at("search").at("best_s").get<double>(), 0);
  EXPECT_LE(json::parse(answer.body).get<std::size_t>(), found) << "as it is written here";
  EXPECT_TRUE(ask("GET", "/api/jobs/" + id + "/page").page);
  EXPECT_EQ(ask("POST", "/api/search", kSmall + " space { tensor: 3 }").status, 202);
  EXPECT_EQ(ask("POST", "/api/search", "soup").status, 422);
}

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

ServeAnswer asked_of(Service& service, const std::string& method, const std::string& target,
                     const std::string& body = "") {
  service.set_port(1);
  return service.answer(
      {method, target, {{"host", "localhost:1"}, {"x-podsim", "1"}, {"content-type", "text/plain"}}, body});
}

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

TEST_F(Served, a_run_that_is_done_has_the_trace_that_the_command_writes) {
  ASSERT_EQ(ask("POST", "/api/run", kSmall).status, 202);
  const int while_it_runs = ask("GET", "/api/jobs/1/trace").status;
  EXPECT_TRUE(while_it_runs == 202 || while_it_runs == 200);
  EXPECT_EQ(ended(1).status, 200);
  ServeAnswer trace = ask("GET", "/api/jobs/1/trace");
  for (int i = 0; i < 3000 && trace.status == 202; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    trace = ask("GET", "/api/jobs/1/trace");
  }
  ASSERT_EQ(trace.status, 200) << trace.body;
  PredictOptions options;
  options.tracks = true;
  const Prediction prediction = predict_step(*load_scenario("scenario", kSmall, catalog, {}).spec, options);
  EXPECT_EQ(trace.body, perfetto_trace(*prediction.tracks));
  EXPECT_EQ(json::parse(service.runs().events_after(0).back().json).at("traced"), true);
  EXPECT_EQ(ask("DELETE", "/api/jobs/1/trace").status, 405);
  EXPECT_EQ(ask("GET", "/api/jobs/1/traces").status, 404);
  EXPECT_EQ(ask("GET", "/api/jobs/2/trace").status, 404);
}

TEST_F(Served, only_the_last_traces_are_kept_and_others_are_made_again) {
  const int runs = static_cast<int>(RunQueue::kMostTraces) + 1;
  const auto traced = [&](int id) {
    for (int i = 0; i < 3000; ++i) {
      if (ask("GET", "/api/jobs/" + std::to_string(id) + "/trace").status == 200) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  for (int i = 1; i <= runs; ++i) {
    ASSERT_EQ(ask("POST", "/api/run", kSmall).status, 202);
    EXPECT_TRUE(traced(i));
  }
  EXPECT_FALSE(service.runs().find(1)->trace);
  EXPECT_TRUE(service.runs().find(2)->trace);
  EXPECT_TRUE(traced(1));
}

TEST_F(Served, the_editor_shows_a_scenario_as_text) {
  const ServeAnswer page = ask("GET", "/");
  EXPECT_NE(page.body.find("first &lt;/textarea&gt;&lt;script&gt;"), std::string::npos);
  EXPECT_NE(page.body.find("script-src 'sha256-"), std::string::npos);
}

TEST_F(Served, two_runs_that_are_done_are_shown_beside_each_other) {
  for (int i = 0; i < 2; ++i) ASSERT_EQ(ask("POST", "/api/run", kSmall).status, 202);
  EXPECT_EQ(ended(1).status, 200);
  EXPECT_EQ(ended(2).status, 200);
  const ServeAnswer page = ask("GET", "/api/compare/1/2");
  EXPECT_EQ(page.status, 200);
  EXPECT_TRUE(page.page);
  EXPECT_NE(page.body.find("2 reports"), std::string::npos) << "as it is written here";
  for (const char* wrong :
       {"1", "1/", "1/2/", "/1", "1/3", "0/1", "a/b", "1/2x", "99999999999999999999/1", ""})
    EXPECT_EQ(ask("GET", std::string("/api/compare/") + wrong).status, 404) << wrong;
}

TEST(Documentation, is_what_lies_in_the_folder_and_nothing_beside_it) {
  namespace fs = std::filesystem;
  const fs::path place = fs::path(::testing::TempDir()) / ("podsim_docs_" + std::to_string(::getpid()));
  fs::create_directories(place / "site/guide");
  std::ofstream(place / "secret.txt") << "secret";
  fs::create_symlink(place / "secret.txt", place / "site/link.txt");
  const std::string picture = "guide/a.svg";
  EXPECT_FALSE(Documents::open((place / "site").string())) << "no index.html";
  EXPECT_FALSE(Documents::open((place / "none").string()));
  std::ofstream(place / "site/index.html") << "<h1>first</h1>";
  std::ofstream(place / "site" / picture) << "<svg></svg>";
  const Catalog catalog;
  const auto documents = Documents::open((place / "site").string());
  ASSERT_TRUE(documents);
  Service service(catalog, "", 0, nullptr, {}, &*documents);
  service.set_port(1);
  const auto get = [&](const std::string& target) {
    return service.answer({"GET", target, {{"host", "localhost:1"}}, ""});
  };
  EXPECT_EQ(get("/docs/").body, "<h1>first</h1>");
  EXPECT_EQ(get("/docs/index.html").type, "text/html; charset=utf-8");
  EXPECT_EQ(get("/docs/" + picture).type, "image/svg+xml");
  for (const char* other : {"/docs/../secret.txt", "/docs/link.txt", "/docs/guide/../index.html",
                            "/docs/%2e%2e/secret.txt", "/docs//index.html", "/docs/guide/", "/docs"})
    EXPECT_EQ(get(other).status, 404) << other;
  EXPECT_NE(get("/").body.find("href=\"/docs/\""), std::string::npos);
  fs::remove_all(place);
}

TEST_F(Served, names_of_the_catalogue_are_listed) {
  const json names = json::parse(ask("GET", "/api/catalog").body);
  EXPECT_NE(std::find(names.at("chips").begin(), names.at("chips").end(), "h100"), names.at("chips").end());
}

TEST_F(Served, ten_thousand_requests_of_any_bytes_get_an_answer) {
  const RandomStream random(7, RandomPurpose::kTest, 0);
  std::uint64_t drawn = 0;
  const std::vector<std::string> methods = {"GET", "POST", "DELETE", "HEAD", "PUT", "OPTIONS", "\x01"};
  const std::vector<std::string> targets = {"/",
                                            "/api/check",
                                            "/api/jobs",
                                            "/api/jobs/",
                                            "/api/jobs/1/page",
                                            "/api/jobs/1/trace",
                                            "/api/events",
                                            "/api/catalog",
                                            "/api/search",
                                            "/api/history",
                                            "/api/history/0",
                                            "/api/compare/1/1",
                                            "/docs/index.html",
                                            "/api/jobs/99999999999999999999",
                                            "//",
                                            ""};
  const auto below = [&](std::uint64_t n) { return static_cast<std::size_t>(random.bits(drawn++) % n); };
  for (int i = 0; i < 10'000; ++i) {
    std::string target = targets[below(targets.size())], body = kSmall.substr(0, below(kSmall.size()));
    for (std::size_t k = below(4); k > 0; --k) target += static_cast<char>(below(256));
    for (std::size_t k = below(6); k > 0 && !body.empty(); --k)
      body[below(body.size())] = static_cast<char>(below(256));
    const ServeAnswer answer =
        ask(methods[below(methods.size())], target, body, {{"last-event-id", body.substr(0, 9)}});
    EXPECT_GE(answer.status, 200);
    EXPECT_LT(answer.status, 500) << target;
    if (answer.type == "application/json") {
      EXPECT_TRUE(json::accept(answer.body)) << target;
    }
  }
}

}  // namespace
}  // namespace podsim::service_test
