// The server on its socket: whole and half requests, limits, slow clients, events, and its end.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <thread>

#include "engine/random.h"
#include "serve/http_server.h"
#include "tests/rounds.h"
#include "tests/serve/client.h"

namespace podsim::http_test {
namespace {

using serve_test::Client;

TEST(HttpToken, the_printed_address_opens_the_page_and_nothing_else_does) {
  Catalog catalog;
  Service service(catalog, "", 1);
  const std::string token = "a-token-of-mine-0123456789";
  service.set_access(Access("127.0.0.1", token));
  HttpServer server(service, 0, {}, "127.0.0.1");
  std::atomic<bool> stop = false;
  std::thread thread([&] { server.run(stop); });
  const auto asked = [&](const std::string& target, const std::string& more) {
    Client client(server.port());
    client.send("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) + "\r\n" +
                more + "Connection: close\r\n\r\n");
    return client.receive_until("</html>");
  };
  const std::string refused = asked("/", "");
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 401 ")) << refused;
  EXPECT_NE(refused.find("WWW-Authenticate: Bearer"), std::string::npos);
  const std::string opened = asked("/?token=" + token, "");
  EXPECT_TRUE(opened.starts_with("HTTP/1.1 303 ")) << opened;
  EXPECT_NE(opened.find("Location: /\r\n"), std::string::npos);
  EXPECT_NE(opened.find("Set-Cookie: podsim_token=" + token + ";"), std::string::npos);
  EXPECT_TRUE(asked("/", "Cookie: podsim_token=" + token + "\r\n").starts_with("HTTP/1.1 200 "));
  stop = true;
  thread.join();
}

TEST(ListenAddress, says_who_can_reach_it) {
  EXPECT_TRUE(listen_address("127.0.0.1")->own);
  EXPECT_TRUE(listen_address("::1")->own);
  EXPECT_FALSE(listen_address("192.168.1.4")->own);
  EXPECT_TRUE(listen_address("0.0.0.0")->unspecified);
  EXPECT_EQ(listen_address("fe80::1")->in_url, "[fe80::1]");
  for (const char* text : {"", "localhost", "192.168.1", "1.2.3.4:80"})
    EXPECT_FALSE(listen_address(text)) << text;
}

class Http : public ::testing::Test {
 protected:
  Http() : thread_([this] { server_.run(stop_); }) {}
  ~Http() override { end(); }

  void end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  std::string head(const std::string& method, const std::string& target) const {
    return method + " " + target + " HTTP/1.1\r\nHost: localhost:" + std::to_string(server_.port()) +
           "\r\nX-Podsim: 1\r\nContent-Type: text/plain\r\n";
  }

  static ServeLimits small_limits() {
    ServeLimits limits;
    limits.connections = 8;
    limits.to_send = std::chrono::milliseconds(400);
    limits.between_events = std::chrono::milliseconds(20);
    return limits;
  }

  Catalog catalog_;
  Service service_{catalog_, "", 1};
  HttpServer server_{service_, 0, small_limits()};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST_F(Http, answers_requests_one_after_another_on_a_connection) {
  Client client(server_.port());
  client.send(head("GET", "/api/jobs") + "\r\n");
  EXPECT_NE(client.receive_until("\"jobs\"").find("200 OK"), std::string::npos);
  client.send(head("GET", "/nothing") + "\r\n");
  EXPECT_NE(client.receive_until("there is nothing").find("404"), std::string::npos);
}

// What comes on a connection is the head of one answer and then the next answer.
TEST_F(Http, head_is_answered_with_the_length_and_no_body) {
  Client client(server_.port());
  std::string all;
  for (const char* target : {"/", "/api/jobs", "/nothing", "/api/check"}) {
    client.send(head("HEAD", target) + "\r\n");
    all += client.receive_until("\r\n\r\n");
  }
  client.send("HEAD / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  all += client.receive_until("\r\n\r\n");
  client.send(head("GET", "/api/jobs") + "Connection: close\r\n\r\n");
  all += client.receive_until("never");
  std::vector<std::string> statuses;
  for (std::size_t at = all.find("HTTP/1.1 "); at != std::string::npos; at = all.find("HTTP/1.1 ", at + 1))
    statuses.push_back(all.substr(at + 9, 3));
  EXPECT_EQ(statuses, (std::vector<std::string>{"200", "200", "404", "405", "421", "200"})) << all;
  EXPECT_EQ(all.find("<html"), std::string::npos);
  EXPECT_EQ(all.find("\"error\""), std::string::npos);
  EXPECT_EQ(all.find("\"jobs\""), all.rfind("\"jobs\"")) << "of GET alone";
  EXPECT_EQ(all.find("Content-Length: 0\r\n"), std::string::npos) << "the length is that of the body";
  Client events(server_.port());
  events.send(head("HEAD", "/api/events") + "\r\n");
  const std::string told = events.receive_until("never");
  EXPECT_TRUE(told.starts_with("HTTP/1.1 200 ") && told.ends_with("\r\n\r\n")) << told;
  EXPECT_NE(told.find("text/event-stream"), std::string::npos);
}

TEST_F(Http, half_a_request_and_garbage_harm_nobody) {
  Client half(server_.port()), garbage(server_.port()), good(server_.port());
  half.send("GET / HT");
  garbage.send("\x16\x03\x01 no request at all\r\n\r\n");
  EXPECT_NE(garbage.receive_until("\r\n\r\n").find("400"), std::string::npos);
  good.send(head("GET", "/api/jobs") + "\r\n");
  EXPECT_NE(good.receive_until("\"jobs\"").find("200"), std::string::npos);
  const std::string told = half.receive_until("never");
  EXPECT_TRUE(told.starts_with("HTTP/1.1 408 ")) << told;
  EXPECT_NE(told.find("Connection: close"), std::string::npos) << "who is too slow is told so and let go";
}

TEST_F(Http, a_request_has_its_time_as_a_whole_however_often_a_byte_of_it_comes) {
  Client slow(server_.port()), silent(server_.port());
  const auto begun = std::chrono::steady_clock::now();
  std::thread sender([&] {
    for (const char c : std::string("POST /api/check HTTP/1.1\r\nHost: x\r\n")) {
      slow.send(std::string(1, c));
      std::this_thread::sleep_for(small_limits().to_send / 20);
    }
  });
  const std::string told = slow.receive_until("never");
  const auto waited = std::chrono::steady_clock::now() - begun;
  sender.join();
  EXPECT_TRUE(told.starts_with("HTTP/1.1 408 ")) << told;
  EXPECT_LT(waited, small_limits().to_send * 5);
  EXPECT_EQ(silent.receive_until("never"), "") << "who never asks is let go without a word";
}

TEST_F(Http, a_connection_that_was_answered_and_is_then_silent_is_let_go_without_a_word) {
  Client client(server_.port());
  client.send(head("GET", "/api/jobs") + "\r\n");
  EXPECT_NE(client.receive_until("]}").find("200 OK"), std::string::npos);
  EXPECT_EQ(client.receive_until("never").find("408"), std::string::npos);
}

TEST_F(Http, what_is_too_long_is_refused) {
  Client header(server_.port()), body(server_.port());
  header.send(head("GET", "/") + "X-Long: " + std::string(20'000, 'x') + "\r\n\r\n");
  EXPECT_NE(header.receive_until("\r\n\r\n").find("431"), std::string::npos);
  body.send(head("POST", "/api/check") + "Content-Length: 2000000\r\n\r\n");
  EXPECT_NE(body.receive_until("\r\n\r\n").find("413"), std::string::npos);
}

TEST_F(Http, more_clients_than_the_limit_find_it_closed_until_one_leaves) {
  {
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 8; ++i) {
      clients.push_back(std::make_unique<Client>(server_.port()));
      clients.back()->send(head("GET", "/api/events") + "\r\n");
      ASSERT_NE(clients.back()->receive_until("retry").find("200"), std::string::npos);
    }
    Client ninth(server_.port());
    ninth.send(head("GET", "/api/jobs") + "\r\n");
    EXPECT_EQ(ninth.receive_until("\"jobs\""), "");
  }
  bool served = false;
  for (int i = 0; i < 100 && !served; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    Client next(server_.port());
    next.send(head("GET", "/api/jobs") + "\r\n");
    served = next.receive_until("\"jobs\"").find("200") != std::string::npos;
  }
  EXPECT_TRUE(served);
}

TEST_F(Http, events_follow_a_run_and_go_on_after_the_last_that_was_heard) {
  const std::string scenario =
      "question: \"q?\" cluster { chip: \"h100\" chips: 8 fabric: \"dgx_h100\" } job { model: \"llama3_8b\" "
      "stack: "
      "\"megatron_bridge_2025\" mesh { name: \"tensor\" size: 8 } sharding: \"megatron_sp\" "
      "global_batch_sequences: 8 "
      "microbatch_sequences: 1 sequence_tokens: 4096 precision: bf16 recompute: full }";
  Client listener(server_.port()), runner(server_.port());
  listener.send(head("GET", "/api/events") + "\r\n");
  listener.receive_until("retry");
  runner.send(head("POST", "/api/run") + "Content-Length: " + std::to_string(scenario.size()) + "\r\n\r\n" +
              scenario);
  EXPECT_NE(runner.receive_until("\"id\"").find("202"), std::string::npos);
  const std::string heard = listener.receive_until("\"done\"");
  EXPECT_LT(heard.find("\"waiting\""), heard.find("\"done\"")) << heard;
  Client again(server_.port());
  again.send(head("GET", "/api/events") + "Last-Event-ID: 0\r\n\r\n");
  EXPECT_NE(again.receive_until("\"done\"").find("id: 1\n"), std::string::npos);
  Client named(server_.port());
  named.send(head("GET", "/api/events?after=0") + "\r\n");
  EXPECT_NE(named.receive_until("\"done\"").find("id: 1\n"), std::string::npos);
  Client before(server_.port());
  before.send(head("GET", "/api/events") + "Last-Event-ID: 4711\r\n\r\n");
  EXPECT_NE(before.receive_until("\"done\"").find("id: 1\n"), std::string::npos)
      << "who listened to a server before this one hears all of this one";
}

TEST(HttpEvents, the_end_of_a_run_is_told_at_once) {
  const Catalog catalog;
  Service service(catalog, "", 0);
  ServeLimits rare;
  rare.between_events = std::chrono::minutes(1);
  HttpServer server(service, 0, rare);
  std::atomic<bool> stop{false};
  std::thread thread([&] { server.run(stop); });
  Client listener(server.port());
  listener.send("GET /api/events HTTP/1.1\r\nHost: localhost:" + std::to_string(server.port()) + "\r\n\r\n");
  listener.receive_until("retry");
  const auto id = service.runs().add(Spec{}, "");
  ASSERT_TRUE(id);
  EXPECT_TRUE(service.runs().cancel(*id));
  EXPECT_NE(listener.receive_until("\"cancelled\"").find("\"cancelled\""), std::string::npos);
  stop = true;
  thread.join();
}

TEST_F(Http, whoever_does_not_read_its_answers_is_let_go_and_nobody_waits_for_it) {
  Client deaf(server_.port()), other(server_.port());
  std::string many;
  for (int i = 0; i < 1500; ++i) many += head("GET", "/") + "\r\n";  // some 15 MB of answers
  std::thread sender([&] { deaf.send(many); });
  for (int i = 0; i < 5; ++i) {
    other.send(head("GET", "/api/jobs") + "\r\n");
    EXPECT_NE(other.receive_until("\"jobs\"").find("200"), std::string::npos);
  }
  sender.join();
  std::this_thread::sleep_for(small_limits().to_send * 2);
  EXPECT_LT(deaf.receive_until("never").size(), many.size() * 60) << "the rest was never sent";
}

// Requests as a fuzzer sends them, each from a few draws.
class AnyRequest {
 public:
  explicit AnyRequest(int port) : host_("localhost:" + std::to_string(port)) {}

  std::string next() {
    switch (below(4)) {
      case 0:
        return damaged(with_body("POST", "/api/check", "hello")).substr(0, 1 + below(120)) + "\r\n\r\n";
      case 1:
        return with_body(any_of(kMethods), any_target(), below(4) == 0 ? bytes(below(200)) : "");
      case 2:
        return with_body("POST", any_of(kScenarioTargets), damaged(kScenario));
      default:
        return damaged(with_body(any_of(kMethods), any_target(), damaged(kScenario)));
    }
  }

 private:
  static constexpr const char* kMethods[] = {"GET", "POST", "DELETE", "HEAD", "PUT", "OPTIONS", "\x01"};
  static constexpr const char* kScenarioTargets[] = {"/api/check", "/api/run", "/api/search"};
  static constexpr const char* kTargets[] = {
      "/",           "/api/catalog",      "/api/jobs",        "/api/jobs/1",        "/api/jobs/1/page",
      "/api/events", "/api/jobs/1/trace", "/api/compare/1/2", "/api/history",       "/api/history/0/scenario",
      "/docs/",      "/docs/../x",        "/api/check",       "/api/jobs/99999999", "//"};
  static constexpr const char* kHeaders[] = {"Origin: http://evil.example", "Host: evil.example",
                                             "Content-Length: 99999999999", "Transfer-Encoding: chunked",
                                             "Last-Event-ID: -1",           "Expect: 100-continue",
                                             "Connection: close",           "X-Podsim;"};
  static inline const std::string kScenario =
      "question: \"q?\" cluster { chip: \"h100\" chips: 8 fabric: \"dgx_h100\" } job { model: \"llama3_8b\" "
      "stack: \"megatron_bridge_2025\" mesh { name: \"tensor\" size: 8 } sharding: \"megatron_sp\" "
      "global_batch_sequences: 8 microbatch_sequences: 1 sequence_tokens: 4096 precision: bf16 recompute: "
      "full }";

  std::size_t below(std::uint64_t n) { return static_cast<std::size_t>(random_.bits(drawn_++) % n); }

  template <std::size_t N>
  const char* any_of(const char* const (&list)[N]) {
    return list[below(N)];
  }

  std::string any_target() { return std::string(any_of(kTargets)) + (below(3) == 0 ? bytes(below(40)) : ""); }

  std::string bytes(std::size_t count) {
    std::string text(count, ' ');
    for (char& c : text) c = static_cast<char>(below(256));
    return text;
  }

  std::string damaged(std::string text) {
    for (std::size_t k = 1 + below(6); k > 0; --k) {
      const std::size_t at = below(text.size());
      if (below(3) == 0) {
        text.erase(at, 1 + below(8));
        text += ' ';
      } else {
        text[at] = static_cast<char>(below(256));
      }
    }
    return text;
  }

  std::string with_body(const std::string& method, const std::string& target, const std::string& body) {
    std::string head = method + " " + target + " HTTP/1.1\r\nHost: " + host_ +
                       "\r\nX-Podsim: 1\r\nContent-Type: text/plain\r\n";
    if (below(3) == 0) head += std::string(any_of(kHeaders)) + "\r\n";
    if (!body.empty()) head += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return head + "\r\n" + body;
  }

  const std::string host_;
  const RandomStream random_{11, RandomPurpose::kTest, 0};
  std::uint64_t drawn_ = 0;
};

TEST(HttpBytes, whatever_comes_is_answered_or_the_connection_ends) {
  const Catalog catalog;
  Service service(catalog, "", 0);  // what is run waits
  HttpServer server(service, 0);
  std::atomic<bool> stop{false};
  std::thread thread([&] { server.run(stop); });
  AnyRequest any(server.port());
  std::map<std::string, int> statuses;
  for (int i = testing::asked_for("PODSIM_REQUESTS", testing::rounds(400, 4)); i > 0; --i) {
    Client client(server.port());
    client.send(any.next());
    client.send_end();
    const std::string answer = client.receive_until("never");
    EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 ")) << answer;
    ++statuses[answer.substr(0, 12)];
  }
  EXPECT_EQ(statuses.count("HTTP/1.1 500"), 0u) << "nothing that comes breaks the service";
  EXPECT_GT(statuses["HTTP/1.1 200"], 0);
  EXPECT_GT(statuses["HTTP/1.1 400"], 0);
  EXPECT_GT(statuses["HTTP/1.1 404"], 0);
  for (const auto& [status, count] : statuses) std::cout << count << " x \"" << status << "\"\n";
  stop = true;
  thread.join();
}

TEST(HttpLimits, sixty_four_clients_hear_the_same_run) {
  const Catalog catalog;
  Service service(catalog, "", 0);
  HttpServer server(service, 0);
  std::atomic<bool> stop{false};
  std::thread thread([&] { server.run(stop); });
  const std::string host = "Host: localhost:" + std::to_string(server.port()) + "\r\n";
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 64; ++i) {
    clients.push_back(std::make_unique<Client>(server.port()));
    clients.back()->send("GET /api/events HTTP/1.1\r\n" + host + "\r\n");
    ASSERT_NE(clients.back()->receive_until("retry").find("200"), std::string::npos) << i;
  }
  service.runs().add(Spec{}, "");
  for (const auto& client : clients)
    EXPECT_NE(client->receive_until("\"waiting\"").find("id: 1\n"), std::string::npos);
  stop = true;
  thread.join();
}

TEST_F(Http, ends_at_once_when_it_is_asked_to) {
  Client listener(server_.port());
  listener.send(head("GET", "/api/events") + "\r\n");
  listener.receive_until("retry");
  const auto asked = std::chrono::steady_clock::now();
  end();
  EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(1));
}

TEST_F(Http, a_port_that_is_taken_is_told) {
  EXPECT_THROW(HttpServer(service_, server_.port()), std::runtime_error);
}

}  // namespace
}  // namespace podsim::http_test
