// Writes traces row by row through the stream that compresses them.
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "planner/trace_file.h"
#include "report/text.h"

namespace podsim {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string row(const RecordedTrace& trace, const RecordedOp& op) {
  const auto known = trace.global_rank.find({op.data_rank, op.stage});
  std::string text;
  for (const std::int64_t cell :
       {std::int64_t{op.data_rank}, std::int64_t{op.stage},
        std::int64_t{known == trace.global_rank.end() ? 0 : known->second}, std::int64_t{op.step}})
    text += std::to_string(cell) + ",";
  text += std::string(to_string(op.type)) + "," + shortest(op.start_s) + "," + shortest(op.duration_s);
  for (const int cell : {int{op.sequence}, int{op.chunk}, int{op.microbatch}, int{op.global_chunk}})
    text += "," + std::to_string(cell);
  return text + "\n";
}

void write_rows(const std::string& path, const RecordedTrace& trace) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(
      gzopen(path.c_str(), ends_with(path, ".gz") ? "wb6" : "wbT"), gzclose);
  if (!file) throw std::runtime_error("cannot write " + path);
  bool good =
      gzputs(file.get(), "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc\n") > 0;
  for (const RecordedOp& op : trace.ops) good = good && gzputs(file.get(), row(trace, op).c_str()) > 0;
  if (!good || gzflush(file.get(), Z_FINISH) != Z_OK) throw std::runtime_error("cannot write " + path);
}

std::string description(const RecordedTrace& trace, const std::string& name, int chips) {
  int ranks = 0, stages = 0, chunks = 0;
  for (const RecordedOp& op : trace.ops) {
    ranks = std::max(ranks, op.data_rank + 1);
    stages = std::max(stages, op.stage + 1);
    chunks = std::max(chunks, op.chunk + 1);
  }
  const auto line = [](const std::string& key, int value) {
    return key + ": " + std::to_string(value) + "\n";
  };
  return "trial_name: " + name + "\n" + line("run_id", 0) + line("dp_size", ranks) +
         line("dsp_size", trace.sequence_ranks) + line("pp_size", stages) +
         line("tp_size", chips / (ranks * trace.sequence_ranks * stages)) + line("vpp_size", chunks) +
         line("world_size", chips) + "precision: " + (trace.single_precision ? "single" : "double") + "\n";
}

}  // namespace

std::string meta_path(const std::string& trace_path) {
  std::string stem = trace_path;
  for (const std::string end : {".gz", ".csv"})
    if (ends_with(stem, end)) stem.resize(stem.size() - end.size());
  return stem + ".meta.yaml";
}

void write_trace(const std::string& path, const RecordedTrace& trace, const std::string& name, int chips) {
  write_rows(path, trace);
  std::ofstream meta(meta_path(path), std::ios::binary);
  meta << description(trace, name, chips);
  if (!meta.flush()) throw std::runtime_error("cannot write " + meta_path(path));
}

}  // namespace podsim
