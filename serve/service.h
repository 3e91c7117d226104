// What a server answers, request by request, without a network: the editor's page, checks, runs and their
// results. No request reads or writes a file.
#pragma once

#include <map>
#include <string>

#include "proto/catalog/catalog.h"
#include "serve/run_queue.h"

namespace podsim {

struct ServeRequest {
  std::string method, target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

struct ServeAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::string allow = {};   // methods, where another was asked for
  bool events = false;      // a stream of events follows instead
  std::uint64_t after = 0;  // the last that the client knows
  bool page = false;        // HTML that brings its own policy
};

class Service {
 public:
  // `catalog` is read by one thread at a time, and outlives this object. `scenario` is what the editor shows
  // first.
  Service(const Catalog& catalog, std::string scenario, int threads);

  // Whom browsers may ask for it: "localhost:8737", with the port that it has.
  void set_port(int port) { port_ = port; }

  // Never throws, whatever the request. A browser's request of another site is refused: by its Host (names
  // that lead here from elsewhere), its Origin, and a header of our own on what changes something.
  ServeAnswer answer(const ServeRequest& request);

  RunQueue& runs() { return runs_; }

 private:
  bool host_is_ours(const ServeRequest& request) const;
  ServeAnswer routed(const ServeRequest& request);
  ServeAnswer check(const std::string& text);
  ServeAnswer run(const std::string& text);
  ServeAnswer of_run(const ServeRequest& request, const std::string& path);
  ServeAnswer entries() const;
  ServeAnswer list() const;
  ServeAnswer editor() const;

  const Catalog& catalog_;
  const std::string scenario_;
  int port_ = 0;
  RunQueue runs_;
};

}  // namespace podsim
