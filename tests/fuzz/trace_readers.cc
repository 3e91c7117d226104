// Traces are files: the bytes go through one in memory.
#include "tests/fuzz/trace_readers.h"

#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "engine/check.h"
#include "proto/traces/trace_file.h"
#include "scheduler/replay/replay_graph.h"
#include "scheduler/replay/what_if.h"

namespace podsim::testing {
namespace {

class MemoryFile {
 public:
  explicit MemoryFile(const std::string& bytes) : descriptor_(memfd_create("input", 0)) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    PODSIM_CHECK(written == static_cast<ssize_t>(bytes.size()), "the memory holds the input");
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void read(const std::string& table, const std::string& meta) {
  std::vector<Problem> problems;
  const auto trace = read_trace(table, meta, problems);
  PODSIM_CHECK(trace.has_value() == problems.empty(), "a trace or problems, not both");
  for (const Problem& problem : problems) PODSIM_CHECK(!problem.message.empty(), "a problem says nothing");
  if (!trace) return;
  try {
    what_if(*trace, {});
  } catch (const ReplayError& error) {
    PODSIM_CHECK(*error.what() != 0, "an error says nothing");
  }
}

}  // namespace

void traces(const std::string& bytes) {
  const std::size_t nul = bytes.find('\0');
  if (nul == std::string::npos) return traces_gzip(bytes);  // plain text is read as it is
  const MemoryFile meta(bytes.substr(0, nul)), table(bytes.substr(nul + 1));
  read(table.path(), meta.path());
}

void traces_gzip(const std::string& bytes) {
  const MemoryFile file(bytes);
  read(file.path(), "");
}

}  // namespace podsim::testing
