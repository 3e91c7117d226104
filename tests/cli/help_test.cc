// What podsim tells of itself: help, manual pages, scripts for shells, version. The help text is the one
// source.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/command.h"
#include "tests/text_lines.h"

namespace podsim::help_test {
namespace {

using testing::lines_of;

namespace fs = std::filesystem;
using Words = std::set<std::string>;

Words words_of(const std::string& text) {
  std::istringstream in(text);
  Words words;
  for (std::string word; in >> word;) words.insert(word);
  return words;
}

// The verbs that --help lists.
std::vector<std::string> verbs() {
  std::vector<std::string> found;
  bool inside = false;
  for (const std::string& line : lines_of(podsim_command("--help").out)) {
    if (inside && !line.starts_with("  ")) inside = false;
    if (inside && std::isalpha(static_cast<unsigned char>(line[2])))
      found.push_back(line.substr(2, line.find(' ', 2) - 2));
    if (line == "Subcommands:" || line == "SUBCOMMANDS:") inside = true;
  }
  return found;
}

// The options that a help text lists: "-h", "--help", ...
Words options_in(const std::string& help) {
  Words options;
  for (const std::string& line : lines_of(help)) {
    if (!line.starts_with("  -")) continue;
    std::string names = line.substr(2, line.find(' ', 2) - 2);
    std::replace(names.begin(), names.end(), ',', ' ');
    options.merge(words_of(names));
  }
  return options;
}

bool present(const std::string& program) {
  return podsim_command("--version >/dev/null; command -v " + program).exit_code == 0;
}

// What a shell says with podsim's completion script for it on standard input.
CommandResult with_script(const std::string& shell, const std::string& command) {
  return podsim_command("completion " + shell + " | " + command);
}

TEST(Help, of_a_verb_is_the_same_both_ways) {
  EXPECT_EQ(podsim_command("help").out, podsim_command("--help").out);
  ASSERT_GE(verbs().size(), 18u);
  for (const std::string& verb : verbs()) {
    const CommandResult help = podsim_command("help " + verb);
    EXPECT_EQ(help.exit_code, 0) << help.err;
    EXPECT_EQ(help.out, podsim_command(verb + " --help").out);
    EXPECT_NE(help.out.find("Usage: podsim " + verb), std::string::npos) << help.out;
  }
}

// Words that follow a label on a line that describes an option.
std::vector<std::string> names_after(const std::string& label, const std::string& line) {
  std::vector<std::string> names;
  const std::size_t at = line.find(" " + label + ": ");
  if (at == std::string::npos) return names;
  std::istringstream in(line.substr(at + label.size() + 3));
  for (std::string name; in >> name && name.starts_with("--") && name.find(':') == std::string::npos;)
    names.push_back(name);
  return names;
}

TEST(Help, names_what_an_option_excludes_in_the_order_of_the_alphabet) {
  std::size_t several = 0;
  for (const std::string& verb : verbs())
    for (const std::string& line : lines_of(podsim_command(verb + " --help").out))
      for (const std::string label : {"Needs", "Excludes"}) {
        const std::vector<std::string> names = names_after(label, line);
        EXPECT_TRUE(std::ranges::is_sorted(names)) << verb << ":" << line;
        several += names.size() > 1;
      }
  EXPECT_GE(several, 4u) << "one name alone proves nothing";
}

TEST(Help, lists_the_same_verbs_where_a_word_names_none) {
  EXPECT_EQ(podsim_command("help").out, podsim_command("--help").out);
}

TEST(Help, of_an_unknown_verb_names_the_nearest) {
  for (const char* teller : {"help", "man"}) {
    const CommandResult result = podsim_command(teller + std::string(" rnu"));
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find("unknown verb \"rnu\"; did you mean \"run\"?"), std::string::npos)
        << result.err;
  }
}

TEST(Manual, has_a_page_for_each_verb_with_every_option) {
  const fs::path folder = fs::path(temporary_file("man", "")).parent_path() / "man1";
  const CommandResult written = podsim_command("man --out " + folder.string() + "/");
  ASSERT_EQ(written.exit_code, 0) << written.err;
  const std::string overview = read_file((folder / "podsim.1").string());
  for (const std::string& verb : verbs()) {
    EXPECT_NE(overview.find("podsim\\-" + verb), std::string::npos) << verb;
    const std::string page = read_file((folder / ("podsim-" + verb + ".1")).string());
    EXPECT_EQ(page, podsim_command("man " + verb).out);
    for (std::string option : options_in(podsim_command("help " + verb).out)) {
      std::string escaped;
      for (const char c : option) escaped += c == '-' ? std::string("\\-") : std::string(1, c);
      EXPECT_NE(page.find("\\fB" + escaped + "\\fR"), std::string::npos) << verb << ": " << option;
    }
  }
  fs::remove_all(folder);
}

TEST(Manual, pages_are_clean_to_the_formatter) {
  if (!present("man")) GTEST_SKIP() << "there is no man here";
  for (const std::string& verb : verbs()) {
    const std::string page = temporary_file("page.1", podsim_command("man " + verb).out);
    const CommandResult shown = podsim_command("--version >/dev/null; man --warnings -E UTF-8 -l " + page);
    EXPECT_EQ(shown.exit_code, 0) << verb;
    EXPECT_EQ(shown.err, "") << verb;
    EXPECT_NE(shown.out.find("podsim " + verb), std::string::npos) << shown.out;
  }
}

// The short form of an option: no word that begins with two dashes is completed to it.
bool begins_with_one_dash(const std::string& option) { return !option.starts_with("--"); }

TEST(Completion, in_bash_offers_every_verb_and_option) {
  std::string asks = "source /dev/stdin\n";
  const auto ask = [&](const std::string& words, int position) {
    asks += "COMP_WORDS=(" + words + ") COMP_CWORD=" + std::to_string(position) +
            "; _podsim; echo \"${COMPREPLY[@]}\"\n";
  };
  ask("podsim ''", 1);
  for (const std::string& verb : verbs()) ask("podsim " + verb + " --", 2);
  const CommandResult result = with_script("bash", "bash " + temporary_file("ask.bash", asks));
  EXPECT_EQ(result.err, "");
  const std::vector<std::string> answers = lines_of(result.out);
  ASSERT_EQ(answers.size(), verbs().size() + 1);
  const Words first = words_of(answers[0]);
  for (std::size_t i = 0; i < verbs().size(); ++i) {
    const std::string verb = verbs()[i];
    EXPECT_TRUE(first.contains(verb)) << verb;
    Words wanted = options_in(podsim_command("help " + verb).out);
    std::erase_if(wanted, begins_with_one_dash);
    EXPECT_EQ(words_of(answers[i + 1]), wanted) << verb;
  }
}

TEST(Completion, in_bash_offers_listed_values_and_leaves_files_to_the_shell) {
  const auto offered = [](const std::string& words, int position) {
    const std::string ask = "source /dev/stdin\nCOMP_WORDS=(" + words +
                            ") COMP_CWORD=" + std::to_string(position) +
                            "; _podsim; echo \"${COMPREPLY[@]}\"";
    return words_of(with_script("bash", "bash " + temporary_file("ask.bash", ask)).out);
  };
  EXPECT_EQ(offered("podsim run --fold ''", 3), Words({"on", "off"}));
  EXPECT_EQ(offered("podsim run --fold = o", 4), Words({"on", "off"}));
  EXPECT_EQ(offered("podsim run --fold =", 3), Words({"on", "off"}));
  EXPECT_EQ(offered("podsim catalog mo", 2), Words({"models"}));
  EXPECT_EQ(offered("podsim help wha", 2), Words({"whatif"}));
  EXPECT_EQ(offered("podsim run ''", 2), Words());
  EXPECT_EQ(offered("podsim run --out ''", 3), Words());
}

TEST(Completion, in_fish_offers_every_verb_and_option) {
  if (!present("fish")) GTEST_SKIP() << "there is no fish here";
  std::string asks = "source -\necho ASK; complete -C 'podsim '\n";
  for (const std::string& verb : verbs()) asks += "echo ASK; complete -C 'podsim " + verb + " --'\n";
  const CommandResult result = with_script("fish", "fish --no-config " + temporary_file("ask.fish", asks));
  EXPECT_EQ(result.err, "");
  std::vector<Words> answers;
  for (const std::string& line : lines_of(result.out)) {
    if (line == "ASK") {
      answers.emplace_back();
    } else {
      answers.back().insert(line.substr(0, line.find('\t')));
    }
  }
  ASSERT_EQ(answers.size(), verbs().size() + 1);
  for (std::size_t i = 0; i < verbs().size(); ++i) {
    const std::string verb = verbs()[i];
    EXPECT_TRUE(answers[0].contains(verb)) << verb;
    Words wanted = options_in(podsim_command("help " + verb).out);
    std::erase_if(wanted, begins_with_one_dash);
    EXPECT_EQ(answers[i + 1], wanted) << verb;
  }
}

TEST(Completion, in_zsh_is_a_script_that_names_every_verb_and_option) {
  const std::string script = podsim_command("completion zsh").out;
  for (const std::string& verb : verbs()) {
    const std::size_t begin = script.find("\n    " + verb + ")\n");
    ASSERT_NE(begin, std::string::npos) << verb;
    const std::string arguments = script.substr(begin, script.find(";;", begin) - begin);
    for (const std::string& option : options_in(podsim_command("help " + verb).out)) {
      const bool named = arguments.find(option + "[") != std::string::npos ||
                         arguments.find(option + "=[") != std::string::npos;
      EXPECT_TRUE(named) << verb << " " << option;
    }
  }
  if (!present("zsh")) GTEST_SKIP() << "there is no zsh here to read it";
  const CommandResult read = with_script("zsh", "zsh -n");
  EXPECT_EQ(read.exit_code, 0);
  EXPECT_EQ(read.err, "");
}

TEST(Version, is_a_number_and_perhaps_a_commit) {
  const CommandResult result =
      podsim_command("--version | grep -Ex 'podsim [0-9]+[.][0-9]+[.][0-9]+( [(][0-9a-f]{7,}[+]?[)])?'");
  EXPECT_EQ(result.exit_code, 0) << podsim_command("--version").out;
}

TEST(Licences, of_what_podsim_is_made_of_are_told) {
  const CommandResult result = podsim_command("--licences");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"Apache License", "Boost", "Protocol Buffers", "SQLite"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part;
  const bool scripts = result.out.find("Apache ECharts") != std::string::npos;
  EXPECT_EQ(scripts, result.out.find("BSD 3-Clause License") != std::string::npos)
      << "of what they draw with";
}

// Runs what a build runs to learn the commit of a folder, and returns the line that holds it.
std::string commit_line(const fs::path& source, const fs::path& output) {
  const CommandResult made =
      podsim_command("--version >/dev/null; cmake -DSOURCE=" + source.string() +
                     " -DVERSION=1.2.3 -DOUTPUT=" + output.string() + " -P cli/terminal/version.cmake");
  EXPECT_EQ(made.exit_code, 0) << made.err;
  for (const std::string& line : lines_of(read_file(output.string()))) {
    if (line.find("commit()") != std::string::npos) return line;
  }
  return "none";
}

TEST(Version, commit_is_that_of_the_sources_and_absent_outside_of_a_repository) {
  if (!present("git")) GTEST_SKIP() << "there is no git here";
  const fs::path folder = fs::path(temporary_file("version", "")).parent_path() / "repository";
  fs::create_directories(folder / "inner");
  const fs::path output = folder.string() + ".cc";
  const std::string none = "std::string commit() { return \"\"; }";
  EXPECT_EQ(commit_line(folder, output), none);
  const auto git = [&](const std::string& arguments) {
    return podsim_command("--version >/dev/null; git -C " + folder.string() +
                          " -c user.name=a -c user.email=a@b.invalid " + arguments);
  };
  git("init -q");
  git("commit -q --allow-empty -m first");
  temporary_file("repository/file", "1");
  git("add file");
  ASSERT_EQ(git("commit -q -m second").exit_code, 0);
  const std::string head = git("rev-parse --short=7 HEAD").out.substr(0, 7);
  EXPECT_EQ(commit_line(folder, output), "std::string commit() { return \"" + head + "\"; }");
  EXPECT_EQ(commit_line(folder / "inner", output), none) << "a folder in somebody else's repository";
  const std::string with_change = "std::string commit() { return \"" + head + "+\"; }";
  temporary_file("repository/file", "two");
  EXPECT_EQ(commit_line(folder, output), with_change);
  const auto written = fs::last_write_time(output);
  EXPECT_EQ(commit_line(folder, output), with_change);
  EXPECT_EQ(fs::last_write_time(output), written) << "nothing to compile where nothing has changed";
  fs::remove_all(folder);
}

}  // namespace
}  // namespace podsim::help_test
