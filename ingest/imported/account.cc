// Sums, and how they are told.
#include "ingest/imported/account.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "engine/check.h"

namespace podsim {

void Account::check() const {
  std::int64_t sum = used;
  for (const auto& [reason, number] : passed_over) sum += number;
  for (const auto& [name, number] : unknown) sum += number;
  PODSIM_CHECK(sum == read, "of what is read all is used, passed over or unknown: " + of);
}

std::string unknown_names(const std::vector<Account>& accounts) {
  constexpr std::int64_t kShown = 12;
  std::string text;
  std::int64_t count = 0;
  for (const Account& account : accounts)
    for (const auto& [name, number] : account.unknown)
      if (++count <= kShown) text += (text.empty() ? "" : ", ") + name;
  return count > kShown ? text + " and " + count_text(count - kShown) + " more" : text;
}

Figure counts_figure(const std::string& key, const std::map<std::string, std::int64_t>& by_name) {
  std::vector<Figure> parts;
  for (const auto& [name, number] : by_name) parts.emplace_back(name, number);
  return Figure::group(key, std::move(parts));
}

Figure account_figure(const Account& account) {
  return Figure::group("account", {{"read", account.read},
                                   {"used", account.used},
                                   counts_figure("passed_over", account.passed_over),
                                   counts_figure("unknown", account.unknown)});
}

std::string count_text(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string account_text(const Account& account) {
  std::string text =
      "read " + count_text(account.read) + " " + account.of + ", used " + count_text(account.used);
  for (const auto& [reason, number] : account.passed_over)
    text += ", passed over " + count_text(number) + " (" + reason + ")";
  for (const auto& [name, number] : account.unknown)
    text += ", unknown " + count_text(number) + " (" + name + ")";
  return text + "\n";
}

}  // namespace podsim
