// A list of a fabric's nodes or links: stored, or told by the rule of a regular tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "engine/index_iterator.h"
#include "topology/regular_tree.h"

namespace podsim {

// Reads like a vector of T, whose elements come by value. What changes an element of a list that is told by
// rule stores the whole list first.
template <class T, T (RegularTree::*kTell)(std::size_t) const, std::int32_t (RegularTree::*kSize)() const>
class FabricTable {
 public:
  using ConstIterator = IndexIterator<FabricTable, T>;
  using value_type = T;
  using const_iterator = ConstIterator;

  FabricTable() = default;
  FabricTable(std::vector<T> stored) : stored_(std::move(stored)) {}
  explicit FabricTable(std::shared_ptr<const RegularTree> rule) : rule_(std::move(rule)) {}

  std::size_t size() const {
    return rule_ ? static_cast<std::size_t>((rule_.get()->*kSize)()) : stored_.size();
  }
  bool empty() const { return size() == 0; }
  // In line, so that who asks for one member of a stored element does not copy all of them.
  [[gnu::always_inline]] T operator[](std::size_t i) const {
    if (!rule_) [[likely]]
      return stored_[i];
    return (rule_.get()->*kTell)(i);
  }
  // By value, since what is told by rule lies nowhere.
  T front() const { return (*this)[0]; }
  T back() const { return (*this)[size() - 1]; }
  ConstIterator begin() const { return {this, 0}; }
  ConstIterator end() const { return {this, static_cast<std::ptrdiff_t>(size())}; }

  // nullptr where the list is stored.
  const RegularTree* rule() const { return rule_.get(); }
  // For who looks up many elements of a stored list; nullptr where it is told by rule.
  const std::vector<T>* list() const { return rule_ ? nullptr : &stored_; }

  // Each lists first what is told by rule.
  T& operator[](std::size_t i) { return stored()[i]; }
  void push_back(const T& element) { stored().push_back(element); }
  void reserve(std::size_t elements) { stored().reserve(elements); }
  void assign(std::size_t elements, const T& element) { stored().assign(elements, element); }

  // The stored list; what is told by rule is listed first.
  std::vector<T>& stored() {
    if (rule_) {
      if (rule_->chips() > kMaxChips) throw TooManyChips(rule_->chips());
      stored_.assign(std::as_const(*this).begin(), std::as_const(*this).end());
      rule_.reset();
    }
    return stored_;
  }

  friend bool operator==(const FabricTable& a, const FabricTable& b) {
    if (a.rule_ == b.rule_) return a.stored_ == b.stored_;
    return std::ranges::equal(a, b);
  }

 private:
  std::vector<T> stored_;  // empty where there is a rule
  std::shared_ptr<const RegularTree> rule_;
};

}  // namespace podsim
