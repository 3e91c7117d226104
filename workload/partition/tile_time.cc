// Waves of tiles over the compute units.
#include "workload/partition/tile_time.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "engine/check.h"

namespace podsim {
namespace {

// The least that has been found, and what is known before the waves are rounded: most candidates lose by
// that.
class Best {
 public:
  Best(const TiledMatmul& numbers, const TileUnits& on) : numbers_(numbers), on_(on) {}

  void try_tiles(double tiles, const Tile& tile, double k, double beside_s) {
    const double waves = std::max(1.0, tiles / on_.units);
    const double wave_s =
        2.0 * on_.units * tile.m * tile.n * (k + numbers_.fill) * (1 + tile.penalty) / on_.flops_per_s;
    if (waves * wave_s + beside_s >= seconds_) return;
    const double whole = std::ceil(waves) / waves;
    const double loss = whole > 1 ? std::pow(whole, numbers_.wave_exponent) : 1;
    seconds_ = std::min(seconds_, waves * loss * wave_s + beside_s);
  }

  double seconds() const { return seconds_; }

 private:
  const TiledMatmul& numbers_;
  const TileUnits& on_;
  double seconds_ = std::numeric_limits<double>::infinity();
};

}  // namespace

double tile_seconds(const TiledMatmul& numbers, double m, double n, double k, double groups,
                    const TileUnits& on) {
  PODSIM_CHECK(!numbers.tiles.empty() && on.units > 0, "kernels have tiles, and units to run them");
  Best best(numbers, on);
  for (const Tile& tile : numbers.tiles) {
    for (const Tile& turned : {tile, Tile{tile.n, tile.m, tile.penalty}}) {
      const double tiles = groups * std::ceil(m / turned.m) * std::ceil(n / turned.n);
      best.try_tiles(tiles, turned, k, 0);
      for (const double parts : {2.0, 4.0, 8.0})
        best.try_tiles(tiles * parts, turned, k / parts,
                       groups * m * n * parts * numbers.split_bytes / on.bytes_per_s);
      if (tile.m == tile.n) break;
    }
  }
  return best.seconds();
}

double grouped_tile_seconds(const TiledMatmul& numbers, const std::function<double(int rows)>& row_tiles,
                            double n, double k, const TileUnits& on) {
  Best best(numbers, on);
  for (const Tile& tile : numbers.tiles)
    best.try_tiles(row_tiles(tile.m) * std::ceil(n / tile.n), tile, k, 0);
  return best.seconds();
}

double beside(double a_s, double b_s) {
  const double longer = std::max(a_s, b_s);
  if (longer == 0) return 0;
  const double share = std::min(a_s, b_s) / longer, square = share * share;
  return longer * std::sqrt(std::sqrt(1 + square * square));
}

}  // namespace podsim
