// SHA-256 against the examples of the standard.
#include "engine/sha256.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace podsim::sha256_test {
namespace {

// FIPS 180-4 examples: no block, one block, two blocks, many.
TEST(Sha256, gives_the_digests_of_the_standards_examples) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Pieces of a stream end amid blocks and at their ends.
TEST(Sha256, of_a_stream_is_that_of_its_bytes) {
  for (const std::size_t length : {0u, 55u, 64u, 65'535u, 65'536u, 65'537u, 200'000u}) {
    const std::string bytes(length, 'x');
    std::istringstream stream(bytes);
    EXPECT_EQ(sha256(stream), sha256(bytes)) << length;
  }
}

}  // namespace
}  // namespace podsim::sha256_test
