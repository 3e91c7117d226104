// Mesh after mesh, axis after axis.
#include "ingest/stablehlo/mesh_text.h"

#include <algorithm>
#include <charconv>

namespace podsim::stablehlo {
namespace {

constexpr std::string_view kQuote = "\\22";

// \22x\22=2, \22y\22=4
std::optional<Mesh> axes_in(std::string_view text) {
  Mesh mesh;
  while (text.starts_with(kQuote)) {
    const std::size_t end = text.find(kQuote, kQuote.size()), digits = end + kQuote.size() + 1;
    std::int64_t size = 0;
    if (end == std::string_view::npos || digits > text.size() ||
        std::from_chars(text.data() + digits, text.data() + text.size(), size).ec != std::errc() || size < 1)
      return std::nullopt;
    mesh.emplace_back(text.substr(kQuote.size(), end - kQuote.size()), size);
    text.remove_prefix(std::min(text.find(kQuote, digits), text.size()));
  }
  return mesh;
}

}  // namespace

std::optional<std::vector<std::pair<std::string, Mesh>>> meshes_in(std::string_view text) {
  constexpr std::string_view kMesh = "#sdy.mesh<[";
  std::vector<std::pair<std::string, Mesh>> meshes;
  for (std::size_t at = text.find(kMesh); at != std::string_view::npos; at = text.find(kMesh)) {
    std::string_view name = text.substr(0, at);
    name = name.substr(0, name.find_last_not_of(" =") + 1);
    name.remove_prefix(name.find_last_of("{, ") + 1);
    text.remove_prefix(at + kMesh.size());
    auto mesh = axes_in(text.substr(0, text.find(']')));
    if (!mesh) return std::nullopt;
    meshes.emplace_back(name, *std::move(mesh));
  }
  return meshes;
}

}  // namespace podsim::stablehlo
