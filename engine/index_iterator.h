// Iterators over lists whose elements are told one by one, by index and by value.
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <utility>

namespace podsim {

// Position of a List whose operator[] gives a T by value. REQUIRES: the list outlives it.
template <class List, class T>
class IndexIterator {
 public:
  // What the standard library asks of iterators.
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using reference = T;
  using pointer = const T*;

  IndexIterator() = default;  // of no list
  IndexIterator(const List* list, difference_type at) : list_(list), at_(at) {}
  T operator*() const { return (*list_)[static_cast<std::size_t>(at_)]; }
  T operator[](difference_type n) const { return *(*this + n); }
  IndexIterator& operator++() { return *this += 1; }
  IndexIterator& operator--() { return *this += -1; }
  IndexIterator operator++(int) { return std::exchange(*this, *this + 1); }
  IndexIterator operator--(int) { return std::exchange(*this, *this - 1); }
  IndexIterator& operator+=(difference_type n) { return at_ += n, *this; }
  IndexIterator& operator-=(difference_type n) { return *this += -n; }
  friend IndexIterator operator+(IndexIterator it, difference_type n) { return it += n; }
  friend IndexIterator operator+(difference_type n, IndexIterator it) { return it += n; }
  friend IndexIterator operator-(IndexIterator it, difference_type n) { return it -= n; }
  friend difference_type operator-(const IndexIterator& a, const IndexIterator& b) { return a.at_ - b.at_; }
  // Of one list: only places are compared.
  friend bool operator==(const IndexIterator& a, const IndexIterator& b) { return a.at_ == b.at_; }
  friend auto operator<=>(const IndexIterator& a, const IndexIterator& b) { return a.at_ <=> b.at_; }

 private:
  const List* list_ = nullptr;
  difference_type at_ = 0;
};

// Part of such a list. std::ranges::subrange would do but for clang 14, which finds no begin of it.
template <class List, class T>
class ListRange {
 public:
  using Iterator = IndexIterator<List, T>;

  ListRange(Iterator begin, Iterator end) : begin_(begin), end_(end) {}  // REQUIRES: of one list
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }
  std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  bool empty() const { return begin_ == end_; }
  T operator[](std::size_t i) const { return begin_[static_cast<std::ptrdiff_t>(i)]; }
  T front() const { return *begin_; }  // REQUIRES: not empty
  T back() const { return end_[-1]; }  // likewise

 private:
  Iterator begin_, end_;
};

}  // namespace podsim

// Its iterators outlive it.
template <class List, class T>
inline constexpr bool std::ranges::enable_borrowed_range<podsim::ListRange<List, T>> = true;
