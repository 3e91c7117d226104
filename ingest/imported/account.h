// What became of each part of a file when it was read: nothing vanishes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "report/figures/figure.h"

namespace podsim {

// INVARIANT, once it is complete: read = used + the sum of passed_over + the sum of unknown.
struct Account {
  std::string of;  // what is counted: "instructions"
  std::int64_t read = 0, used = 0;
  std::map<std::string, std::int64_t> passed_over;  // [reason]
  std::map<std::string, std::int64_t> unknown;      // [name]

  void check() const;  // the invariant
};

// "a, b and 3 more", the unknown names of all; empty where there are none.
std::string unknown_names(const std::vector<Account>& accounts);

// An object of numbers by name.
Figure counts_figure(const std::string& key, const std::map<std::string, std::int64_t>& by_name);

Figure account_figure(const Account& account);

// "1,234"
std::string count_text(std::int64_t number);

// "read 9 instructions, used 7, passed over 2 (annotations)", with a line break.
std::string account_text(const Account& account);

}  // namespace podsim
