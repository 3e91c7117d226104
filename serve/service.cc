// Answers requests. What a scenario says stays text: it goes into JSON, and into pages that escape it.
#include "serve/service.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "engine/number_text.h"
#include "engine/sha256.h"
#include "prediction/memory_need.h"
#include "proto/pages/origin.h"
#include "proto/pages/page_files.h"
#include "proto/pages/run_page.h"
#include "proto/scenario/load.h"
#include "proto/scenario/load_space.h"
#include "proto/text/byte_order_mark.h"
#include "proto/writing/write.h"
#include "report/pictures/svg.h"

namespace podsim {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& json) {
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

ServeAnswer refused(int status, const std::string& why) {
  return {.status = status, .body = dumped({{"error", why}})};
}

constexpr char kGet[] = "GET, HEAD";  // methods of what is only looked at

ServeAnswer not_allowed(const std::string& methods) {
  ServeAnswer answer = refused(405, "this takes " + methods);
  answer.allow = methods;
  return answer;
}

std::string header_of(const ServeRequest& request, const std::string& name) {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? "" : found->second;
}

Json problems_json(const std::vector<Problem>& problems) {
  Json list = Json::array();
  for (const Problem& problem : problems)
    list.push_back({{"line", problem.line},
                    {"column", problem.column},
                    {"message", problem.message},
                    {"hint", problem.hint}});
  return list;
}

}  // namespace

Service::Service(const Catalog& catalog, std::string scenario, int threads, History* history,
                 ResultWriters writers, const Documents* documents)
    : catalog_(catalog),
      scenario_(std::move(scenario)),
      history_(history),
      writers_(std::move(writers)),
      documents_(documents),
      runs_(threads, [history](const Spec& spec, const std::string& text, const Prediction& prediction) {
        if (history != nullptr) history->keep(spec, text, prediction);
      }) {}

ServeAnswer Service::answer(const ServeRequest& request) {
  if (request.method == "HEAD") {  // what GET answers, of which the server sends no body
    ServeRequest whole = request;
    whole.method = "GET";
    return answer(whole);
  }
  if (!access_.knows_host(header_of(request, "host"), port_))
    return refused(421, "this server answers to localhost, 127.0.0.1, [::1] and its --listen address alone");
  const std::string origin = header_of(request, "origin");
  if (!origin.empty() && origin != "http://" + header_of(request, "host"))
    return refused(403, "requests of other sites are refused");
  if (request.method == "GET" && access_.brings_token(request.target))
    return {.status = 303, .body = dumped({{"see", "/"}}), .cookie = access_.cookie(), .location = "/"};
  if (!access_.admits(request.headers))
    return refused(
        401, "this server needs its token: open the address that it printed, or send Authorization: Bearer");
  if (request.method != "GET" && header_of(request, "x-podsim").empty())
    return refused(403, "a request that changes something needs the header X-Podsim");
  try {
    return routed(request);
  } catch (const std::exception& failure) {  // a store that cannot be read
    return refused(500, failure.what());
  }
}

ServeAnswer Service::routed(const ServeRequest& request) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  const bool get = request.method == "GET", post = request.method == "POST";
  const auto only = [&](bool allowed, const char* methods) {
    return allowed ? std::nullopt : std::optional(not_allowed(methods));
  };
  if (path == "/") return only(get, kGet).value_or(get ? editor() : ServeAnswer{});
  if (path == "/api/catalog") return only(get, kGet).value_or(get ? entries() : ServeAnswer{});
  if (path == "/api/jobs") return only(get, kGet).value_or(get ? list() : ServeAnswer{});
  if (path == "/api/history") return only(get, kGet).value_or(get ? kept() : ServeAnswer{});
  constexpr std::string_view kKept = "/api/history/";
  if (path.starts_with(kKept))
    return only(get, kGet).value_or(get ? of_kept(path.substr(kKept.size())) : ServeAnswer{});
  if (path == "/api/check" || path == "/api/run" || path == "/api/search") {
    if (const auto wrong = only(post, "POST")) return *wrong;
    const std::string type = header_of(request, "content-type");
    if (!type.starts_with("text/plain") && !type.starts_with("application/json"))
      return refused(415, "a scenario is text/plain, or application/json");
    const std::string text = without_byte_order_mark(request.body);
    if (path == "/api/search") return search(text);
    return path == "/api/check" ? check(text) : run(text);
  }
  if (path == "/api/events") return only(get, kGet).value_or(get ? events(request) : ServeAnswer{});
  constexpr std::string_view kCompare = "/api/compare/", kDocs = "/docs/";
  if (path.starts_with(kCompare))
    return only(get, kGet).value_or(get ? comparison(path.substr(kCompare.size())) : ServeAnswer{});
  if (path.starts_with(kDocs))
    return only(get, kGet).value_or(get ? document(path.substr(kDocs.size())) : ServeAnswer{});
  if (path.starts_with("/api/jobs/")) return of_run(request, path.substr(std::string("/api/jobs/").size()));
  return refused(404, "there is nothing at " + path.substr(0, 200));
}

// Those after the last that the client says to know: in Last-Event-ID, as a browser does that connects again,
// or else in ?after=N; without either those from now on.
ServeAnswer Service::events(const ServeRequest& request) const {
  ServeAnswer answer{.type = "text/event-stream", .events = true};
  constexpr std::string_view kAfter = "?after=";
  const std::size_t query = request.target.find('?');
  const std::string_view asked =
      std::string_view(request.target).substr(std::min(query, request.target.size()));
  const auto known = whole_text_as<std::uint64_t>(header_of(request, "last-event-id"));
  const auto after =
      known || !asked.starts_with(kAfter) ? known : whole_text_as<std::uint64_t>(asked.substr(kAfter.size()));
  if (!known && !asked.empty() && !after)
    return refused(400, "events take ?after=N, N the number of an event, such as last_event of /api/jobs");
  answer.after = after.value_or(runs_.last_event());
  if (answer.after > runs_.last_event()) answer.after = 0;  // of a server before this one
  return answer;
}

ServeAnswer Service::check(const std::string& text) {
  const LoadResult loaded = load_scenario("scenario", text, catalog_, {});
  std::vector<Problem> warnings = loaded.warnings;
  if (loaded.spec)
    for (const std::string& warning : memory_warnings(*loaded.spec))
      warnings.push_back({"scenario", 0, 0, warning, "", ""});
  return {.body =
              dumped({{"problems", problems_json(loaded.problems)}, {"warnings", problems_json(warnings)}})};
}

ServeAnswer Service::run(const std::string& text) {
  LoadResult loaded = load_scenario("scenario", text, catalog_, {});
  if (!loaded.spec) return {.status = 422, .body = dumped({{"problems", problems_json(loaded.problems)}})};
  return queued(runs_.add(*std::move(loaded.spec), text));
}

ServeAnswer Service::search(const std::string& text) {
  if (!writers_.search_json) return refused(404, "this server does not search");
  LoadSearchResult loaded = load_search("scenario", text, catalog_, {});
  if (!loaded.question)
    return {.status = 422, .body = dumped({{"problems", problems_json(loaded.problems)}})};
  return queued(runs_.add(*std::move(loaded.question), text));
}

ServeAnswer Service::queued(std::optional<std::int64_t> id) const {
  if (!id) return refused(429, std::to_string(RunQueue::kMostWaiting) + " runs are waiting: try again later");
  return {.status = 202, .body = dumped({{"id", *id}})};
}

ServeAnswer Service::of_run(const ServeRequest& request, const std::string& path) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), id);
  const std::string rest(end, path.data() + path.size());
  const bool page = rest == "/page", trace = rest == "/trace", whole = rest.empty();
  if (error != std::errc() || !(whole || page || trace)) return refused(404, "there is no such run");
  const auto found = runs_.find(id);
  if (!found) return refused(404, "there is no such run");
  if (request.method == "DELETE" && whole)
    return runs_.cancel(id) ? ServeAnswer{.status = 202, .body = dumped({{"id", id}})}
                            : refused(409, "the run has ended");
  if (request.method != "GET") return not_allowed(whole ? "GET, HEAD, DELETE" : kGet);
  const ServedRun& run = *found;
  if (run.state != RunState::kFinished) {
    Json json = {{"id", id}, {"state", to_string(run.state)}, {"share", run.share}};
    if (!run.message.empty()) json["message"] = run.message;
    return {.status = run.state == RunState::kFailed      ? 500
                      : run.state == RunState::kCancelled ? 410
                                                          : 202,
            .body = dumped(json)};
  }
  return trace ? trace_of(run) : result_of(run, page);
}

// It is made when it is first asked for: intervals cost a step more than its report does.
ServeAnswer Service::trace_of(const ServedRun& run) {
  if (run.trace) return {.type = "application/octet-stream", .body = *run.trace};
  if (run.trace_failure) return refused(500, "no trace: " + *run.trace_failure);
  if (!run.prediction || run.prediction->jobs) return refused(404, "only a run of one job has a trace");
  LoadResult loaded = load_scenario("scenario", run.text, catalog_, {});
  if (!loaded.spec || !runs_.add_trace(run.id, *std::move(loaded.spec))) return queued(std::nullopt);
  return queued(run.id);
}

ServeAnswer Service::result_of(const ServedRun& run, bool page) const {
  Page shown;
  if (run.layouts) {
    const SearchedLayouts& found = *run.layouts;
    if (!page) return {.body = writers_.search_json(found.space, found.answer)};
    shown = writers_.search_page(found.space, found.answer, found.course.moments());
  } else {
    const Prediction& of = *run.prediction;
    if (!page)
      return {.body = of.jobs ? report_json(*of.jobs)
                              : report_json(of.report, of.detail ? &*of.detail : nullptr)};
    shown = of.jobs ? jobs_page(*of.jobs) : run_page(of.report, of.detail ? &*of.detail : nullptr);
  }
  shown.origins = {origin_of(run.scenario, run.text, catalog_, {})};
  return {.type = "text/html; charset=utf-8", .body = html_page(shown), .page = true};
}

// "A/B": two runs of one job each, beside each other.
ServeAnswer Service::comparison(const std::string& path) const {
  std::vector<Report> reports;
  std::string_view rest = path;
  for (const char after : {'/', '\0'}) {
    std::int64_t id = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), id);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const bool ends = after == '\0' ? rest.empty() : rest.starts_with(after);
    const auto run = error == std::errc() && ends ? runs_.find(id) : std::nullopt;
    if (!run || !run->prediction || run->prediction->jobs || !writers_.compare_page)
      return refused(404, "two runs of one job each that are done can be compared, as in /api/compare/1/2");
    reports.push_back(run->prediction->report);
    if (!rest.empty()) rest.remove_prefix(1);
  }
  return {
      .type = "text/html; charset=utf-8", .body = html_page(writers_.compare_page(reports)), .page = true};
}

ServeAnswer Service::document(const std::string& name) const {
  auto found = documents_ == nullptr ? std::nullopt : documents_->find(name);
  if (!found) return refused(404, "there is no such page of the documentation");
  const bool page = found->type.starts_with("text/html");
  return {.type = std::move(found->type), .body = std::move(found->content), .page = page};
}

ServeAnswer Service::entries() const {
  using Section = Catalog::Section;
  return {.body = dumped({{"chips", catalog_.names(Section::kChips)},
                          {"fabrics", catalog_.names(Section::kFabrics)},
                          {"models", catalog_.names(Section::kModels)},
                          {"stacks", catalog_.names(Section::kStacks)}})};
}

ServeAnswer Service::list() const {
  const std::uint64_t last =
      runs_.last_event();  // before the list: what happens meanwhile is told again, not lost
  Json list = Json::array();
  for (const ServedRun& run : runs_.all()) {
    Json& one = list.emplace_back(Json{{"id", run.id},
                                       {"scenario", run.scenario},
                                       {"state", to_string(run.state)},
                                       {"share", run.share},
                                       {"searches", run.searches}});
    if (!run.message.empty()) one["message"] = run.message;
  }
  return {.body = dumped({{"jobs", list}, {"last_event", last}})};
}

ServeAnswer Service::kept() const {
  constexpr std::size_t kMostListed = 100;
  Json list = Json::array();
  if (history_ != nullptr) {
    for (const StoredResult& each : history_->newest(kMostListed))
      list.push_back({{"key", each.key},
                      {"version", each.version},
                      {"scenario", each.name},
                      {"step_time_s", each.figures.step_time.in_seconds()},
                      {"mfu_causal", each.figures.mfu_causal},
                      {"fits", each.figures.fits}});
  }
  return {.body = dumped({{"kept", list}})};
}

// "KEY" is the report that was kept last, "KEY/scenario" its scenario.
ServeAnswer Service::of_kept(const std::string& path) const {
  const std::size_t slash = path.find('/');
  const std::string key = path.substr(0, slash);
  const bool scenario = slash != std::string::npos;
  if (history_ != nullptr && (!scenario || path.substr(slash) == "/scenario")) {
    if (const auto found = history_->find(key)) {
      if (scenario) return {.type = "text/plain; charset=utf-8", .body = found->scenario.text};
      if (!found->report.empty()) return {.body = found->report};
    }
  }
  return refused(404, "there is no such report");
}

ServeAnswer Service::editor() const {
  const std::string style(page_file("serve.css")), script(page_file("serve.js"));
  const std::string body =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; connect-src 'self'; "
      "frame-src 'self'; style-src 'sha256-" +
      sha256_base64(style) + "'; script-src 'sha256-" + sha256_base64(script) +
      "'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>podsim</title>\n<style>" +
      style + "</style>\n</head>\n<body>\n<div id=\"left\">\n<h1>podsim</h1>\n" +
      std::string(documents_ ? "<p><a id=\"docs\" href=\"/docs/\" target=\"_blank\">Documentation</a></p>\n"
                             : "") +
      "<label for=\"scenario\">Scenario</label>\n<div id=\"editor\"><pre id=\"marks\" "
      "aria-hidden=\"true\"></pre>"
      "<textarea id=\"scenario\" spellcheck=\"false\" wrap=\"off\" aria-describedby=\"problems\">\n" +
      escaped(scenario_) +
      "</textarea></div>\n<div id=\"mesh\"></div>\n<ol id=\"problems\" aria-live=\"polite\"></ol>\n"
      "<p><button id=\"run\">Run</button> " +
      std::string(writers_.search_json ? "<button id=\"search\">Search layouts</button> " : "") +
      "<button id=\"cancel\" disabled>Cancel</button> "
      "<button id=\"pin\" disabled>Pin</button> <button id=\"trace\" disabled>Trace</button> <span "
      "id=\"state\" aria-live=\"polite\"></span></p>\n"
      "<div id=\"live\"></div>\n<h2>Runs</h2>\n<ul id=\"runs\"></ul>\n<div id=\"pinned\"></div>\n" +
      std::string(history_ ? "<h2>Kept</h2>\n<ul id=\"kept\"></ul>\n" : "") +
      "</div>\n"
      "<iframe id=\"page\" title=\"Report of the run\"></iframe>\n<script>" +
      script + "</script>\n</body>\n</html>\n";
  return {.type = "text/html; charset=utf-8", .body = body, .page = true};
}

}  // namespace podsim
