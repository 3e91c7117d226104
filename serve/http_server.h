// HTTP, on this machine alone unless it is told an address: connections in, answers of the service and its
// events out.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "serve/service.h"

namespace podsim {

// Bounds of what one client may do to the others.
struct ServeLimits {
  std::size_t connections = 64;
  std::size_t header_bytes = 16 * 1024, body_bytes = 1024 * 1024;
  std::chrono::milliseconds to_send{30'000};  // a whole request, or to take an answer
  std::chrono::milliseconds between_events{100};
};

// Where a server is asked.
struct ListenAddress {
  std::string in_url;        // "192.168.1.4", "[fe80::1]"
  bool own = false;          // nobody but this machine reaches it
  bool unspecified = false;  // all addresses of this machine
};

// Nothing for what is no address of the Internet Protocol.
std::optional<ListenAddress> listen_address(const std::string& text);

// Its own name on its network.
std::string machine_name();

class HttpServer {
 public:
  // On 127.0.0.1, and ::1 where there is one; port 0 is any that is free. Throws std::runtime_error where the
  // port is taken. With an `address` it listens there instead. REQUIRES: the service outlives this object;
  // the port is one of TCP, and listen_address knows the address.
  HttpServer(Service& service, int port, const ServeLimits& limits = {}, const std::string& address = "");
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;

  // Answers until `stop` becomes true.
  void run(const std::atomic<bool>& stop);

 private:
  struct Network;
  std::unique_ptr<Network> network_;
};

}  // namespace podsim
