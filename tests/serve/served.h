// A service without a network, asked by tests.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <thread>

#include "serve/service.h"

namespace podsim::serve_test {

inline const std::string kSmall =
    R"(question: "q?" cluster { chip: "h100" chips: 8 fabric: "dgx_h100" }
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
  Service service{
      catalog,
      "first </textarea><script>",
      1,
      nullptr,
      {[](const Space&, const SearchAnswer& answer) { return std::to_string(answer.best.size()); },
       [](const Space& space, const SearchAnswer&, std::span<const SearchMoment>) {
         return Page{.title = space.spec().name, .json = "{}"};
       },
       [](std::span<const Report> reports) {
         return Page{.title = std::to_string(reports.size()) + " reports", .json = "{}"};
       }}};
};

inline ServeAnswer asked_of(Service& service, const std::string& method, const std::string& target,
                            const std::string& body = "") {
  service.set_port(1);
  return service.answer(
      {method, target, {{"host", "localhost:1"}, {"x-podsim", "1"}, {"content-type", "text/plain"}}, body});
}

}  // namespace podsim::serve_test
