// The records of a file of traces: each a length and so many bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace podsim::chakra {

// A record and where it begins, 0 being the metadata.
struct Record {
  std::int64_t number = 0, byte = 0;
  std::string_view bytes;
};

// "record 3 (byte 120)"
std::string place(const Record& record);

enum class NextRecord { kRecord, kEnd, kDamaged };

// The records of a file one after the other.
class Records {
 public:
  explicit Records(std::string_view bytes) : bytes_(bytes) {}

  // Says in `why` what is wrong where the rest is no record.
  NextRecord next(Record& record, std::string& why);

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::int64_t number_ = 0;
};

// Up to the end, or to where the rest is none.
std::size_t count_records(std::string_view bytes);

// REQUIRES: the file has so many.
Record record_at(std::string_view bytes, std::size_t number);

}  // namespace podsim::chakra
