// Lists a folder once, and reads files of the list.
#include "serve/documents.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "proto/text/read_file.h"

namespace podsim {
namespace {

namespace fs = std::filesystem;

bool plain(const std::string& name) {
  return std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("._-/").find(c) != std::string_view::npos;
  });
}

// What is not listed is shown as text.
std::string type_of(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTypes = {{
      {".html", "text/html; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".jpg", "image/jpeg"},
      {".png", "image/png"},
  }};
  for (const auto& [end, type] : kTypes)
    if (name.ends_with(end)) return std::string(type);
  return "text/plain; charset=utf-8";
}

}  // namespace

std::optional<Documents> Documents::open(const std::string& folder) {
  Documents documents;
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, error), end;
  for (; !error && entries != end; entries.increment(error)) {
    if (entries->symlink_status().type() != fs::file_type::regular) continue;
    std::string name = entries->path().lexically_relative(folder).generic_string();
    if (plain(name)) documents.path_of_.emplace(std::move(name), entries->path().string());
  }
  if (!documents.path_of_.contains("index.html")) return std::nullopt;
  return documents;
}

std::optional<Documents::Document> Documents::find(const std::string& name) const {
  const auto found = path_of_.find(name.empty() || name.ends_with('/') ? name + "index.html" : name);
  if (found == path_of_.end()) return std::nullopt;
  std::vector<Problem> problems;
  auto content = read_file(found->second, problems);
  if (!content) return std::nullopt;
  return Document{type_of(found->first), *std::move(content)};
}

}  // namespace podsim
