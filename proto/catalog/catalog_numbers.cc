// Numbers of catalogue entries by path: read, set, and rewritten in the file that states them.
#include <google/protobuf/message.h>

#include <algorithm>

#include "proto/catalog.pb.h"
#include "proto/catalog/catalog.h"
#include "proto/catalog/catalog_entries.h"
#include "proto/catalog/rewrite_numbers.h"
#include "proto/text/number_path.h"
#include "proto/text/parse.h"
#include "proto/text/ranges.h"
#include "report/text/text.h"

namespace podsim {
namespace {

using google::protobuf::Message;

bool is_given(const NumberField& number) {
  return number.field && number.message->GetReflection()->HasField(*number.message, number.field);
}

// The field of schema::Catalog that lists the entries of a section.
const char* list_name(Catalog::Section section) {
  constexpr const char* kNames[] = {"chip", "fabric", "model", "stack", "prices", "transport"};
  return kNames[static_cast<int>(section)];
}

// The number in one file: its field, placed from the root. No field where the file does not set it.
NumberField number_in_file(schema::Catalog& file, const NumberChange& change) {
  const auto* list = file.GetDescriptor()->FindFieldByName(list_name(change.section));
  const auto* reflection = file.GetReflection();
  for (int i = 0; i < reflection->FieldSize(file, list); ++i) {
    Message* entry = reflection->MutableRepeatedMessage(&file, list, i);
    const auto* name = entry->GetDescriptor()->FindFieldByName("name");
    if (entry->GetReflection()->GetString(*entry, name) != change.entry) continue;
    NumberField found = find_number(entry, change.path);
    if (!is_given(found)) return {};
    found.place = std::string(list_name(change.section)) + "[" + std::to_string(i) + "]." + found.place;
    return found;
  }
  return {};
}

struct Token {
  std::size_t begin = 0, size = 0;
};

// The number that follows the name of its field: sustained: 0.67.
Token number_token(const Document& document, TextPosition field) {
  const std::string& text = document.text();
  const std::size_t line =
      static_cast<std::size_t>(document.line(field.line).data() - document.text().data());
  std::size_t begin = text.find(':', line + static_cast<std::size_t>(field.column) - 1);
  begin = text.find_first_not_of(" \t\r\n", begin + 1);
  return {begin, std::min(text.find_first_of(" \t\r\n,;}#", begin), text.size()) - begin};
}

}  // namespace

std::optional<double> Catalog::number(Section section, const std::string& name,
                                      const std::string& path) const {
  const NumberField found = find_number(find_entry(*entries_, section, name), path);
  if (!is_given(found)) return std::nullopt;
  return found.message->GetReflection()->GetDouble(*found.message, found.field);
}

std::vector<std::string> Catalog::numbers(Section section, const std::string& name) const {
  const Message* entry = find_entry(*entries_, section, name);
  return entry ? number_paths(*entry) : std::vector<std::string>{};
}

bool Catalog::set_number(Section section, const std::string& name, const std::string& path, double value) {
  const NumberField found = find_number(find_entry(*entries_, section, name), path);
  if (!found.field) return false;
  found.message->GetReflection()->SetDouble(found.message, found.field, value);
  return true;
}

RewrittenFile rewrite_numbers(const std::string& file, const std::string& text,
                              const std::vector<NumberChange>& changes) {
  RewrittenFile result{text, {}, {}};
  Document document(file, text);
  schema::Catalog catalog;
  if (!parse(document, catalog) || !document.clean()) {
    result.problems = document.problems();
    return result;
  }
  std::vector<std::pair<Token, std::string>> tokens;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const NumberField found = number_in_file(catalog, changes[i]);
    if (!found.field) continue;
    result.done.push_back(i);
    if (found.message->GetReflection()->GetDouble(*found.message, found.field) == changes[i].value) continue;
    tokens.emplace_back(number_token(document, document.position_of(found.place)),
                        shortest(changes[i].value));
  }
  // From the end of the text, so that the places of the others stay.
  std::sort(tokens.begin(), tokens.end(),
            [](const auto& a, const auto& b) { return a.first.begin > b.first.begin; });
  for (const auto& [token, number] : tokens) result.text.replace(token.begin, token.size, number);
  Document changed(file, result.text);
  schema::Catalog now;
  if (parse(changed, now)) check_ranges(now, "", changed);
  if (!changed.clean()) return {text, {}, changed.problems()};
  return result;
}

}  // namespace podsim
