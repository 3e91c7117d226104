// Forks, and reads what the child found.
#include "tests/swarm/apart.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/check.h"

namespace podsim::testing {
namespace {

constexpr int kWaiting = 100;  // seconds for each second of computing, where others compute too

// An anonymous file that both processes share.
class SharedFile {
 public:
  SharedFile() : file_(std::tmpfile()) { PODSIM_CHECK(file_, "no temporary file can be made"); }
  ~SharedFile() { std::fclose(file_); }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  int descriptor() const { return fileno(file_); }
  void write_all(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), file_);
    std::fflush(file_);
  }
  std::string read_all() {
    std::rewind(file_);
    std::string text;
    std::array<char, 4096> piece;
    for (std::size_t n; (n = std::fread(piece.data(), 1, piece.size(), file_)) > 0;)
      text.append(piece.data(), n);
    return text;
  }

 private:
  std::FILE* file_;
};

[[noreturn]] void be_the_child(const std::string& text, const Catalog& catalog, int most_seconds,
                               SharedFile& answer, SharedFile& errors) {
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const rlimit cpu_s = {static_cast<rlim_t>(most_seconds), static_cast<rlim_t>(most_seconds)};
  setrlimit(RLIMIT_CPU, &cpu_s);
  dup2(errors.descriptor(), STDERR_FILENO);
  alarm(static_cast<unsigned>(kWaiting * most_seconds));  // of one that sleeps
  const Judgement judged = judge(text, catalog);
  std::string line = judged.accepted ? "a" : "r";
  if (judged.finding) line += judged.finding->law + "\n" + judged.finding->what;
  answer.write_all(line);
  _exit(0);
}

// What the process said at the end, in a line.
std::string last_words(const std::string& errors) {
  const std::size_t check = errors.find("CHECK failed");
  const std::size_t sanitizer = errors.find("ERROR: ");
  std::size_t from = check != std::string::npos ? errors.rfind('\n', check) + 1 : sanitizer;
  if (from == std::string::npos) from = errors.size() > 300 ? errors.size() - 300 : 0;
  return errors.substr(from, errors.find('\n', from) - from);
}

}  // namespace

Judgement judge_apart(const std::string& text, const Catalog& catalog, int most_seconds) {
  SharedFile answer, errors;
  const pid_t child = fork();
  PODSIM_CHECK(child >= 0, "no process can be made");
  if (child == 0) be_the_child(text, catalog, most_seconds, answer, errors);
  int status = 0;
  waitpid(child, &status, 0);
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGALRM || signal == SIGXCPU || signal == SIGKILL)
    return {true, Finding{"time", "more than " + std::to_string(most_seconds) + " s"}};
  const std::string line = answer.read_all();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || line.empty()) {
    const std::string how = signal ? strsignal(signal) : "exit";
    return {true, Finding{"crash", how + ": " + last_words(errors.read_all())}};
  }
  Judgement judged;
  judged.accepted = line[0] == 'a';
  const std::size_t end = line.find('\n');
  if (end != std::string::npos) judged.finding = Finding{line.substr(1, end - 1), line.substr(end + 1)};
  return judged;
}

void read_all(const Catalog& catalog) {
  for (const auto section :
       {Catalog::Section::kChips, Catalog::Section::kFabrics, Catalog::Section::kModels,
        Catalog::Section::kStacks, Catalog::Section::kPrices, Catalog::Section::kTransports,
        Catalog::Section::kFailures, Catalog::Section::kJitters, Catalog::Section::kLengths,
        Catalog::Section::kKernels})
    catalog.names(section);
}

}  // namespace podsim::testing
