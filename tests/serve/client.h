// A connection to a server on this machine, byte by byte.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace podsim::serve_test {

class Client {
 public:
  explicit Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{5, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(const std::string& text) {
    EXPECT_TRUE(connected_);
    ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  }

  void send_end() { ::shutdown(socket_, SHUT_WR); }

  // Until these words have come, or nothing comes any more.
  std::string receive_until(const std::string& words) {
    std::string text;
    char part[4096];
    while (text.find(words) == std::string::npos) {
      const ssize_t count = ::recv(socket_, part, sizeof part, 0);
      if (count <= 0) break;
      text.append(part, static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  int socket_;
  bool connected_ = false;
};

}  // namespace podsim::serve_test
