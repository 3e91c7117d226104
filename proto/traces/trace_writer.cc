// Recorded traces as text, plain or compressed.
#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/check.h"
#include "proto/traces/trace_file.h"
#include "report/text/text.h"

namespace podsim {
namespace {

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

// A name is free text; a string of JSON is one of YAML.
std::string quoted_in_yaml(const std::string& name) {
  return nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string trace_rows(const RecordedTrace& trace) {
  std::string text = "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc\n";
  for (const RecordedOp& op : trace.ops) text += row(trace, op);
  return text;
}

std::string trace_meta(const RecordedTrace& trace, const std::string& name, int chips) {
  int ranks = 0, stages = 0, chunks = 0;
  for (const RecordedOp& op : trace.ops) {
    ranks = std::max(ranks, op.data_rank + 1);
    stages = std::max(stages, op.stage + 1);
    chunks = std::max(chunks, op.chunk + 1);
  }
  const auto line = [](const std::string& key, int value) {
    return key + ": " + std::to_string(value) + "\n";
  };
  return "trial_name: " + quoted_in_yaml(name) + "\n" + line("run_id", 0) + line("dp_size", ranks) +
         line("dsp_size", trace.sequence_ranks) + line("pp_size", stages) +
         line("tp_size", chips / (ranks * trace.sequence_ranks * stages)) + line("vpp_size", chunks) +
         line("world_size", chips) + "precision: " + (trace.single_precision ? "single" : "double") + "\n";
}

std::string meta_path(const std::string& trace_path) {
  std::string stem = trace_path;
  for (const std::string end : {".gz", ".csv"})
    if (stem.ends_with(end)) stem.resize(stem.size() - end.size());
  return stem + ".meta.yaml";
}

std::string gzipped(const std::string& text) {
  z_stream stream{};
  constexpr int kGzip = 16;  // added to the window's bits: zlib writes the header of gzip, not its own
  PODSIM_CHECK(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + kGzip, 8, Z_DEFAULT_STRATEGY) == Z_OK,
               "zlib takes these settings");
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // which it does not write to
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  PODSIM_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "a buffer of the bound holds all");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace podsim
