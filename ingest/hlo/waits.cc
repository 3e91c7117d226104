// Walks from each collective to what leads to it and to what needs it, over the trip before and the one
// after.
#include "ingest/hlo/waits.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>

namespace podsim::hlo {
namespace {

// Copies of a computation that hand values on, one after the other. Nodes are numbered copy by copy, in the
// order of the text.
class Trips {
 public:
  Trips(const Computation& computation, const Users& users, std::size_t copies)
      : computation_(computation), users_(users), copies_(copies), size_(users.size()) {
    taken_.resize(size_, -1);
    if (copies == 1 || computation.parameters.empty()) return;
    parameter_ = computation.parameters.front();
    for (const int user : users[at(parameter_)]) {
      const Instruction& each = computation.instructions[at(user)];
      const std::string_view text = each.attribute("index");
      if (each.opcode != "get-tuple-element") continue;
      int index = 0;
      std::from_chars(text.data(), text.data() + text.size(), index);
      taken_[at(user)] = index;
    }
  }

  std::size_t nodes() const { return size_ * copies_; }

  // All that lead to these, or that they lead to; not they themselves, unless others of them are so reached.
  std::vector<bool> reached(const std::vector<std::size_t>& from, bool forward) const {
    std::vector<bool> found(nodes(), false);
    std::vector<std::size_t> open = from, next;
    while (!open.empty()) {
      const std::size_t node = open.back();
      open.pop_back();
      next.clear();
      if (forward)
        add_users(node, next);
      else
        add_operands(node, next);
      for (const std::size_t each : next) {
        if (found[each]) continue;
        found[each] = true;
        open.push_back(each);
      }
    }
    return found;
  }

 private:
  static std::size_t at(int instruction) { return static_cast<std::size_t>(instruction); }

  // What the next trip gets as element `index`.
  int handed_on(int index) const {
    const Instruction& root = computation_.root_instruction();
    const bool apart = root.opcode == "tuple" && at(index) < root.operands.size();
    return apart ? root.operands[at(index)] : computation_.root;
  }

  void add_operands(std::size_t node, std::vector<std::size_t>& found) const {
    const std::size_t i = node % size_, begin = node - i;
    if (taken_[i] >= 0 || static_cast<int>(i) == parameter_) {
      if (begin > 0)
        found.push_back(begin - size_ + at(taken_[i] >= 0 ? handed_on(taken_[i]) : computation_.root));
      return;
    }
    for (const int operand : computation_.instructions[i].operands) found.push_back(begin + at(operand));
  }

  void add_users(std::size_t node, std::vector<std::size_t>& found) const {
    const std::size_t i = node % size_, begin = node - i;
    for (const int user : users_[i])
      if (taken_[at(user)] < 0) found.push_back(begin + at(user));
    if (parameter_ < 0 || begin + size_ == nodes()) return;
    if (static_cast<int>(i) == computation_.root) found.push_back(begin + size_ + at(parameter_));
    for (const int user : users_[at(parameter_)])
      if (taken_[at(user)] >= 0 && handed_on(taken_[at(user)]) == static_cast<int>(i))
        found.push_back(begin + size_ + at(user));
  }

  const Computation& computation_;
  const Users& users_;
  std::size_t copies_, size_;
  int parameter_ = -1;
  std::vector<int> taken_;  // [instruction] the element of the parameter that it is, or -1
};

}  // namespace

Users users_of(const Computation& computation) {
  Users users(computation.instructions.size());
  for (std::size_t i = 0; i < users.size(); ++i)
    for (const int operand : computation.instructions[i].operands)
      users[static_cast<std::size_t>(operand)].push_back(static_cast<int>(i));
  return users;
}

std::vector<Wait> waits(const Computation& computation, const Users& users,
                        const std::vector<InstructionTime>& times, bool repeats) {
  const std::size_t size = times.size(), copies = repeats ? 3 : 1, middle = copies / 2 * size;
  const Trips trips(computation, users, copies);
  std::vector<std::size_t> products;
  for (std::size_t node = 0; node < trips.nodes(); ++node)
    if (times[node % size].product) products.push_back(node);
  const std::vector<bool> led_to = trips.reached(products, true), needed = trips.reached(products, false);
  std::vector<Wait> found(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t node = middle + i;
    if (times[i].linked <= 0 || !led_to[node] || !needed[node]) continue;
    const std::vector<bool> leads = trips.reached({node}, false), needs = trips.reached({node}, true);
    const std::size_t last =
        *std::ranges::find_if(products.rbegin(), products.rend(), [&](auto p) { return leads[p]; });
    const std::size_t first = *std::ranges::find_if(products, [&](auto p) { return needs[p]; });
    const bool needed_within = first < middle + size;
    double beside = 0;
    if (last < middle || !needed_within)
      for (std::size_t between = last + 1; between < first; ++between)
        if (!leads[between] && !needs[between]) beside += times[between % size].computed;
    (needed_within ? found[i].within : found[i].for_next) = std::max(0.0, times[i].linked - beside);
  }
  return found;
}

bool product_needs(const Computation& computation, const Users& users,
                   const std::vector<InstructionTime>& times, std::size_t instruction) {
  const std::vector<bool> needs = Trips(computation, users, 1).reached({instruction}, true);
  for (std::size_t i = 0; i < times.size(); ++i)
    if (needs[i] && times[i].product) return true;
  return false;
}

}  // namespace podsim::hlo
