// The matrix of nvidia-smi topo -m.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "engine/words.h"
#include "ingest/clusters/clusters.h"
#include "proto/text/document.h"
#include "report/text/align.h"

namespace podsim {
namespace {

// Paths from near to far; NV# are links between GPUs.
constexpr std::array<std::string_view, 5> kPaths = {"PIX", "PXB", "PHB", "NODE", "SYS"};

int distance(std::string_view path) {
  const auto found = std::find(kPaths.begin(), kPaths.end(), path);
  return found == kPaths.end() ? -1 : static_cast<int>(found - kPaths.begin());
}

bool is_path(std::string_view cell) {
  return cell == "X" || distance(cell) >= 0 || cell == "PXN" || cell == "SOC" ||
         (cell.starts_with("NV") && cell.size() > 2 &&
          cell.find_first_not_of("0123456789", 2) == std::string_view::npos);
}

// Without the colours of a terminal.
std::string without_escapes(std::string_view line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      plain += line[i];
      continue;
    }
    while (i + 1 < line.size() && line[i] != 'm') ++i;
  }
  return plain;
}

std::string trimmed(std::string_view cell) { return trim(cell, " \r"); }

// At tabs where the line has some, otherwise at blanks.
std::vector<std::string> cells_of(const std::string& line) {
  const char between = line.find('\t') != std::string::npos ? '\t' : ' ';
  std::vector<std::string> cells;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] != between) continue;
    const std::string cell = trimmed(std::string_view(line).substr(begin, i - begin));
    if (between == '\t' || !cell.empty()) cells.push_back(cell);
    begin = i + 1;
  }
  return cells;
}

bool is_gpu_name(std::string_view name) {
  return name.starts_with("GPU") && name.size() > 3 && name.find_first_not_of("0123456789", 3) == name.npos;
}

bool is_nic_name(std::string_view name) {
  for (const char* begin : {"NIC", "mlx", "ib", "hfi", "bnxt", "rocep", "efa", "rdmap"})
    if (name.starts_with(begin) && name.find(' ') == std::string_view::npos) return true;
  return false;
}

struct HostMatrix {
  std::vector<std::string> columns;  // GPUs and NICs
  std::map<std::string, std::int64_t> gpu_gpu, gpu_nic;
  std::int64_t gpus = 0, nics = 0;
  std::map<std::string, std::vector<std::string>> nearest;  // [GPU]
  std::map<std::string, std::string> names;                 // [NIC] of its legend
  Account account;
};

class MatrixReader {
 public:
  MatrixReader(Document& document, HostMatrix& matrix) : document_(document), m_(matrix) {
    m_.account.of = "lines";
  }

  void read() {
    for (int line = 1; line <= document_.lines() && !document_.full(); ++line) {
      const std::string text = without_escapes(document_.line(line));
      if (line == document_.lines() && text.empty()) break;
      ++m_.account.read;
      read_line(line, text);
    }
    for (const std::string& column : m_.columns)
      if (rows_.count(column) == 0)
        document_.report_file("the matrix has a column of " + column + ", but no row");
    if (m_.columns.empty()) document_.report_file("there is no matrix of GPUs: a line that begins with GPU0");
    m_.account.check();
  }

 private:
  void read_line(int line, const std::string& text) {
    const std::vector<std::string> cells = cells_of(text);
    const std::string first = cells.empty() ? "" : cells[0].empty() && cells.size() > 1 ? cells[1] : cells[0];
    if (m_.columns.empty()) {
      if (is_gpu_name(first)) {
        header(cells);
        ++m_.account.used;
      } else {
        ++m_.account.passed_over["before the matrix"];
      }
      return;
    }
    const bool row =
        !cells.empty() && std::find(m_.columns.begin(), m_.columns.end(), cells[0]) != m_.columns.end();
    if (row && cells.size() > 1) {
      ++m_.account.used;
      read_row(line, cells);
    } else if (const std::size_t colon = text.find(':');
               colon != std::string::npos && is_nic_name(trimmed(text.substr(0, colon)))) {
      ++m_.account.used;
      m_.names[trimmed(text.substr(0, colon))] = trimmed(text.substr(colon + 1));
    } else {
      ++m_.account.passed_over["legend and blank lines"];
    }
  }

  void header(const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) {
      if (cell.starts_with("CPU") || cell.starts_with("NUMA") || cell.starts_with("GPU NUMA")) break;
      if (is_gpu_name(cell))
        ++m_.gpus;
      else if (!cell.empty())
        ++m_.nics;  // of whatever name
      if (!cell.empty()) m_.columns.push_back(cell);
    }
  }

  void read_row(int line, const std::vector<std::string>& cells) {
    const std::string& name = cells[0];
    if (!rows_.insert(name).second) return document_.report_at({line, 1}, "a second row of " + name);
    if (cells.size() < m_.columns.size() + 1)
      return document_.report_at({line, 1}, "the row of " + name + " ends after " +
                                                std::to_string(cells.size() - 1) + " of " +
                                                std::to_string(m_.columns.size()) + " columns");
    int best = -1;
    for (std::size_t i = 0; i < m_.columns.size(); ++i) {
      const std::string &column = m_.columns[i], &cell = cells[i + 1];
      if (!is_path(cell) || (cell == "X") != (column == name)) {
        const std::size_t at = document_.line(line).find(cell);
        return document_.report_at(
            {line, at == std::string_view::npos ? 1 : static_cast<int>(at) + 1},
            name + " to " + column + " is \"" + cell + "\"",
            "expected NV and a number of links, PIX, PXB, PHB, NODE, SYS, or X on the diagonal");
      }
      if (!is_gpu_name(name) || column == name) continue;
      if (is_gpu_name(column)) {
        ++m_.gpu_gpu[cell];
        continue;
      }
      ++m_.gpu_nic[cell];
      const int far = distance(cell);
      if (far < 0) continue;
      std::vector<std::string>& nearest = m_.nearest[name];
      if (best < 0 || far < best) nearest.clear();
      if (best < 0 || far <= best) {
        nearest.push_back(column);
        best = far;
      }
    }
  }

  Document& document_;
  HostMatrix& m_;
  std::set<std::string> rows_;
};

std::vector<Figure> matrix_figures(const HostMatrix& matrix) {
  std::vector<Figure> nearest, names;
  for (const auto& [gpu, nics] : matrix.nearest) nearest.push_back(Figure::list(gpu, values_of(nics)));
  for (const auto& [nic, name] : matrix.names) names.emplace_back(nic, name);
  return {{"gpus", matrix.gpus},
          {"nics", matrix.nics},
          counts_figure("gpu_gpu", matrix.gpu_gpu),
          counts_figure("gpu_nic", matrix.gpu_nic),
          Figure::group("nearest_nic", std::move(nearest)),
          Figure::group("nic_names", std::move(names)),
          account_figure(matrix.account)};
}

std::string matrix_text(const std::string& file, const HostMatrix& matrix) {
  std::vector<std::vector<std::string>> rows = {{"GPU", "nearest NIC"}};
  for (const std::string& column : matrix.columns) {
    if (!is_gpu_name(column)) continue;
    std::string nics;
    if (const auto found = matrix.nearest.find(column); found != matrix.nearest.end())
      for (const std::string& nic : found->second) nics += (nics.empty() ? "" : ", ") + nic;
    rows.push_back({column, nics.empty() ? "none" : nics});
  }
  std::string text = file + ": nvidia-smi topo -m of a host, " + count_text(matrix.gpus) + " GPUs, " +
                     count_text(matrix.nics) + " NICs\n\n";
  for (const auto& [path, count] : matrix.gpu_gpu)
    text += count_text(count / 2) + " pairs of GPUs by " + path + "\n";
  return text + "\n" + align(rows) + "\n" + account_text(matrix.account);
}

}  // namespace

bool is_nvidia_smi(std::string_view text) {
  const std::string_view begin = text.substr(0, 4096);
  const std::size_t gpu = begin.find("GPU0");
  return gpu != std::string_view::npos && begin.find(" X ", gpu) != std::string_view::npos &&
         begin.find("GPU0", gpu + 4) != std::string_view::npos;
}

std::optional<Imported> import_nvidia_smi(const std::vector<InputText>& files, const Stated&,
                                          std::vector<Problem>& problems) {
  Document document(files.front().name, files.front().text);
  HostMatrix matrix;
  MatrixReader(document, matrix).read();
  const std::vector<Problem> found = document.problems();
  problems.insert(problems.end(), found.begin(), found.end());
  if (!found.empty()) return std::nullopt;
  Imported imported = {matrix_figures(matrix), matrix_text(files.front().name, matrix), {matrix.account}};
  const auto named = static_cast<std::int64_t>(matrix.names.size());
  if (named > 0 && named < matrix.nics)
    imported.notes.push_back(files.front().name + ": the legend names " + count_text(named) + " of " +
                             count_text(matrix.nics) + " NICs: the file may have been cut");
  return imported;
}

}  // namespace podsim
