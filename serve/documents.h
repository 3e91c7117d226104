// Static pages of one folder, such as those of ./dev site: files that were there when it was opened, by the
// addresses that lead to them. No path comes from a request.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace podsim {

class Documents {
 public:
  // Regular files below the folder whose names have letters, digits, points, dashes and underscores alone; no
  // links are followed. Nothing where the folder has no index.html.
  static std::optional<Documents> open(const std::string& folder);

  struct Document {
    std::string type, content;
  };
  // "" and names that end in "/" are the index.html there. Nothing where there is no such file any more.
  std::optional<Document> find(const std::string& name) const;

 private:
  std::map<std::string, std::string> path_of_;  // by name below the folder
};

}  // namespace podsim
