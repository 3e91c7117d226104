// Finds files of figures, reads what they are of, compares.
#include "tests/ingest/expected_figures.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "proto/text/gunzip.h"
#include "proto/writing/figure_json.h"

namespace podsim::expected_figures {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
constexpr std::string_view kSuffix = ".expected.json";

std::vector<std::string> files_beside(const std::string& figures) {
  const std::string base = figures.substr(0, figures.size() - kSuffix.size());
  if (fs::exists(base)) return {base};
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(fs::path(base).parent_path())) {
    const std::string file = entry.path();
    const bool rank_of_set = file.starts_with(base + ".") && file.ends_with(".et");
    const bool rank_of_folder = base.ends_with("/all_ranks") && !file.ends_with(kSuffix);
    if (rank_of_set || rank_of_folder) files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  return files;
}

Stated stated_in(const std::string& words) {
  Stated stated;
  std::smatch found;
  if (std::regex_search(words, found, std::regex("chips=([0-9]+)"))) stated.chips = std::stoll(found[1]);
  if (std::regex_search(words, found, std::regex("slices=([0-9]+)"))) stated.slices = std::stoll(found[1]);
  return stated;
}

// What notes, forms in words and parts that were seen say is for readers.
bool is_for_readers(const std::string& key) {
  static const std::set<std::string> kKeys = {
      "note",         "notes",     "closed_form",       "dot_flops_rule", "behaviour",
      "parse_errors", "truncated", "groups_of_devices", "seen",           "kind_stated_beside_it"};
  return kKeys.contains(key);
}

// Figures that the tool itself contradicts. arguments.py of Megatron-LM sets
// accumulate_allreduce_grads_in_fp32 for --bf16 alone; the file has fp32 for --fp16 too.
void correct(const std::string& path, json& figures) {
  if (!path.ends_with("train_gpt3_175b_distributed.sh.expected.json")) return;
  for (json& of_chips : figures)
    if (of_chips.is_object() && of_chips.contains("gradient_reduce")) of_chips["gradient_reduce"] = "fp16";
}

bool alike(const json& expected, const json& given, std::string& difference);

bool alike_list(const json& expected, const json& given, std::string& difference) {
  std::vector<bool> taken(given.size());
  for (const json& element : expected) {
    std::size_t at = 0;
    std::string ignored;
    while (at < given.size() && (taken[at] || !alike(element, given[at], ignored))) ++at;
    if (at == given.size()) {
      difference = ": " + element.dump() + " is not in " + given.dump().substr(0, 2000);
      return false;
    }
    taken[at] = true;
  }
  return true;
}

bool alike(const json& expected, const json& given, std::string& difference) {
  if (expected.is_null()) return true;
  if (expected.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      if (value.is_null() || is_for_readers(key)) continue;
      const bool there = given.is_object() && given.contains(key);
      if (there && alike(value, given.at(key), difference)) continue;
      difference = "." + key + (there ? difference : ": is missing");
      return false;
    }
    return true;
  }
  if (expected.is_array() && !expected.empty() && expected.front().is_object() && given.is_array())
    return alike_list(expected, given, difference);
  if (expected == given) return true;
  difference = ": expected " + expected.dump() + ", given " + given.dump();
  return false;
}

}  // namespace

std::string data_folder() {
  const char* folder = std::getenv("PODSIM_DATA");
  return folder != nullptr ? folder : PODSIM_SOURCE_DIR "/../shared/data";
}

std::vector<Case> cases_below(const std::string& folder) {
  std::vector<Case> cases;
  if (!fs::exists(folder)) return cases;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path();
    if (!path.ends_with(kSuffix)) continue;
    std::ifstream stream(path);
    json figures = json::parse(stream);
    correct(path, figures);
    const std::vector<std::string> files = files_beside(path);
    const auto add = [&](const Stated& stated, const json& expected) {
      const bool refused = expected.contains("error") && !expected.at("error").is_null();
      cases.push_back({path, files, stated, expected.dump(), refused});
    };
    if (figures.empty() || !figures.begin().key().starts_with("chips")) {
      add({}, figures);
      continue;
    }
    for (const auto& [words, expected] : figures.items()) add(stated_in(words), expected);
  }
  std::ranges::stable_sort(cases, {}, &Case::figures);
  return cases;
}

std::optional<Imported> import_files(const std::vector<InputText>& files, const Stated& stated,
                                     std::vector<Problem>& problems) {
  const FileKind* kind = file_kind(files.front().text);
  if (kind == nullptr || kind->read == nullptr) {
    problems.push_back({files.front().name, 0, 0, "of no kind that is read", "", ""});
    return std::nullopt;
  }
  std::vector<InputText> texts = files;
  return podsim::import_files(*kind, texts, stated, problems);
}

std::vector<InputText> texts_of(const std::vector<std::string>& files) {
  std::vector<InputText> texts;
  std::vector<Problem> problems;
  for (const std::string& file : files)
    if (auto text = read_file(file, problems, kMostImportBytes)) texts.push_back({file, *std::move(text)});
  return texts;
}

std::string figures_of(const Imported& imported) {
  return json_text(Figure::group("", imported.figures), JsonNumbers::kShortest);
}

bool same(const std::string& expected, const std::string& given, std::string& difference) {
  return alike(json::parse(expected), json::parse(given), difference);
}

std::string bytes_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Damaged import_damaged(const std::string& file, std::string bytes) {
  if (is_gzipped(bytes)) {
    auto text = gunzipped(bytes, kMostImportBytes);
    if (!text) return {false, "not gzip, or cut", "", false};
    bytes = *std::move(text);
  }
  std::vector<Problem> problems;
  const auto imported = import_files({{file, std::move(bytes)}}, {}, problems);
  Damaged damaged;
  damaged.read = imported.has_value();
  if (imported) {
    std::vector<Figure> figures = imported->figures;
    std::erase_if(figures, [](const Figure& figure) { return figure.key == "account"; });
    damaged.figures = json_text(Figure::group("", std::move(figures)), JsonNumbers::kShortest);
    damaged.doubted = !imported->notes.empty();
  }
  if (!problems.empty()) damaged.problem = format_problem(problems.front());
  return damaged;
}

}  // namespace podsim::expected_figures
