// Opens stores for this build of podsim.
#include "cli/options/store_option.h"

#include <dlfcn.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "cli/terminal/version.h"
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
  // Built from sources that no commit has: named by the bytes of the program or library that this is a part
  // of.
  Dl_info part{};
  const bool found = dladdr(reinterpret_cast<const void*>(&model_version), &part) != 0 && part.dli_fname;
  std::ifstream self(
      found && std::filesystem::is_regular_file(part.dli_fname) ? part.dli_fname : "/proc/self/exe",
      std::ios::binary);
  constexpr std::size_t kShort = 12;
  return name + " " + sha256(self).substr(0, kShort);
}

std::unique_ptr<Store> open_result_store(const std::string& path) {
  return path.empty() ? nullptr : std::make_unique<Store>(path, model_version());
}

}  // namespace podsim
