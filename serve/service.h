// What a server answers, request by request, without a network: the editor's page, checks, runs and their
// results. No request names a path; the files that are touched are the store of the history and, to be read,
// those of the documentation.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "proto/catalog/catalog.h"
#include "proto/pages/page.h"
#include "serve/access.h"
#include "serve/documents.h"
#include "serve/history.h"
#include "serve/run_queue.h"

namespace podsim {

// What a client asks by HTTP.
struct ServeRequest {
  std::string method, target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// What it is told.
struct ServeAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::string allow = {};     // methods, where another was asked for
  bool events = false;        // a stream of events follows instead
  std::uint64_t after = 0;    // the last that the client knows
  bool page = false;          // HTML that brings its own policy
  std::string cookie = {};    // that the browser is to keep
  std::string location = {};  // where it is to go on
};

// How results are told that are no single step: as the command line tells them.
struct ResultWriters {
  std::function<std::string(const Space&, const SearchAnswer&)> search_json;
  std::function<Page(const Space&, const SearchAnswer&, std::span<const SearchMoment>)> search_page;
  std::function<Page(std::span<const Report>)> compare_page;
};

class Service {
 public:
  // `catalog` is read by several threads at once. `scenario` is what the editor shows first. There may be no
  // history and no documentation, and no searches or comparisons without writers. REQUIRES: what is pointed
  // to outlives this object.
  Service(const Catalog& catalog, std::string scenario, int threads, History* history = nullptr,
          ResultWriters writers = {}, const Documents* documents = nullptr);

  // Whom browsers may ask for it: "localhost:8737", with the port that it has.
  void set_port(int port) { port_ = port; }

  // REQUIRES: nobody asks yet.
  void set_access(Access access) { access_ = std::move(access); }

  // Never throws, whatever the request. HEAD is answered as GET is. A browser's request of another site is
  // refused: by its Host (names that lead here from elsewhere), its Origin, and a header of our own on what
  // changes something.
  ServeAnswer answer(const ServeRequest& request);

  RunQueue& runs() { return runs_; }

 private:
  ServeAnswer routed(const ServeRequest& request);
  ServeAnswer events(const ServeRequest& request) const;
  ServeAnswer check(const std::string& text);
  ServeAnswer run(const std::string& text);
  ServeAnswer search(const std::string& text);
  ServeAnswer queued(std::optional<std::int64_t> id) const;
  ServeAnswer of_run(const ServeRequest& request, const std::string& path);
  ServeAnswer comparison(const std::string& path) const;
  ServeAnswer document(const std::string& name) const;
  ServeAnswer result_of(const ServedRun& run, bool page) const;
  ServeAnswer trace_of(const ServedRun& run);
  ServeAnswer entries() const;
  ServeAnswer list() const;
  ServeAnswer kept() const;
  ServeAnswer of_kept(const std::string& path) const;
  ServeAnswer editor() const;

  const Catalog& catalog_;
  const std::string scenario_;
  History* const history_;
  const ResultWriters writers_;
  const Documents* const documents_;
  int port_ = 0;
  Access access_;
  RunQueue runs_;
};

}  // namespace podsim
