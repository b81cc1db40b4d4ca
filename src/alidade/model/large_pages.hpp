#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace alidade::detail {

/// Asks for pages of 2 MiB, where the system has them: what is read from end to end, once a step, then waits
/// less for addresses (a third of the time on a virtual machine). To be called before the memory is first
/// written. A wish, without which nothing but the time changes.
inline void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t first = (begin + page - 1) / page * page, last = (begin + bytes) / page * page;
    if (first < last) madvise(static_cast<char*>(memory) + (first - begin), last - first, MADV_HUGEPAGE);
#endif
}

/// Memory for numbers that are read from end to end, not yet written: in large pages where the system has
/// them, and from the beginning of a line of the caches on, so that rows of whole lines are read without
/// touching one twice.
inline std::shared_ptr<double[]> numbers_in_lines(std::size_t count) {
    constexpr std::align_val_t line{64};
    std::shared_ptr<double[]> numbers(static_cast<double*>(::operator new[](count * sizeof(double), line)),
                                      [](double* memory) { ::operator delete[](memory, line); });
    prefer_large_pages(numbers.get(), count * sizeof(double));
    return numbers;
}

}  // namespace alidade::detail
