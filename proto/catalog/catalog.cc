// The catalogue: entries by name, built in and added.
#include "proto/catalog/catalog.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "engine/check.h"
#include "proto/catalog.pb.h"
#include "proto/catalog/builtin_catalog.h"
#include "proto/catalog/catalog_entries.h"
#include "proto/catalog/contract_length.h"
#include "proto/catalog/convert.h"
#include "proto/catalog/entry_name.h"
#include "proto/catalog/price_offer.h"
#include "proto/text/parse.h"
#include "proto/text/question_digest.h"
#include "proto/text/ranges.h"

namespace podsim {
namespace {

std::string element_path(const std::string& field, int index) {
  return field + "[" + std::to_string(index) + "]";
}

// Cuts a file into its entries: each begins with the comment lines right above it and ends where the next one
// begins.
class EntryTexts {
 public:
  EntryTexts(const Document& document, const schema::Catalog& catalog) : document_(document) {
    const google::protobuf::Descriptor& fields = *catalog.GetDescriptor();
    for (int f = 0; f < fields.field_count(); ++f)
      for (int i = 0; i < catalog.GetReflection()->FieldSize(catalog, fields.field(f)); ++i)
        starts_.push_back(start_of(document.line_of(element_path(fields.field(f)->name(), i))));
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

void check_prices(const schema::Catalog& catalog, Document& document) {
  for (int list = 0; list < catalog.prices_size(); ++list) {
    const std::string rows = join_path(element_path("prices", list), "price");
    std::set<std::string> offers;
    for (int row = 0; row < catalog.prices(list).price_size(); ++row) {
      const schema::ChipPrice& price = catalog.prices(list).price(row);
      const std::string path = element_path(rows, row);
      if (lacks_length(price)) document.report(join_path(path, "term"), kLacksLength, kLengthHint);
      if (is_of_owned_chips(price)) document.report(join_path(path, "term"), kOwnedIsNoRent, kOwnedHint);
      if (!offers.insert(offer_of(price)).second) document.report(path, kSaidBefore, kSaidBeforeHint);
    }
  }
}

// A file that is read; nothing when it has problems, which the document then holds.
std::optional<schema::Catalog> read_catalog(Document& document) {
  schema::Catalog catalog;
  if (!parse(document, catalog)) return std::nullopt;
  check_ranges(catalog, "", document);
  check_required(catalog, "", document);
  check_prices(catalog, document);
  return document.clean() ? std::optional(std::move(catalog)) : std::nullopt;
}

template <class Message>
std::vector<std::string> aliases_of(const Message& entry) {
  if constexpr (requires { entry.alias(); }) return {entry.alias().begin(), entry.alias().end()};
  return {};
}

// Names that fit other entries too.
template <class Message>
std::vector<std::string> loose_aliases_of(const Message& entry) {
  if constexpr (requires { entry.loose_alias(); })
    return {entry.loose_alias().begin(), entry.loose_alias().end()};
  return {};
}

// The entries of one section. A file of the binary is read when one of its entries is asked for first:
// reading them all takes longer than predicting most steps. Look-ups may come from several threads.
template <class Message>
class SectionEntries {
 public:
  using Field = const google::protobuf::RepeatedPtrField<Message>& (schema::Catalog::*)() const;

  // `field` of a catalogue file has the entries; those of the binary stand in `folder`, each in the file of
  // its name if there is one.
  SectionEntries(const std::string& folder, std::string name, Field field)
      : name_(std::move(name)), field_(field) {
    for (const CatalogFile& file : builtin_catalog())
      if (file.name.starts_with(folder + "/")) unread_.push_back(file);
  }

  // By name or alias. Null for an unknown one.
  const Message* find(const std::string& name) const {
    const auto* entry = look_up(name);
    if (entry) LookedUpEntries::note(name_, entry->message.name(), entry->message);
    return entry ? &entry->message : nullptr;
  }
  Message* find(const std::string& name) {
    auto* entry = look_up(name);
    return entry ? &entry->message : nullptr;
  }

  std::optional<std::string> text(const std::string& name) const {
    const auto* entry = look_up(name);
    if (entry == nullptr) return std::nullopt;
    return entry->file.text.empty() ? entry->text : text_in(entry->file, entry->message.name());
  }

  std::vector<std::string> names() const {
    const std::lock_guard lock(mutex_);
    read_all();
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries_) names.push_back(name);
    return names;
  }

  // Entries of known names are replaced, and what is added goes before what the binary calls by the same
  // alias.
  void add(const schema::Catalog& catalog, const EntryTexts& texts) {
    const std::lock_guard lock(mutex_);
    int index = 0;
    for (const Message& message : (catalog.*field_)()) {
      for (const std::string& key : keys_of(message)) names_by_key_[key] = message.name();
      entries_[message.name()] = {message, {}, texts.text(element_path(name_, index++))};
    }
  }

 private:
  struct Entry {
    Message message;
    CatalogFile file;  // of the binary, whose text is cut out when it is asked for; otherwise none
    std::string text;  // as in its file, where that is no file of the binary
  };

  // The entry of that name as it stands in a file of the binary.
  std::string text_in(const CatalogFile& file, const std::string& name) const {
    Document document(std::string(file.name), std::string(file.text));
    const auto catalog = read_catalog(document);
    PODSIM_CHECK(catalog, "built-in catalogue: " + format_problem(document.problems().front()));
    const auto& all = (catalog.value().*field_)();
    const auto at = std::ranges::find(all, name, [](const Message& entry) { return entry.name(); });
    return EntryTexts(document, *catalog).text(element_path(name_, static_cast<int>(at - all.begin())));
  }

  Entry* look_up(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    if (!entries_.contains(name)) read_named(name);
    if (!entries_.contains(name)) read_all();
    auto at = entries_.find(name);
    for (const std::string& known_as : {name, without_organisation(name)}) {
      const auto known = names_by_key_.find(entry_key(known_as));
      if (at == entries_.end() && known != names_by_key_.end()) at = entries_.find(known->second);
    }
    return at == entries_.end() ? nullptr : &at->second;
  }

  static std::vector<std::string> keys_of(const Message& entry) {
    std::vector<std::string> keys{entry_key(entry.name())};
    for (const std::string& alias : aliases_of(entry)) keys.push_back(entry_key(alias));
    for (const std::string& alias : loose_aliases_of(entry)) keys.push_back(entry_key(alias));
    return keys;
  }

  void read_named(const std::string& name) const {
    const auto named = std::ranges::find_if(
        unread_, [&](const CatalogFile& file) { return file.name.ends_with("/" + name + ".textproto"); });
    if (named == unread_.end()) return;
    read(*named);
    unread_.erase(named);
  }

  void read_all() const {
    for (const CatalogFile& file : unread_) read(file);
    unread_.clear();
  }

  // What was added before keeps its place. That the values of the binary's files are as the schema wants them
  // is for tests to say, not for every process that asks for one.
  void read(const CatalogFile& file) const {
    schema::Catalog catalog;
    PODSIM_CHECK(parse_known_text(file.text, catalog), "built-in catalogue: " + std::string(file.name));
    for (const Message& message : (catalog.*field_)()) {
      if (!entries_.try_emplace(message.name(), Entry{message, file, {}}).second) continue;
      for (const std::string& key : keys_of(message)) names_by_key_.try_emplace(key, message.name());
    }
  }

  std::string name_;
  Field field_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Entry> entries_;
  mutable std::map<std::string, std::string> names_by_key_;  // of names and aliases that have been read
  mutable std::vector<CatalogFile> unread_;
};

}  // namespace

struct Catalog::Entries {
  SectionEntries<schema::Chip> chips{"chips", "chip", &schema::Catalog::chip};
  SectionEntries<schema::Fabric> fabrics{"fabrics", "fabric", &schema::Catalog::fabric};
  SectionEntries<schema::Model> models{"models", "model", &schema::Catalog::model};
  SectionEntries<schema::Stack> stacks{"stacks", "stack", &schema::Catalog::stack};
  SectionEntries<schema::PriceList> prices{"prices", "prices", &schema::Catalog::prices};
  SectionEntries<schema::Transport> transports{"transports", "transport", &schema::Catalog::transport};
  SectionEntries<schema::FailureMix> failures{"failures", "failures", &schema::Catalog::failures};
  SectionEntries<schema::Jitter> jitters{"jitters", "jitter", &schema::Catalog::jitter};
  SectionEntries<schema::Lengths> lengths{"lengths", "lengths", &schema::Catalog::lengths};
  SectionEntries<schema::Kernels> kernels{"kernels", "kernels", &schema::Catalog::kernels};
  SectionEntries<schema::Library> libraries{"libraries", "library", &schema::Catalog::library};
};

namespace {

// Calls f with the entries of a section.
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
      return f(entries.lengths);
    case Catalog::Section::kKernels:
      return f(entries.kernels);
    case Catalog::Section::kLibraries:
      break;
  }
  return f(entries.libraries);
}

constexpr std::size_t kSections = static_cast<std::size_t>(Catalog::Section::kLibraries) + 1;

}  // namespace

const schema::Chip* find_chip(const Catalog::Entries& entries, const std::string& name) {
  return entries.chips.find(name);
}
const schema::Fabric* find_fabric(const Catalog::Entries& entries, const std::string& name) {
  return entries.fabrics.find(name);
}
const schema::Model* find_model(const Catalog::Entries& entries, const std::string& name) {
  return entries.models.find(name);
}
const schema::Stack* find_stack(const Catalog::Entries& entries, const std::string& name) {
  return entries.stacks.find(name);
}
const schema::PriceList* find_prices(const Catalog::Entries& entries, const std::string& name) {
  return entries.prices.find(name);
}
const schema::Transport* find_transport(const Catalog::Entries& entries, const std::string& name) {
  return entries.transports.find(name);
}
const schema::Library* find_library(const Catalog::Entries& entries, const std::string& name) {
  return entries.libraries.find(name);
}
const schema::FailureMix* find_failures(const Catalog::Entries& entries, const std::string& name) {
  return entries.failures.find(name);
}
const schema::Jitter* find_jitter(const Catalog::Entries& entries, const std::string& name) {
  return entries.jitters.find(name);
}
const schema::Lengths* find_lengths(const Catalog::Entries& entries, const std::string& name) {
  return entries.lengths.find(name);
}
const schema::Kernels* find_kernels(const Catalog::Entries& entries, const std::string& name) {
  return entries.kernels.find(name);
}

google::protobuf::Message* find_entry(Catalog::Entries& entries, Catalog::Section section,
                                      const std::string& name) {
  return with_section(entries, section,
                      [&](auto& of) -> google::protobuf::Message* { return of.find(name); });
}

std::vector<std::string> entry_names(const Catalog::Entries& entries, Catalog::Section section) {
  return with_section(entries, section, [](const auto& of) { return of.names(); });
}

std::optional<std::string> canonical_name(const Catalog::Entries& entries, Catalog::Section section,
                                          const std::string& name) {
  return with_section(entries, section, [&](const auto& of) {
    const auto* entry = of.find(name);
    return entry ? std::optional(entry->name()) : std::nullopt;
  });
}

std::vector<std::string> entry_aliases(const Catalog::Entries& entries, Catalog::Section section,
                                       const std::string& name) {
  return with_section(entries, section, [&](const auto& of) {
    const auto* entry = of.find(name);
    return entry ? aliases_of(*entry) : std::vector<std::string>{};
  });
}

std::vector<std::string> loose_aliases(const Catalog::Entries& entries, Catalog::Section section,
                                       const std::string& name) {
  return with_section(entries, section, [&](const auto& of) {
    const auto* entry = of.find(name);
    return entry ? loose_aliases_of(*entry) : std::vector<std::string>{};
  });
}

void add_catalog_file(Catalog::Entries& entries, Document& document) {
  const auto catalog = read_catalog(document);
  if (!catalog) return;
  const EntryTexts texts(document, *catalog);
  for (std::size_t section = 0; section < kSections; ++section)
    with_section(entries, static_cast<Catalog::Section>(section), [&](auto& of) { of.add(*catalog, texts); });
}

Catalog::Catalog() : entries_(std::make_unique<Entries>()) {}
Catalog::~Catalog() = default;
Catalog::Catalog(Catalog&&) noexcept = default;
Catalog& Catalog::operator=(Catalog&&) noexcept = default;

std::vector<std::string> Catalog::names(Section section) const { return entry_names(*entries_, section); }

std::optional<std::string> Catalog::text(Section section, const std::string& name) const {
  return with_section(*entries_, section, [&](const auto& of) { return of.text(name); });
}

std::optional<std::string> Catalog::canonical(Section section, const std::string& name) const {
  return canonical_name(*entries_, section, name);
}

std::vector<std::string> Catalog::aliases(Section section, const std::string& name) const {
  std::vector<std::string> all = entry_aliases(*entries_, section, name);
  std::ranges::copy(loose_aliases(*entries_, section, name), std::back_inserter(all));
  return all;
}

std::string Catalog::hint(Section section, const std::string& name) const {
  return hint_for_unknown_name(*entries_, section, name);
}

std::optional<Model> Catalog::model(const std::string& name) const {
  const schema::Model* entry = find_model(*entries_, name);
  return entry && !entry->has_program() ? std::optional(to_model(*entry)) : std::nullopt;
}

std::optional<Transport> Catalog::transport(const std::string& name) const {
  const schema::Transport* entry = find_transport(*entries_, name);
  return entry ? std::optional(to_transport(*entry)) : std::nullopt;
}

std::vector<std::string> Catalog::fabrics_of(const std::string& chip) const {
  const schema::Chip* entry = find_chip(*entries_, chip);
  std::vector<std::string> fabrics;
  for (const std::string& name : names(Section::kFabrics)) {
    const auto& chips = find_fabric(*entries_, name)->chip();
    if (entry && std::find(chips.begin(), chips.end(), entry->name()) != chips.end()) fabrics.push_back(name);
  }
  std::stable_sort(fabrics.begin(), fabrics.end(),
                   [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  return fabrics;
}

std::vector<Catalog::MeasuredSystem> Catalog::measured_systems() const {
  std::vector<MeasuredSystem> systems;
  for (const std::string& name : names(Section::kFabrics))
    for (const schema::MeasuredSystem& as : find_fabric(*entries_, name)->measured_as())
      systems.push_back({as.system(), as.network(), name});
  return systems;
}

}  // namespace podsim
