#pragma once

#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "alidade/types.hpp"

namespace alidade::detail {

/// work(first, last) over chunks of 0 .. count-1, on at most `threads` threads; on the caller's alone if
/// there is too little for two. More threads than cores would only draw a complaint from the scheduler, in
/// print.
template <class Work>
void in_chunks(Index count, Index grain, int threads, const Work& work) {
    const int usable = std::min(threads, tbb::info::default_concurrency());
    if (usable <= 1 || count < 2 * grain) {
        work(Index{0}, count);
        return;
    }
    tbb::task_arena arena(usable);
    arena.execute([&] {
        tbb::parallel_for(tbb::blocked_range<Index>(0, count, static_cast<std::size_t>(grain)),
                          [&](const tbb::blocked_range<Index>& r) { work(r.begin(), r.end()); });
    });
}

}  // namespace alidade::detail
