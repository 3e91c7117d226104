// The service without a network: who may ask, what it answers, and that no bytes break it.
#include "serve/service.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/random.h"
#include "proto/writing/write.h"
#include "tests/serve/served.h"

namespace podsim::service_test {
namespace {

using nlohmann::json;
using serve_test::kSmall;
using serve_test::Served;

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

TEST_F(Served, head_is_answered_as_get_is) {
  for (const char* target : {"/", "/api/jobs", "/api/catalog", "/api/history", "/api/jobs/7", "/nothing"}) {
    const ServeAnswer get = ask("GET", target), head = ask("HEAD", target);
    EXPECT_EQ(head.status, get.status) << target;
    EXPECT_EQ(head.body, get.body) << target;
  }
  EXPECT_EQ(ask("HEAD", "/", "", {{"host", "evil.example:8737"}}).status, 421);
  EXPECT_EQ(ask("HEAD", "/", "", {{"x-podsim", ""}}).status, 200) << "it changes nothing";
  EXPECT_EQ(ask("HEAD", "/api/check").status, 405);
  EXPECT_EQ(ask("POST", "/").allow, "GET, HEAD");
}

TEST_F(Served, events_begin_after_the_one_that_the_client_names) {
  for (int i = 0; i < 2; ++i) ASSERT_EQ(ask("POST", "/api/run", kSmall).status, 202);
  EXPECT_EQ(ended(2).status, 200);
  const std::uint64_t last = json::parse(ask("GET", "/api/jobs").body).at("last_event");
  ASSERT_GE(last, 6u);
  const auto after = [&](const std::string& query, std::map<std::string, std::string> more = {}) {
    const ServeAnswer answer = ask("GET", "/api/events" + query, "", std::move(more));
    EXPECT_TRUE(answer.events) << query;
    return answer.after;
  };
  EXPECT_EQ(after(""), last) << "from now on";
  EXPECT_EQ(after("?after=0"), 0u);
  EXPECT_EQ(after("?after=2"), 2u);
  EXPECT_EQ(after("?after=2", {{"last-event-id", "4"}}), 4u)
      << "a browser that connects again has heard more";
  EXPECT_EQ(after("?after=" + std::to_string(last + 1)), 0u) << "of a server before this one";
  for (const char* wrong :
       {"?after=", "?after=-1", "?after=2x", "?before=2", "?after=99999999999999999999"}) {
    const ServeAnswer answer = ask("GET", std::string("/api/events") + wrong);
    EXPECT_EQ(answer.status, 400) << wrong;
    EXPECT_NE(answer.body.find("?after=N"), std::string::npos) << wrong;
  }
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

TEST_F(Served, a_run_of_many_draws_says_how_far_it_is_and_ends_where_it_is_cancelled) {
  const std::string draws = " seeds: 100000 adversity { jitter_coefficient_of_variation: 0.05 }";
  ASSERT_EQ(ask("POST", "/api/run", kSmall + draws).status, 202);
  const auto share = [&] { return json::parse(ask("GET", "/api/jobs").body).at("jobs")[0].at("share"); };
  for (int i = 0; i < 1000 && share() == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GT(share(), 0);
  EXPECT_LT(share(), 1);
  EXPECT_EQ(ask("DELETE", "/api/jobs/1").status, 202);
  EXPECT_EQ(ended(1).status, 410);
}

TEST_F(Served, the_list_of_runs_says_why_one_has_failed) {
  const std::string nothing_fits = std::string(kSmall).replace(kSmall.find("llama3_8b"), 9, "llama31_405b");
  ASSERT_EQ(ask("POST", "/api/search", nothing_fits + " space { tensor: 8 pipeline: 1 }").status, 202);
  EXPECT_EQ(ended(1).status, 500);
  const json run = json::parse(ask("GET", "/api/jobs").body).at("jobs")[0];
  EXPECT_EQ(run.at("state"), "failed");
  EXPECT_EQ(run.at("message"), "no layout fits in memory");
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
