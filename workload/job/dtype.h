// Number formats.
#pragma once

#include <string_view>

namespace podsim {

enum class Dtype : unsigned char { kFp32, kBf16, kFp16, kFp8, kFp4, kInt8 };
std::string_view to_string(Dtype dtype);
double bytes_per_element(Dtype dtype);  // 4, 2, 2, 1, 0.5, 1

}  // namespace podsim
