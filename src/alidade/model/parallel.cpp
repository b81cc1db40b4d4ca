// The only file that sees the scheduler. It is never compiled with ThreadSanitizer, as the scheduler's
// library is not: a worker touches the records of a loop, which lie on the caller's stack, after its last
// chunk; that the caller waits for that is in the library and not to be seen, and the caller's next use of
// its stack would be called a race.

#include "parallel.hpp"

#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

namespace alidade::detail {

int usable_threads(int threads) {
    return threads <= 1 ? 1 : std::min(threads, tbb::info::default_concurrency());
}

struct Crew::Arena {
    explicit Arena(int usable) : threads(usable) {}
    tbb::task_arena threads;
};

Crew::Crew(int usable) : arena_(std::make_unique<Arena>(usable)) {}

Crew::~Crew() = default;

void Crew::schedule(Index count, Index grain, const void* of, Chunk chunk) const {
    arena_->threads.execute([&] {
        tbb::parallel_for(
            tbb::blocked_range<Index>(0, count, static_cast<std::size_t>(grain)),
            [&](const tbb::blocked_range<Index>& range) { chunk(of, range.begin(), range.end()); });
    });
}

}  // namespace alidade::detail
