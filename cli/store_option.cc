// Opens stores for this build of podsim.
#include "cli/store_option.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>

#include "cli/version.h"
#include "engine/sha256.h"

namespace podsim {

void add_store_option(CLI::App& verb, std::string& path) {
  verb.add_option("--store", path,
                  "Keep every simulated step in this file, and simulate nothing that is in it: an ended "
                  "command goes on where it was")
      ->type_name("FILE");
}

std::string model_version() {
  std::string name = version();
  if (commit().empty()) return name;
  name += " " + commit();
  if (commit().back() != '+') return name;
  // Built from sources that no commit has.
  std::ifstream self("/proc/self/exe", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(self), {}};
  constexpr std::size_t kShort = 12;
  return name + " " + sha256(bytes).substr(0, kShort);
}

std::unique_ptr<Store> open_result_store(const std::string& path) {
  return path.empty() ? nullptr : std::make_unique<Store>(path, model_version());
}

}  // namespace podsim
