// The service without a network: who may ask, what it answers, and that no bytes break it.
#include "serve/service.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/random.h"
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
  Service service{catalog, "first </textarea><script>", 1};
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
}

TEST_F(Served, a_run_gives_the_report_that_the_command_gives) {
  const ServeAnswer asked = ask("POST", "/api/run", kSmall);
  ASSERT_EQ(asked.status, 202) << asked.body;
  const std::int64_t id = json::parse(asked.body).at("id");
  const ServeAnswer answer = ended(id);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.body, report_json(service.runs().find(id)->prediction->report));
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

TEST_F(Served, the_editor_shows_a_scenario_as_text) {
  const ServeAnswer page = ask("GET", "/");
  EXPECT_NE(page.body.find("first &lt;/textarea&gt;&lt;script&gt;"), std::string::npos);
  EXPECT_NE(page.body.find("script-src 'sha256-"), std::string::npos);
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
                                            "/api/events",
                                            "/api/catalog",
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
