// Reads lengths.
#include "ingest/chakra/records.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>

#include "engine/check.h"

namespace podsim::chakra {
namespace {

using google::protobuf::io::CodedInputStream;

constexpr int kMostLengthBytes = 5;

}  // namespace

std::string place(const Record& record) {
  return "record " + std::to_string(record.number) + " (byte " + std::to_string(record.byte) + ")";
}

NextRecord Records::next(Record& record, std::string& why) {
  if (at_ == bytes_.size()) return NextRecord::kEnd;
  record = {number_++, static_cast<std::int64_t>(at_), {}};
  const std::string_view rest = bytes_.substr(at_);
  const auto most = static_cast<int>(std::min<std::size_t>(rest.size(), kMostLengthBytes));
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(rest.data()), most);
  std::uint32_t length = 0;
  if (!in.ReadVarint32(&length)) {
    why = most < kMostLengthBytes ? "the file ends inside its length" : "its length is not a number";
    return NextRecord::kDamaged;
  }
  const auto begin = static_cast<std::size_t>(in.CurrentPosition());
  if (length > rest.size() - begin) {
    why = "the file ends inside it: of " + std::to_string(length) + " bytes it has " +
          std::to_string(rest.size() - begin);
    return NextRecord::kDamaged;
  }
  record.bytes = rest.substr(begin, length);
  at_ += begin + length;
  return NextRecord::kRecord;
}

std::size_t count_records(std::string_view bytes) {
  Records records(bytes);
  Record record;
  std::string why;
  std::size_t count = 0;
  while (records.next(record, why) == NextRecord::kRecord) ++count;
  return count;
}

Record record_at(std::string_view bytes, std::size_t number) {
  Records records(bytes);
  Record record;
  std::string why;
  while (records.next(record, why) == NextRecord::kRecord &&
         record.number < static_cast<std::int64_t>(number)) {
  }
  PODSIM_CHECK(record.number == static_cast<std::int64_t>(number), "the file has so many records");
  return record;
}

}  // namespace podsim::chakra
