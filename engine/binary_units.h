// Powers of 1024 bytes, in which memory and messages are told.
#pragma once

namespace podsim {

inline constexpr double kBytesPerKib = 1024, kBytesPerMib = 1024 * kBytesPerKib,
                        kBytesPerGib = 1024 * kBytesPerMib, kBytesPerTib = 1024 * kBytesPerGib;

}  // namespace podsim
