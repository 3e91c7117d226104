// Reads lists of groups, and generates those that are written as reshapes of 0, 1, 2, ... or as mesh axes.
#include "ingest/hlo/group_lists.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <set>
#include <string_view>

namespace podsim::hlo {
namespace {

constexpr std::int64_t kMostDevices = std::int64_t{1} << 24;

// The numbers in the text up to `end`, or nothing where something else than separators stands between them.
std::optional<std::vector<std::int64_t>> numbers(std::string_view text) {
  std::vector<std::int64_t> found;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ' || text[at] == ',') {
      ++at;
      continue;
    }
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc() || value < 0 || value > kMostDevices) return std::nullopt;
    found.push_back(value);
    at = static_cast<std::size_t>(end - text.data());
  }
  return found;
}

// What stands between the first `open` and the `close` after it, and the text after that.
std::optional<std::string_view> between(std::string_view& text, char open, char close) {
  const std::size_t begin = text.find(open), end = text.find(close, begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
  const std::string_view inside = text.substr(begin + 1, end - begin - 1);
  text.remove_prefix(end + 1);
  return inside;
}

std::int64_t product(const std::vector<std::int64_t>& lengths) {
  std::int64_t all = 1;
  for (const std::int64_t length : lengths) {
    if (length < 1 || all > kMostDevices / length) return 0;
    all *= length;
  }
  return all;
}

NamedNumbers all_below(std::int64_t count) {
  return {.count = count, .largest = count - 1, .missing = count};
}

NamedNumbers named_by(std::vector<std::int64_t> numbers) {
  std::ranges::sort(numbers);
  NamedNumbers named{.count = static_cast<std::int64_t>(numbers.size())};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0 && numbers[i] == numbers[i - 1] && !named.twice) named.twice = numbers[i];
    if (numbers[i] == named.missing) ++named.missing;
  }
  if (!numbers.empty()) named.largest = numbers.back();
  return named;
}

void keep_first(GroupList& list, const std::vector<std::int64_t>& group) {
  list.first.assign(group.begin(),
                    group.begin() + static_cast<std::ptrdiff_t>(std::min(kKeptIds, group.size())));
}

// Numbers row by row as groups of this size.
std::vector<std::vector<std::int64_t>> rows_of(const std::vector<std::int64_t>& numbers, std::int64_t size) {
  std::vector<std::vector<std::int64_t>> rows;
  for (auto row = numbers.begin(); row != numbers.end(); row += static_cast<std::ptrdiff_t>(size))
    rows.emplace_back(row, row + static_cast<std::ptrdiff_t>(size));
  return rows;
}

// {{0,1},{2,3}}
std::optional<GroupList> written_out(std::string_view text, Listed listed) {
  GroupList list;
  std::vector<std::int64_t> all;
  bool even = true, empty_group = false;
  std::string_view rest = text.substr(1);
  while (rest.find('{') != std::string_view::npos) {
    const auto inside = between(rest, '{', '}');
    const auto group = inside ? numbers(*inside) : std::nullopt;
    if (!group) return std::nullopt;
    const auto size = static_cast<std::int64_t>(group->size());
    if (list.count++ == 0) keep_first(list, *group);
    if (listed == Listed::kEveryGroup) list.every.push_back(*group);
    even = even && (list.count == 1 || size == list.size);
    empty_group = empty_group || size == 0;
    list.size = std::max(list.size, size);
    all.insert(all.end(), group->begin(), group->end());
  }
  list.named = named_by(std::move(all));
  list.named.even = even;
  list.named.empty_group = empty_group;
  return list;
}

// The places of the first group's members in an array of these lengths whose axes `varied` change, the last
// fastest, and all others are 0.
std::vector<std::int64_t> places(const std::vector<std::int64_t>& lengths,
                                 const std::vector<std::size_t>& varied, std::size_t most) {
  std::vector<std::int64_t> stride(lengths.size(), 1);
  for (std::size_t i = lengths.size(); i-- > 1;) stride[i - 1] = stride[i] * lengths[i];
  std::int64_t all = 1;
  for (const std::size_t axis : varied) all *= lengths[axis];
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < all && found.size() < most; ++i) {
    std::int64_t rest = i, place = 0;
    for (std::size_t v = varied.size(); v-- > 0;) {
      place += rest % lengths[varied[v]] * stride[varied[v]];
      rest /= lengths[varied[v]];
    }
    found.push_back(place);
  }
  return found;
}

// [shape]<=[lengths]T(order): 0, 1, 2, ... in an array, its axes reordered, then shaped anew.
struct Arrangement {
  std::vector<std::int64_t> shape, lengths;
  std::vector<std::size_t> order;

  // The first of them, row by row.
  std::vector<std::int64_t> ids(std::size_t most) const { return places(lengths, order, most); }
};

std::optional<Arrangement> arrangement(std::string_view text) {
  const auto rows = between(text, '[', ']');
  const auto array = between(text, '[', ']');
  if (!rows || !array) return std::nullopt;
  const auto shape = numbers(*rows), lengths = numbers(*array);
  if (!shape || shape->empty() || !lengths || product(*lengths) == 0 || product(*shape) != product(*lengths))
    return std::nullopt;
  std::vector<std::size_t> order(lengths->size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (text.starts_with('T')) {
    const auto axes = between(text, '(', ')');
    const auto written = axes ? numbers(*axes) : std::nullopt;
    if (!written || written->size() != lengths->size()) return std::nullopt;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (std::ranges::count(*written, static_cast<std::int64_t>(i)) != 1) return std::nullopt;
      order[i] = static_cast<std::size_t>((*written)[i]);
    }
  }
  return Arrangement{*shape, *lengths, std::move(order)};
}

// Each row is a group.
std::optional<GroupList> reshaped(std::string_view text, Listed listed) {
  const auto made = arrangement(text);
  if (!made) return std::nullopt;
  GroupList list;
  list.size = made->shape.back();
  list.count = product(made->shape) / list.size;
  list.named = all_below(product(made->shape));
  keep_first(list, made->ids(static_cast<std::size_t>(std::min<std::int64_t>(list.size, kKeptIds))));
  if (listed == Listed::kEveryGroup)
    list.every = rows_of(made->ids(static_cast<std::size_t>(product(made->lengths))), list.size);
  return list;
}

struct NamedAxis {
  std::string name;
  std::int64_t size;
};

// 'data'=2,'model'=4
std::optional<std::vector<NamedAxis>> mesh_axes(std::string_view text) {
  std::vector<NamedAxis> axes;
  while (text.find('\'') != std::string_view::npos) {
    text.remove_prefix(text.find('\'') + 1);
    const std::size_t end = text.find('\'');
    if (end == std::string_view::npos) return std::nullopt;
    NamedAxis axis{std::string(text.substr(0, end)), 0};
    text.remove_prefix(end + 1);
    const auto size = text.starts_with('=') ? numbers(text.substr(1, text.find(',') - 1)) : std::nullopt;
    if (!size || size->size() != 1) return std::nullopt;
    axis.size = size->front();
    axes.push_back(axis);
  }
  return axes;
}

// The axis of a mesh, or a piece of one, 'model':(2)4: of so many parts that go before it, and of this size.
struct AxisPiece {
  std::string name;
  std::int64_t before = 1, size = 0;  // 0 = the whole axis
};

std::optional<std::vector<AxisPiece>> varied_axes(std::string_view text) {
  std::vector<AxisPiece> pieces;
  while (text.find('\'') != std::string_view::npos) {
    text.remove_prefix(text.find('\'') + 1);
    const std::size_t end = text.find('\'');
    if (end == std::string_view::npos) return std::nullopt;
    AxisPiece piece{std::string(text.substr(0, end))};
    text.remove_prefix(end + 1);
    if (text.starts_with(":(")) {
      const auto before = between(text, '(', ')');
      const auto first = before ? numbers(*before) : std::nullopt;
      const auto size = numbers(text.substr(0, std::min(text.find(','), text.size())));
      if (!first || first->size() != 1 || !size || size->size() != 1) return std::nullopt;
      piece.before = first->front();
      piece.size = size->front();
      if (piece.before < 1 || piece.size < 1) return std::nullopt;
    }
    pieces.push_back(piece);
  }
  return pieces;
}

// The devices of a mesh in its order, (3,2,1,0) or ([4,2]<=[2,4]T(1,0)).
std::optional<std::vector<std::int64_t>> device_ids(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const bool reshapes = text.find("<=") != std::string_view::npos;
  const bool round = text.starts_with('(');
  if (reshapes) {
    const auto made = arrangement(text);
    if (!made) return std::nullopt;
    return made->ids(static_cast<std::size_t>(product(made->lengths)));
  }
  const auto list = between(text, round ? '(' : '[', round ? ')' : ']');
  return list ? numbers(*list) : std::nullopt;
}

// An axis of a mesh cut wherever a piece of it begins or ends.
class CutAxes {
 public:
  // Nothing where pieces do not fit their axes, or each other.
  static std::optional<CutAxes> of(const std::vector<NamedAxis>& axes, const std::vector<AxisPiece>& pieces) {
    CutAxes made;
    for (const NamedAxis& axis : axes) {
      std::set<std::int64_t> cuts = {1, axis.size};
      for (const AxisPiece& piece : pieces) {
        if (piece.name != axis.name || piece.size == 0) continue;
        if (axis.size % piece.before != 0 || axis.size / piece.before % piece.size != 0) return std::nullopt;
        cuts.insert({piece.before, piece.before * piece.size});
      }
      for (auto cut = cuts.begin(); *cut != axis.size; ++cut) {
        const std::int64_t next = *std::next(cut);
        if (next % *cut != 0) return std::nullopt;
        made.parts_.push_back({axis.name, *cut});
        made.lengths_.push_back(next / *cut);
      }
    }
    for (const AxisPiece& piece : pieces) {
      const auto axis = std::ranges::find(axes, piece.name, &NamedAxis::name);
      if (axis == axes.end() || !made.vary(piece, piece.size > 0 ? piece.size : axis->size))
        return std::nullopt;
    }
    return made;
  }

  const std::vector<std::int64_t>& lengths() const { return lengths_; }
  const std::vector<std::size_t>& varied() const { return varied_; }
  // All axes, those that groups vary behind the others.
  std::vector<std::size_t> varied_last() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (std::ranges::count(varied_, i) == 0) all.push_back(i);
    all.insert(all.end(), varied_.begin(), varied_.end());
    return all;
  }

 private:
  struct Part {
    std::string axis;
    std::int64_t before;
  };

  bool vary(const AxisPiece& piece, std::int64_t size) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Part& part = parts_[i];
      if (part.axis != piece.name || part.before < piece.before || part.before >= piece.before * size)
        continue;
      if (std::ranges::count(varied_, i) > 0) return false;
      varied_.push_back(i);
    }
    return true;
  }

  std::vector<Part> parts_;            // major to minor, axis by axis
  std::vector<std::int64_t> lengths_;  // of each
  std::vector<std::size_t> varied_;    // those that groups vary, the last fastest
};

// mesh['data'=2,'model'=4] {'data'}, device_ids=(...): groups vary the axes in braces.
std::optional<GroupList> of_mesh(std::string_view text, Listed listed) {
  const auto inside = between(text, '[', ']');
  const auto axes = inside ? mesh_axes(*inside) : std::nullopt;
  std::optional<std::vector<std::int64_t>> ids;
  if (const std::size_t given = text.find("device_ids="); given != std::string_view::npos) {
    ids = device_ids(text.substr(given + std::string_view("device_ids=").size()));
    if (!ids) return std::nullopt;
  }
  const auto written = between(text, '{', '}');
  const auto pieces = written ? varied_axes(*written) : std::nullopt;
  if (!axes || axes->empty() || !pieces) return std::nullopt;
  std::vector<std::int64_t> sizes;
  for (const NamedAxis& axis : *axes) sizes.push_back(axis.size);
  const std::int64_t devices = product(sizes);
  if (devices == 0 || (ids && static_cast<std::int64_t>(ids->size()) != devices)) return std::nullopt;
  const auto cut = CutAxes::of(*axes, *pieces);
  if (!cut) return std::nullopt;
  GroupList list;
  list.size = 1;
  for (const std::size_t part : cut->varied()) list.size *= cut->lengths()[part];
  list.count = devices / list.size;
  list.named = ids ? named_by(*ids) : all_below(devices);
  const auto devices_at = [&](const std::vector<std::size_t>& varied, std::size_t most) {
    std::vector<std::int64_t> found = places(cut->lengths(), varied, most);
    for (std::int64_t& id : found) id = ids ? (*ids)[static_cast<std::size_t>(id)] : id;
    return found;
  };
  keep_first(list, devices_at(cut->varied(), kKeptIds));
  if (listed == Listed::kEveryGroup)
    list.every = rows_of(devices_at(cut->varied_last(), static_cast<std::size_t>(devices)), list.size);
  return list;
}

}  // namespace

std::optional<GroupList> written_groups(const Instruction& collective, Listed listed) {
  std::string text(collective.attribute("replica_groups"));
  if (text.starts_with("mesh") && collective.has("device_ids"))  // a comma has parted them
    text += ", device_ids=" + std::string(collective.attribute("device_ids"));
  if (text.starts_with('{')) return written_out(text, listed);
  if (text.starts_with('[')) return reshaped(text, listed);
  if (text.starts_with("mesh")) return of_mesh(text, listed);
  return text.empty() ? std::optional(GroupList{}) : std::nullopt;
}

std::optional<Pairs> source_target_pairs(const Instruction& permute) {
  std::string_view text = permute.attribute("source_target_pairs");
  if (!text.starts_with('{')) return std::nullopt;
  text.remove_prefix(1);
  Pairs pairs;
  while (text.find('{') != std::string_view::npos) {
    const auto inside = between(text, '{', '}');
    const auto pair = inside ? numbers(*inside) : std::nullopt;
    if (!pair || pair->size() != 2) return std::nullopt;
    pairs.emplace_back((*pair)[0], (*pair)[1]);
  }
  return pairs;
}

}  // namespace podsim::hlo
