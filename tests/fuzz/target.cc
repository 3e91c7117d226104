// One reader as a target of libFuzzer: PODSIM_READER is its name.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const podsim::testing::Reader* const kReader = podsim::testing::reader_named(PODSIM_READER);
  kReader->read(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
