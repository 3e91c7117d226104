// Part of catalog.h: files of a user.
#include <algorithm>
#include <filesystem>
#include <iterator>

#include "proto/catalog/catalog.h"
#include "proto/catalog/catalog_entries.h"
#include "proto/catalog/price_sheet.h"
#include "proto/text/parse.h"
#include "proto/text/read_file.h"

namespace podsim {
namespace {

void add_entries(Catalog::Entries& entries, const std::string& file, const std::string& text,
                 std::vector<Problem>& problems) {
  Document document(file, text);
  add_catalog_file(entries, document);
  std::ranges::copy(document.problems(), std::back_inserter(problems));
}

// Nothing of a table without prices.
bool add_file(Catalog::Entries& entries, const std::string& file, std::vector<Problem>& problems) {
  const std::size_t before = problems.size();
  const auto text = read_file(file, problems);
  const auto catalog_text = text ? as_catalog_text(file, *text, entries, problems) : std::nullopt;
  if (!catalog_text) return problems.size() > before;
  add_entries(entries, file, *catalog_text, problems);
  return true;
}

}  // namespace

std::vector<Problem> Catalog::add_directory(const std::string& path) {
  std::vector<Problem> problems;
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {
    if (!add_file(*entries_, path, problems))
      problems.push_back({path, 1, 0, "the table has no prices", "",
                          "it needs the columns chip, term and usd_per_chip_hour"});
    return problems;
  }
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    if (const auto kind = at->path().extension(); kind == ".textproto" || kind == ".csv")
      files.push_back(at->path().string());
  }
  if (error) return {{path, 0, 0, "cannot read the directory: " + error.message(), "", ""}};
  if (files.empty()) return {{path, 0, 0, "the directory has no *.textproto file", "", ""}};
  std::ranges::sort(files);  // chips before what they cost
  std::stable_partition(files.begin(), files.end(),
                        [](const std::string& file) { return !file.ends_with(".csv"); });
  for (const std::string& file : files) add_file(*entries_, file, problems);
  return problems;
}

std::vector<Problem> Catalog::add_text(const std::string& file, const std::string& text) {
  std::vector<Problem> problems;
  add_entries(*entries_, file, text, problems);
  return problems;
}

}  // namespace podsim
