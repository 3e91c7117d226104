// Who may ask a server that others reach: those with its token.
#include "serve/access.h"

#include <gtest/gtest.h>

#include "serve/service.h"

namespace podsim::access_test {
namespace {

class Guarded : public ::testing::Test {
 protected:
  Guarded() { service.set_port(8737); }

  ServeAnswer ask(const std::string& method, const std::string& target, const std::string& body = "",
                  std::map<std::string, std::string> more = {}) {
    more.insert({{"host", "localhost:8737"}, {"x-podsim", "1"}, {"content-type", "text/plain"}});
    return service.answer({method, target, more, body});
  }

  Catalog catalog;
  Service service{catalog, "", 1};
};

TEST_F(Guarded, a_token_is_asked_of_everybody_where_there_is_one) {
  const std::string token = "a-token-of-mine-0123456789";
  service.set_access(Access("192.168.1.4", token));
  const std::map<std::string, std::string> there = {{"host", "192.168.1.4:8737"}};
  EXPECT_EQ(ask("GET", "/", "", there).status, 401);
  EXPECT_EQ(ask("GET", "/").status, 401) << "from this machine too";
  EXPECT_EQ(ask("POST", "/api/check", "job").status, 401);
  EXPECT_EQ(ask("GET", "/api/events").status, 401);
  EXPECT_EQ(ask("GET", "/", "", {{"host", "evil.example:8737"}}).status, 421);
  const ServeAnswer opened = ask("GET", "/?token=" + token, "", there);
  EXPECT_EQ(opened.status, 303);
  EXPECT_EQ(opened.location, "/");
  EXPECT_EQ(opened.cookie, "podsim_token=" + token + "; Path=/; HttpOnly; SameSite=Strict");
  for (const std::string& wrong :
       {token + "0", token.substr(1), std::string(), std::string("b") + token.substr(1)}) {
    EXPECT_EQ(ask("GET", "/?token=" + wrong, "", there).status, 401) << wrong;
    EXPECT_EQ(ask("GET", "/", "", {{"cookie", "podsim_token=" + wrong}}).status, 401) << wrong;
    EXPECT_EQ(ask("GET", "/", "", {{"authorization", "Bearer " + wrong}}).status, 401) << wrong;
  }
  EXPECT_EQ(ask("GET", "/", "", {{"cookie", "a=1; podsim_token=" + token + "; b=2"}}).status, 200);
  EXPECT_EQ(ask("POST", "/api/check", "job", {{"authorization", "Bearer " + token}}).status, 200);
  EXPECT_EQ(
      ask("GET", "/", "", {{"authorization", "Bearer " + token}, {"origin", "http://evil.example"}}).status,
      403);
}

TEST_F(Guarded, every_name_leads_to_who_listens_everywhere_with_the_token_alone) {
  const std::string token = random_token();
  service.set_access(Access("", token));
  EXPECT_EQ(ask("GET", "/", "", {{"host", "machine.example:8737"}}).status, 401);
  EXPECT_EQ(
      ask("GET", "/", "", {{"host", "machine.example:8737"}, {"cookie", "podsim_token=" + token}}).status,
      200);
  EXPECT_EQ(ask("GET", "/", "", {{"host", "machine.example:80"}, {"cookie", "podsim_token=" + token}}).status,
            421);
}

TEST(Access, at_port_80_names_come_without_it) {
  const Access own, everywhere("", random_token());
  for (const char* host : {"localhost", "127.0.0.1", "[::1]", "localhost:80", "127.0.0.1:80", "[::1]:80"}) {
    EXPECT_TRUE(own.knows_host(host, 80)) << host;
    EXPECT_TRUE(everywhere.knows_host(host, 80)) << host;
  }
  for (const char* host : {"", "evil.example", "evil.example:80", "localhost:8080", "[::1]:8080"})
    EXPECT_FALSE(own.knows_host(host, 80)) << host;
  EXPECT_TRUE(everywhere.knows_host("machine.example", 80));
  for (const char* host : {"machine.example:8080", "[fe80::1]:8080"})
    EXPECT_FALSE(everywhere.knows_host(host, 80)) << host;
  for (const char* host : {"localhost", "[::1]", "localhost:80"})
    EXPECT_FALSE(own.knows_host(host, 8737)) << host;
}

TEST(Access, tokens_are_compared_whole) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  for (const char* given : {"", "ab", "abd", "abcabc", "xbc"})
    EXPECT_FALSE(equal_in_constant_time(given, "abc")) << given;
  EXPECT_FALSE(equal_in_constant_time("abc", ""));
}

TEST(Access, random_tokens_are_tokens_and_differ) {
  const std::string one = random_token(), other = random_token();
  EXPECT_EQ(one.size(), 64u);
  EXPECT_EQ(explain_bad_token(one), "");
  EXPECT_NE(one, other);
  for (const char* bad : {"short", "has a space in it", "0123456789abcdef;"})
    EXPECT_NE(explain_bad_token(bad), "") << bad;
}

}  // namespace
}  // namespace podsim::access_test
