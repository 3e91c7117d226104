// Spreads the values of an axis, with round numbers for ticks.
#include "report/pictures/plot_scale.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "report/text/text.h"

namespace podsim {
namespace {

constexpr double kCutWidth = 22;  // of the drawing, between two windows

// The least of 1, 2 and 5 times a power of ten that is not below.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

// The greatest of them that is not above.
double round_below(double most) {
  const double power = std::pow(10, std::floor(std::log10(most)));
  for (const double factor : {5.0, 2.0})
    if (factor * power <= most * (1 + 1e-9)) return factor * power;
  return power;
}

// As many decimals as the steps between ticks have.
std::string tick_text(double value, double step) {
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  return value >= 1e5 ? with_prefix(value) : fixed(value, decimals);
}

std::pair<double, double> ends_of(const PictureAxis& axis, std::pair<double, double> data) {
  if (!axis.names.empty()) return {-0.5, static_cast<double>(axis.names.size()) - 0.5};
  double low = axis.low.value_or(axis.logarithmic ? data.first : std::min(0.0, data.first));
  double high = axis.high.value_or(data.second);
  if (axis.logarithmic) {
    low = round_below(low);
    high = round_step(high);
  }
  if (!(high > low)) high = axis.logarithmic ? 10 * low : low + 1;
  return {low, high};
}

}  // namespace

std::string with_prefix(double value) {
  constexpr std::array<const char*, 7> kPrefixes = {"", " k", " M", " G", " T", " P", " E"};
  std::size_t prefix = 0;
  while (std::abs(value) >= 1000 * (1 - 1e-12) && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  std::string digits = significant(value, 3);
  if (digits.find('.') != std::string::npos) {
    while (digits.back() == '0') digits.pop_back();
    if (digits.back() == '.') digits.pop_back();
  }
  return digits + kPrefixes[prefix];
}

PlotScale::PlotScale(const PictureAxis& axis, std::pair<double, double> data, double begin, double end)
    : axis_(axis) {
  std::vector<AxisWindow> windows = axis.windows;
  if (windows.empty()) {
    const auto [low, high] = ends_of(axis, data);
    windows.push_back({low, high});
  }
  double whole = 0;
  for (const AxisWindow& window : windows) whole += window.high - window.low;
  const double cuts = kCutWidth * static_cast<double>(windows.size() - 1);
  const double direction = end > begin ? 1 : -1, length = std::abs(end - begin) - cuts;
  for (const AxisWindow& window : windows) {
    const double size = direction * length * (window.high - window.low) / whole;
    stretches_.push_back({window.low, window.high, begin, begin + size});
    begin += size + direction * kCutWidth;
  }
}

double PlotScale::at(double value) const {
  const Stretch* stretch = &stretches_.front();
  for (const Stretch& each : stretches_)
    if (value >= each.low) stretch = &each;
  value = std::clamp(value, stretch->low, stretch->high);
  const double share = axis_.logarithmic
                           ? std::log(value / stretch->low) / std::log(stretch->high / stretch->low)
                           : (value - stretch->low) / (stretch->high - stretch->low);
  return stretch->begin + share * (stretch->end - stretch->begin);
}

bool PlotScale::shows(double value) const {
  return std::ranges::any_of(
      stretches_, [value](const Stretch& stretch) { return value >= stretch.low && value <= stretch.high; });
}

std::vector<AxisTick> PlotScale::ticks(int most) const {
  std::vector<AxisTick> found;
  if (!axis_.names.empty()) {
    const std::size_t every = (axis_.names.size() + static_cast<std::size_t>(most) - 1) / most;
    for (std::size_t i = 0; i < axis_.names.size(); i += every)
      found.push_back({at(static_cast<double>(i)), axis_.names[i]});
    return found;
  }
  if (axis_.logarithmic) {
    const Stretch& all = stretches_.front();
    const double decades = std::log10(all.high / all.low);
    const double every = std::pow(10, std::max(1.0, std::ceil(decades / most)));
    const double first = std::pow(10, std::floor(std::log10(all.low) + 1e-9));
    for (double value = first; value <= all.high * (1 + 1e-9); value *= every) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double at_value = factor * value;
        if (at_value < all.low * (1 - 1e-9) || at_value > all.high * (1 + 1e-9)) continue;
        if (factor > 1 && 2 * decades > most) continue;
        found.push_back({at(at_value), at_value < 1 ? shortest(at_value) : with_prefix(at_value)});
      }
    }
    return found;
  }
  double whole = 0;
  for (const Stretch& stretch : stretches_) whole += stretch.high - stretch.low;
  const double step = round_step(whole / most);
  for (const Stretch& stretch : stretches_) {
    const double first = std::ceil(stretch.low / step - 1e-9), last = std::floor(stretch.high / step + 1e-9);
    for (double count = first; count <= last; ++count)
      found.push_back({at(std::clamp(count * step, stretch.low, stretch.high)),
                       tick_text(count * step == 0 ? 0 : count * step, step)});
  }
  return found;
}

std::vector<double> PlotScale::cuts() const {
  std::vector<double> middles;
  for (std::size_t i = 1; i < stretches_.size(); ++i)
    middles.push_back((stretches_[i - 1].end + stretches_[i].begin) / 2);
  return middles;
}

MarkExtent extent_of(const Picture& picture) {
  MarkExtent extent;
  bool first = true;
  const auto include = [&](double x, double y) {
    if (first) extent = {{x, x}, {y, y}};
    first = false;
    extent.x = {std::min(extent.x.first, x), std::max(extent.x.second, x)};
    extent.y = {std::min(extent.y.first, y), std::max(extent.y.second, y)};
  };
  for (const PictureSeries& series : picture.series) {
    for (const PictureMark& mark : series.marks) {
      include(mark.x, mark.y);
      if (series.shape == MarkShape::kBox) include(mark.x + mark.extent, mark.y);
      if (series.shape == MarkShape::kArea) include(mark.x, mark.y + mark.extent);
    }
  }
  for (const PictureLine& line : picture.lines)
    include(line.vertical ? line.at : extent.x.second, line.vertical ? extent.y.second : line.at);
  return extent;
}

}  // namespace podsim
