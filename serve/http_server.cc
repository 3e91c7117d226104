// Boost.Beast on one thread: every connection reads a request, writes its answer, and reads the next.
#include "serve/http_server.h"

#include <array>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

#include "engine/check.h"

namespace podsim {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

constexpr std::chrono::seconds kBetweenSignsOfLife{10};

class Connection;

// What all connections share.
struct Shared {
  Service& service;
  ServeLimits limits;
  std::size_t connections = 0;
  std::set<Connection*> listeners = {};  // those that hear events
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Shared& shared)
      : stream_(std::move(socket)),
        timer_(stream_.get_executor()),
        deadline_(stream_.get_executor()),
        shared_(shared) {
    ++shared_.connections;
  }
  ~Connection() {
    --shared_.connections;
    shared_.listeners.erase(this);
  }

  void read() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(shared_.limits.header_bytes));
    parser_->body_limit(shared_.limits.body_bytes);
    begin_deadline();
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code error, std::size_t) {
                       self->reading_ = false;
                       self->deadline_.cancel();
                       self->has_read(error);
                     });
  }

  // Somebody may wait for a run that has ended: it is told at once.
  void hurry() { timer_.cancel(); }

 private:
  // A timer of its own: that of the stream would close it, and who is too slow is told so.
  void begin_deadline() {
    reading_ = true;
    stream_.expires_never();
    deadline_.expires_after(shared_.limits.to_send);
    deadline_.async_wait([weak = weak_from_this()](beast::error_code error) {
      const auto self = weak.lock();
      if (!error && self && self->reading_) self->stream_.cancel();
    });
  }

  void has_read(beast::error_code error) {
    const bool begun = parser_->got_some() || buffer_.size() > 0;
    if (error == asio::error::operation_aborted && begun)
      return say({.status = 408,
                  .body = "{\"error\": \"too slow: a request has " +
                          std::to_string(shared_.limits.to_send.count() / 1000) + " s to arrive\"}\n"},
                 false);
    if (error == http::error::body_limit)
      return say({.status = 413, .body = "{\"error\": \"too long\"}\n"}, false);
    if (error == http::error::header_limit)
      return say({.status = 431, .body = "{\"error\": \"too long a header\"}\n"}, false);
    const bool of_http = error.category() == make_error_code(http::error::bad_method).category();
    if (of_http && error != http::error::end_of_stream && error != http::error::partial_message)
      return say({.status = 400, .body = "{\"error\": \"not a request of HTTP\"}\n"}, false);
    if (error) return;  // gone, or silent for too long
    const auto& request = parser_->get();
    ServeRequest asked{
        std::string(request.method_string()), std::string(request.target()), {}, request.body()};
    for (const auto& field : request) {
      std::string name(field.name_string());
      for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      asked.headers[name] = std::string(field.value());
    }
    ServeAnswer answer = shared_.service.answer(asked);
    if (answer.events && answer.status == 200 && request.method() != http::verb::head)
      return begin_events(answer.after);
    say(std::move(answer), request.keep_alive());
  }

  // To HEAD the head alone, with the length that the body would have.
  void say(ServeAnswer answer, bool keep_alive) {
    const bool head_alone = parser_->get().method() == http::verb::head;
    keep_alive = keep_alive && !answer.events;
    answer_.emplace(static_cast<http::status>(answer.status), 11);
    answer_->set(http::field::content_type, answer.type);
    answer_->set(http::field::cache_control, "no-store");
    answer_->set("X-Content-Type-Options", "nosniff");
    answer_->set("Cross-Origin-Resource-Policy", "same-origin");
    if (!answer.page) answer_->set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    if (!answer.allow.empty()) answer_->set(http::field::allow, answer.allow);
    if (!answer.cookie.empty()) answer_->set(http::field::set_cookie, answer.cookie);
    if (!answer.location.empty()) answer_->set(http::field::location, answer.location);
    if (answer.status == 401) answer_->set(http::field::www_authenticate, "Bearer");
    answer_->keep_alive(keep_alive);
    if (!answer.events) answer_->content_length(answer.body.size());  // events end with their connection
    if (!head_alone) answer_->body() = std::move(answer.body);
    stream_.expires_after(shared_.limits.to_send);
    http::async_write(stream_, *answer_,
                      [self = shared_from_this(), keep_alive](beast::error_code error, std::size_t) {
                        if (error) return;
                        if (keep_alive) return self->read();
                        beast::error_code ignored;
                        self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
                      });
  }

  void begin_events(std::uint64_t after) {
    last_event_ = after;
    shared_.listeners.insert(this);
    notice_end();
    send(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\nretry: 1000\n\n");
  }

  // Who listens says nothing more: what comes is the end.
  void notice_end() {
    stream_.expires_never();
    stream_.async_read_some(asio::buffer(heard_),
                            [self = shared_from_this()](beast::error_code error, std::size_t) {
                              if (!error) return self->notice_end();
                              self->gone_ = true;
                              self->timer_.cancel();
                            });
  }

  // One message for all that happened since the last: at most ten a second, but for ends.
  void more_events() {
    std::string text;
    for (const RunEvent& event : shared_.service.runs().events_after(last_event_)) {
      text += "id: " + std::to_string(event.number) + "\ndata: " + event.json + "\n\n";
      last_event_ = event.number;
    }
    const auto now = std::chrono::steady_clock::now();
    if (!text.empty()) return send(std::move(text));
    if (now - last_sign_ > kBetweenSignsOfLife) return send(": here\n\n");
    wait();
  }

  void send(std::string text) {
    text_ = std::move(text);
    last_sign_ = std::chrono::steady_clock::now();
    stream_.expires_after(shared_.limits.to_send);
    asio::async_write(stream_, asio::buffer(text_),
                      [self = shared_from_this()](beast::error_code error, std::size_t) {
                        if (!error) self->wait();
                      });
  }

  void wait() {
    if (gone_) return;
    const bool ended = shared_.service.runs().last_end() > last_event_;
    timer_.expires_after(ended ? std::chrono::milliseconds(0) : shared_.limits.between_events);
    timer_.async_wait([self = shared_from_this()](beast::error_code) {
      if (!self->gone_) self->more_events();
    });
  }

  beast::tcp_stream stream_;
  asio::steady_timer timer_, deadline_;  // of events, and of a request
  bool reading_ = false;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> answer_;
  Shared& shared_;
  std::array<char, 64> heard_{};
  bool gone_ = false;
  std::string text_;
  std::uint64_t last_event_ = 0;
  std::chrono::steady_clock::time_point last_sign_;
};

}  // namespace

struct HttpServer::Network {
  Network(Service& service, const ServeLimits& limits) : shared{service, limits} {}

  bool listen(const tcp::endpoint& at) {
    beast::error_code error;
    tcp::acceptor acceptor(context);
    acceptor.open(at.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error && at.address().is_v6()) acceptor.set_option(asio::ip::v6_only(true), error);
    if (!error) acceptor.bind(at, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) return false;
    acceptors.push_back(std::make_unique<tcp::acceptor>(std::move(acceptor)));
    accept(*acceptors.back());
    return true;
  }

  void accept(tcp::acceptor& acceptor) {
    acceptor.async_accept([this, &acceptor](beast::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      // Beyond the limit a client finds its connection closed.
      if (!error && shared.connections < shared.limits.connections)
        std::make_shared<Connection>(std::move(socket), shared)->read();
      accept(acceptor);
    });
  }

  void watch(const std::atomic<bool>& stop) {
    constexpr std::chrono::milliseconds kLook{50};
    watching.expires_after(kLook);
    watching.async_wait([this, &stop](beast::error_code) {
      if (stop) return context.stop();
      watch(stop);
    });
  }

  Shared shared;  // outlives the connections, which the context holds
  asio::io_context context{1};
  std::vector<std::unique_ptr<tcp::acceptor>> acceptors;
  asio::steady_timer watching{context};
};

HttpServer::HttpServer(Service& service, int port, const ServeLimits& limits, const std::string& address)
    : network_(std::make_unique<Network>(service, limits)) {
  PODSIM_CHECK(port >= 0 && port <= UINT16_MAX, "a port of TCP");
  PODSIM_CHECK(address.empty() || listen_address(address), "the address is one of the Internet Protocol");
  const auto wanted = static_cast<unsigned short>(port);
  const asio::ip::address at =
      address.empty() ? asio::ip::address(asio::ip::address_v4::loopback()) : asio::ip::make_address(address);
  if (!network_->listen({at, wanted}))
    throw std::runtime_error(
        "cannot listen at " + at.to_string() + " with port " + std::to_string(port) +
        ": it is taken, not allowed, or not of this machine; --port 0 takes any that is free");
  if (address.empty())
    network_->listen({asio::ip::address_v6::loopback(), static_cast<unsigned short>(this->port())});
  service.set_port(this->port());
  service.runs().on_end([network = network_.get()] {
    asio::post(network->context, [network] {
      for (Connection* listener : network->shared.listeners) listener->hurry();
    });
  });
}

std::optional<ListenAddress> listen_address(const std::string& text) {
  beast::error_code error;
  const asio::ip::address address = asio::ip::make_address(text, error);
  if (error) return std::nullopt;
  const std::string name = address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
  return ListenAddress{name, address.is_loopback(), address.is_unspecified()};
}

std::string machine_name() {
  beast::error_code error;
  const std::string name = asio::ip::host_name(error);
  return error ? "localhost" : name;
}

HttpServer::~HttpServer() { network_->shared.service.runs().on_end({}); }

int HttpServer::port() const { return network_->acceptors.front()->local_endpoint().port(); }

void HttpServer::run(const std::atomic<bool>& stop) {
  network_->watch(stop);
  network_->context.run();
}

}  // namespace podsim
