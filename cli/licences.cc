// Names the libraries; the licences of scripts are those that the scripts themselves carry.
#include "cli/licences.h"

#include <string_view>

#include "proto/pages/page_files.h"

namespace podsim {
namespace {

// Comments of a script that state a copyright.
std::string legal_comments(std::string_view script) {
  constexpr std::size_t kLongest = 8000;  // a comment; else what begins one is part of the program
  std::string out;
  for (std::size_t at = 0; (at = script.find("/*", at)) != std::string_view::npos;) {
    const std::size_t end = script.find("*/", at + 2);
    if (end == std::string_view::npos) break;
    const std::string_view comment = script.substr(at + 2, end - at - 2);
    if (comment.size() > kLongest || comment.find("Copyright") == std::string_view::npos) {
      at += 2;
      continue;
    }
    const std::size_t first = comment.find_first_not_of("!* \n");
    out += "\n" + std::string(comment.substr(first, comment.find_last_not_of("* \n") + 1 - first)) + "\n";
    at = end + 2;
  }
  return out;
}

}  // namespace

std::string licences() {
  std::string out =
      "podsim is under the Apache License, Version 2.0 (file LICENSE).\n\n"
      "In the binary, or beside it where it is linked to shared libraries:\n"
      "  Boost                       Boost Software License 1.0\n"
      "  Protocol Buffers            3-clause BSD\n"
      "  Eigen                       Mozilla Public License 2.0\n"
      "  spdlog and fmt              MIT\n"
      "  CLI11                       3-clause BSD\n"
      "  JSON for Modern C++         MIT\n"
      "  SQLite                      public domain\n"
      "  zlib                        zlib\n\n";
  for (const CatalogFile& file : page_files())
    if (file.name == "charts.js")
      return out + "In the pages that it writes, Apache ECharts and what that is made of:\n" +
             legal_comments(file.text);
  return out + "This podsim was built without the scripts of pages.\n";
}

}  // namespace podsim
