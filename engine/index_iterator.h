// Iterators over lists whose elements are told one by one, by index and by value.
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
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

}  // namespace podsim
