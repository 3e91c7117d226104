// Writes verdicts on claims beside the rows that hold them.
#include "cli/validation/claims_text.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "cli/scenarios/batch.h"
#include "cli/terminal/output.h"
#include "proto/text/read_file.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

std::string told(const Claim& claim, const std::vector<SuiteResult>& results) {
  return is_held(claim, results) ? claim.verdict : claim.verdict + ", NOT HELD";
}

std::string counts(const std::vector<Claim>& claims) {
  std::string text = std::to_string(claims.size()) + " claims";
  for (const char* verdict : {"confirmed", "refuted", "depends", "open"})
    text += ", " + std::to_string(std::ranges::count(claims, verdict, &Claim::verdict)) + " " + verdict;
  return text;
}

// Four digits: figures of simulations, which say no more.
std::string measured(const SuiteResult& result) {
  return result.measured ? significant(*result.measured, 4) : "-";
}

std::string wanted(const SuiteRow& row) {
  return row.tolerance.empty() ? row.expected : row.expected + ", " + row.tolerance;
}

std::string without_bars(std::string text) {
  for (std::size_t bar = 0; (bar = text.find('|', bar)) != std::string::npos; bar += 2)
    text.insert(bar, "\\");
  return text;
}

// A line of a table of two columns; none without a text.
std::string page_row(const std::string& name, const std::string& cell) {
  return cell.empty() ? "" : "| " + name + " | " + without_bars(cell) + " |\n";
}

std::string verdict_section(const Claim& claim, const std::vector<SuiteResult>& results) {
  std::string text = page_row("claim", claim.sentence) + "|---|---|\n" +
                     page_row("verdict", "**" + told(claim, results) + "**") + page_row("why", claim.why) +
                     page_row("turns", claim.flip) + page_row("published", claim.evidence) + "\n";
  std::string table;
  for (const SuiteResult& result : results) {
    if (result.row.id != claim.id || result.row.command.empty()) continue;
    table += "| " + without_bars(result.row.what) + " | " + measured(result) + " | " + wanted(result.row) +
             " | `" + without_bars(result.row.command) + "` |\n";
  }
  return table.empty()
             ? text
             : text + "| figure | podsim | holds the verdict | commands |\n|---|---:|---|---|\n" + table;
}

}  // namespace

std::optional<std::vector<Claim>> claims_beside(const std::string& suite, const std::vector<SuiteRow>& all,
                                                const std::vector<SuiteRow>& wanted) {
  const std::filesystem::path file = std::filesystem::path(suite).parent_path() / "claims.csv";
  if (!std::filesystem::exists(file)) return std::vector<Claim>{};
  ClaimTable claims;
  const auto text = read_file(file.string(), claims.problems);
  if (text) claims = read_claims(file.string(), *text, all);
  print_problems(claims.problems);
  if (!claims.problems.empty()) return std::nullopt;
  std::erase_if(claims.claims, [&](const Claim& claim) {
    return std::ranges::none_of(wanted, [&](const SuiteRow& row) { return row.id == claim.id; });
  });
  return std::move(claims.claims);
}

std::string claims_table(const std::vector<Claim>& claims, const std::vector<SuiteResult>& results) {
  std::vector<std::vector<std::string>> rows = {{"claim", "verdict", "sentence"}};
  for (const Claim& claim : claims) rows.push_back({claim.id, told(claim, results), claim.sentence});
  return align(rows) + "\n" + counts(claims) + "\n";
}

std::string claims_markdown(const std::vector<Claim>& claims, const std::vector<SuiteResult>& results) {
  std::string text =
      "# Claims about GPUs and TPUs, put to the test\n\nWritten by `podsim validate --suite claims --format "
      "markdown`. Sentences are such as are made in public; verdicts are those of podsim's\nfigures and of "
      "what "
      "is published beside them. *Depends* says on what, *open* which data would be needed. Commands are "
      "typed "
      "with `podsim` in front;\ntheir files lie in `scenarios/claims/`. A figure of a simulation is as good "
      "as "
      "the error band of its step ([validation](validation.md)).\n\n" +
      counts(claims) + ".\n";
  for (const Claim& claim : claims) text += "\n## " + claim.id + "\n\n" + verdict_section(claim, results);
  return text;
}

std::string claim_page(const Claim& claim, const std::vector<SuiteResult>& results) {
  return "# " + claim.id + ": " + claim.sentence +
         "\n\nWritten by `podsim validate --suite claims --format markdown --out scenarios/claims/`; "
         "commands "
         "are typed in `scenarios/claims/` with `podsim`\nin front. All claims: "
         "[claims](../../../docs/evidence/claims.md).\n\n" +
         verdict_section(claim, results);
}

std::string folder_of_claim(const std::string& id, const std::string& folder) {
  constexpr std::size_t kDigits = 2;
  const std::string number = id.substr(1);
  const std::string begin = "a" + std::string(kDigits - std::min(kDigits, number.size()), '0') + number + "_";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_directory() && entry.path().filename().string().starts_with(begin))
      return entry.path().string();
  return "";
}

void emit_claims(const std::vector<Claim>& claims, const std::vector<SuiteResult>& results,
                 const std::string& out) {
  if (out.empty() || !is_folder(out)) return emit(claims_markdown(claims, results), out);
  for (const Claim& claim : claims) {
    const std::string folder = folder_of_claim(claim.id, out);
    if (folder.empty()) throw std::runtime_error(out + " has no folder of " + claim.id);
    write_whole(folder + "/README.md", claim_page(claim, results));
  }
}

}  // namespace podsim
