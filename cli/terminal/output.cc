// Writes beside the target and renames.
#include "cli/terminal/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "proto/text/read_file.h"

namespace podsim {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path) {
  throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
}

void write_and_close(std::FILE* file, const std::string& content, const std::string& path) {
  const bool written =
      std::fwrite(content.data(), 1, content.size(), file) == content.size() && std::fflush(file) == 0;
  if (!written || fsync(fileno(file)) != 0) {
    std::fclose(file);
    fail(path);
  }
  if (std::fclose(file) != 0) fail(path);
}

// A scenario's name as a file name: letters, digits and -_. stay.
std::string file_name(const std::string& name) {
  std::string safe;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || (c == '.' && !safe.empty());
    safe += plain ? c : '_';
  }
  return safe.empty() ? "report" : safe;
}

// Stops before a file that was read is written.
void keep_input(const std::string& path) {
  if (is_input(path)) throw InputWouldBeLost(path + " is an input of this command: write to another file");
}

// Where links lead, be there something or not. The system follows as many.
std::string behind_links(const std::string& link) {
  fs::path path = link;
  std::error_code error;
  for (int followed = 0; followed < 40 && fs::is_symlink(path, error); ++followed)
    path = path.parent_path() / fs::read_symlink(path, error);
  return path.string();
}

thread_local CollectedOutput* collected = nullptr;

}  // namespace

CollectedOutput::CollectedOutput() : outer_(collected) { collected = this; }
CollectedOutput::~CollectedOutput() { collected = outer_; }
bool CollectedOutput::any() { return collected != nullptr; }

void write_whole(const std::string& link, const std::string& content) {
  keep_input(link);
  const std::string path = behind_links(link);
  if (fs::exists(path) && !fs::is_regular_file(path)) {  // a pipe or a device cannot be replaced
    std::FILE* device = std::fopen(path.c_str(), "wb");
    if (device == nullptr) fail(path);
    const bool written = std::fwrite(content.data(), 1, content.size(), device) == content.size();
    if ((std::fclose(device) != 0) || !written) fail(path);
    return;
  }
  const std::string temporary = path + ".part" + std::to_string(getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) fail(path);
  try {
    write_and_close(file, content, path);
    if (std::rename(temporary.c_str(), path.c_str()) != 0) fail(path);
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
}

void emit(const std::string& content, const std::string& out) {
  if (!out.empty()) return write_whole(out, content);
  if (collected != nullptr) {
    collected->text_ += content;
    return;
  }
  const bool written = std::fwrite(content.data(), 1, content.size(), stdout) == content.size();
  if (!written || std::fflush(stdout) != 0) fail("to standard output");
}

bool is_folder(const std::string& out) {
  return !out.empty() && (out.back() == '/' || fs::is_directory(out));
}

void emit_each(const std::vector<NamedContent>& files, const std::string& extension,
               const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::map<std::string, int> used;
  std::vector<std::string> paths;
  for (const NamedContent& file : files) {
    std::string name = file_name(file.name);
    const int count = ++used[name];
    if (count > 1) name += "-" + std::to_string(count);
    paths.push_back((fs::path(folder) / (name + "." + extension)).string());
    keep_input(paths.back());
  }
  for (std::size_t i = 0; i < files.size(); ++i) write_whole(paths[i], files[i].content);
}

}  // namespace podsim
