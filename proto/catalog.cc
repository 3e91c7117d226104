// The catalogue: entries by name, built in and added.
#include <algorithm>
#include <filesystem>
#include <map>

#include "engine/check.h"
#include "proto/assign.h"
#include "proto/builtin_catalog.h"
#include "proto/catalog.pb.h"
#include "proto/catalog_entries.h"
#include "proto/convert.h"
#include "proto/load.h"
#include "proto/parse.h"
#include "proto/ranges.h"
#include "proto/read_file.h"
#include "proto/resolve.h"
#include "proto/scenario.pb.h"

namespace podsim {

namespace {

template <class Message>
struct Entry {
  Message message;
  std::string text;  // as in its file
};

template <class Message>
using EntryMap = std::map<std::string, Entry<Message>>;

}  // namespace

struct Catalog::Entries {
  EntryMap<schema::Chip> chips;
  EntryMap<schema::Fabric> fabrics;
  EntryMap<schema::Model> models;
  EntryMap<schema::Stack> stacks;
  EntryMap<schema::PriceList> prices;
  EntryMap<schema::Transport> transports;
  EntryMap<schema::FailureMix> failures;
  EntryMap<schema::Jitter> jitters;
  EntryMap<schema::Lengths> lengths;
};

namespace {

template <class Message>
const Message* find_in(const EntryMap<Message>& map, const std::string& name) {
  const auto at = map.find(name);
  return at == map.end() ? nullptr : &at->second.message;
}

// Calls f with the map of a section.
template <class Entries, class F>
auto with_section(Entries& entries, Catalog::Section section, F f) {
  switch (section) {
    case Catalog::Section::kChips:
      return f(entries.chips);
    case Catalog::Section::kFabrics:
      return f(entries.fabrics);
    case Catalog::Section::kModels:
      return f(entries.models);
    case Catalog::Section::kStacks:
      return f(entries.stacks);
    case Catalog::Section::kPrices:
      return f(entries.prices);
    case Catalog::Section::kTransports:
      return f(entries.transports);
    case Catalog::Section::kFailures:
      return f(entries.failures);
    case Catalog::Section::kJitters:
      return f(entries.jitters);
    case Catalog::Section::kLengths:
      break;
  }
  return f(entries.lengths);
}

constexpr const char* kSectionWords[] = {"chip",      "fabric",          "model",  "stack",  "price list",
                                         "transport", "mix of failures", "jitter", "lengths"};

// Cuts a file into its entries: each begins with the comment lines right above it and ends where the next one
// begins.
class EntryTexts {
 public:
  EntryTexts(const Document& document, const schema::Catalog& catalog) : document_(document) {
    const auto note = [&](const char* field, int size) {
      for (int i = 0; i < size; ++i) {
        starts_.push_back(start_of(document.line_of(std::string(field) + "[" + std::to_string(i) + "]")));
      }
    };
    note("chip", catalog.chip_size());
    note("fabric", catalog.fabric_size());
    note("model", catalog.model_size());
    note("stack", catalog.stack_size());
    note("prices", catalog.prices_size());
    note("transport", catalog.transport_size());
    note("failures", catalog.failures_size());
    note("jitter", catalog.jitter_size());
    note("lengths", catalog.lengths_size());
    std::sort(starts_.begin(), starts_.end());
  }

  std::string text(const std::string& path) const {
    const int first = start_of(document_.line_of(path));
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), first);
    const int last = next == starts_.end() ? document_.lines() : *next - 1;
    std::string text;
    for (int line = first; line <= last; ++line) text += std::string(document_.line(line)) + "\n";
    while (text.size() > 1 && text[text.size() - 2] == '\n') text.pop_back();
    return text;
  }

 private:
  int start_of(int line) const {
    while (line > 1 && !document_.line(line - 1).empty() && document_.line(line - 1).front() == '#') --line;
    return line;
  }

  const Document& document_;
  std::vector<int> starts_;
};

template <class Messages, class Message>
void add_entries(const Messages& messages, const char* field, const EntryTexts& texts,
                 EntryMap<Message>& map) {
  for (int i = 0; i < messages.size(); ++i) {
    map[messages[i].name()] = {messages[i], texts.text(std::string(field) + "[" + std::to_string(i) + "]")};
  }
}

}  // namespace

const schema::Chip* find_chip(const Catalog::Entries& entries, const std::string& name) {
  return find_in(entries.chips, name);
}
const schema::Fabric* find_fabric(const Catalog::Entries& entries, const std::string& name) {
  return find_in(entries.fabrics, name);
}
const schema::Model* find_model(const Catalog::Entries& entries, const std::string& name) {
  return find_in(entries.models, name);
}
const schema::Stack* find_stack(const Catalog::Entries& entries, const std::string& name) {
  return find_in(entries.stacks, name);
}
const schema::PriceList* find_prices(const Catalog::Entries& entries, const std::string& name) {
  return find_in(entries.prices, name);
}
const schema::Transport* find_transport(const Catalog::Entries& entries, const std::string& name) {
  return find_in(entries.transports, name);
}
const schema::FailureMix* find_failures(const Catalog::Entries& entries, const std::string& name) {
  return find_in(entries.failures, name);
}
const schema::Jitter* find_jitter(const Catalog::Entries& entries, const std::string& name) {
  return find_in(entries.jitters, name);
}
const schema::Lengths* find_lengths(const Catalog::Entries& entries, const std::string& name) {
  return find_in(entries.lengths, name);
}

google::protobuf::Message* find_entry(Catalog::Entries& entries, Catalog::Section section,
                                      const std::string& name) {
  return with_section(entries, section, [&](auto& map) -> google::protobuf::Message* {
    const auto at = map.find(name);
    return at == map.end() ? nullptr : &at->second.message;
  });
}

std::vector<std::string> entry_names(const Catalog::Entries& entries, Catalog::Section section) {
  return with_section(entries, section, [](const auto& map) {
    std::vector<std::string> names;
    for (const auto& [name, entry] : map) names.push_back(name);
    return names;
  });
}

void report_unknown_name(const Catalog::Entries& entries, Catalog::Section section, const std::string& name,
                         const std::string& path, Document& document) {
  const std::string what = kSectionWords[static_cast<int>(section)];
  document.report(path, "the catalogue has no " + what + " \"" + name + "\"",
                  suggest(name, entry_names(entries, section), "it has"));
}

void add_catalog_file(Catalog::Entries& entries, Document& document) {
  schema::Catalog catalog;
  if (!parse(document, catalog)) return;
  check_ranges(catalog, "", document);
  check_required(catalog, "", document);
  if (!document.clean()) return;
  const EntryTexts texts(document, catalog);
  add_entries(catalog.chip(), "chip", texts, entries.chips);
  add_entries(catalog.fabric(), "fabric", texts, entries.fabrics);
  add_entries(catalog.model(), "model", texts, entries.models);
  add_entries(catalog.stack(), "stack", texts, entries.stacks);
  add_entries(catalog.prices(), "prices", texts, entries.prices);
  add_entries(catalog.transport(), "transport", texts, entries.transports);
  add_entries(catalog.failures(), "failures", texts, entries.failures);
  add_entries(catalog.jitter(), "jitter", texts, entries.jitters);
  add_entries(catalog.lengths(), "lengths", texts, entries.lengths);
}

Catalog::Catalog() : entries_(std::make_unique<Entries>()) {
  for (CatalogFile& file : builtin_catalog()) {
    Document document(file.name, std::move(file.text));
    add_catalog_file(*entries_, document);
    PODSIM_CHECK(document.clean(), "built-in catalogue: " + format_problem(document.problems().front()));
  }
}

Catalog::~Catalog() = default;
Catalog::Catalog(Catalog&&) noexcept = default;
Catalog& Catalog::operator=(Catalog&&) noexcept = default;

std::vector<Problem> Catalog::add_directory(const std::string& path) {
  std::error_code error;
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".textproto") files.push_back(at->path().string());
  }
  if (error) return {{path, 0, 0, "cannot read the directory: " + error.message(), "", ""}};
  if (files.empty()) return {{path, 0, 0, "the directory has no *.textproto file", "", ""}};
  std::sort(files.begin(), files.end());
  std::vector<Problem> problems;
  for (const std::string& file : files) {
    const auto text = read_file(file, problems);
    if (!text) continue;
    Document document(file, *text);
    add_catalog_file(*entries_, document);
    for (const Problem& problem : document.problems()) problems.push_back(problem);
  }
  return problems;
}

std::vector<std::string> Catalog::names(Section section) const { return entry_names(*entries_, section); }

std::optional<std::string> Catalog::text(Section section, const std::string& name) const {
  return with_section(*entries_, section, [&](const auto& map) -> std::optional<std::string> {
    const auto at = map.find(name);
    if (at == map.end()) return std::nullopt;
    return at->second.text;
  });
}

std::optional<Model> Catalog::model(const std::string& name) const {
  const schema::Model* entry = find_model(*entries_, name);
  if (entry == nullptr || entry->has_program()) return std::nullopt;
  return to_model(*entry);
}

std::optional<Transport> Catalog::transport(const std::string& name) const {
  const schema::Transport* entry = find_transport(*entries_, name);
  if (entry == nullptr) return std::nullopt;
  return to_transport(*entry);
}

std::vector<Catalog::MeasuredSystem> Catalog::measured_systems() const {
  std::vector<MeasuredSystem> systems;
  for (const auto& [name, entry] : entries_->fabrics)
    for (const schema::MeasuredSystem& as : entry.message.measured_as())
      systems.push_back({as.system(), as.network(), name});
  return systems;
}

// The choice is read as the cluster block of a scenario whose fields stand on the command line.
std::pair<std::optional<FabricSpec>, std::vector<Problem>> Catalog::fabric(const FabricChoice& choice) const {
  schema::ClusterChoice cluster;
  Document document("--fabric", "");
  cluster.set_fabric(choice.name);
  document.place_argument("fabric", "--fabric", choice.name);
  document.place_argument("chips", "--chips", choice.chips > 0 ? std::to_string(choice.chips) : "");
  if (choice.chips != 0) cluster.set_chips(choice.chips);
  std::string shape;
  for (const int length : choice.shape) {
    cluster.add_slice_shape(length);
    shape += (shape.empty() ? "" : "x") + std::to_string(length);
  }
  document.place_argument("slice_shape", "--shape", shape);
  if (choice.slices != 1) cluster.set_slices(choice.slices);
  document.place_argument("slices", "--slices", std::to_string(choice.slices));
  if (choice.twisted) cluster.set_twisted(true);
  document.place_argument("twisted", "--twisted", "");
  if (schema::RoutingName routing; schema::RoutingName_Parse(choice.routing, &routing))
    cluster.set_routing(routing);
  document.place_argument("routing", "--routing", choice.routing);
  if (choice.routing_seed) cluster.set_routing_seed(*choice.routing_seed);
  if (!choice.transport.empty()) cluster.set_transport(choice.transport);
  document.place_argument("transport", "--transport", choice.transport);
  check_ranges(cluster, "", document);
  std::optional<FabricSpec> spec;
  if (document.clean()) spec = resolve_fabric(cluster, *entries_, "", document);
  if (!document.clean()) spec.reset();
  return {spec, document.problems()};
}

}  // namespace podsim
