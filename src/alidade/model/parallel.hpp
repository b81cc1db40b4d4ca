#pragma once

#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace alidade::detail {

/// Tells ThreadSanitizer what it cannot see, because the scheduler's library is not compiled with it: chunks
/// begin after the caller has handed them over, and the caller goes on after they have ended. What chunks do
/// to each other stays visible to it. Nothing in other builds.
class ForkAndJoin {
public:
#ifdef __SANITIZE_THREAD__
    void fork() {
        __tsan_release(&begun_);
    }
    void begin_chunk() const {
        __tsan_acquire(&begun_);
    }
    void end_chunk() const {
        __tsan_release(&ended_);
    }
    void join() {
        __tsan_acquire(&ended_);
    }

private:
    mutable char begun_ = 0, ended_ = 0;
#else
    void fork() {}
    void begin_chunk() const {}
    void end_chunk() const {}
    void join() {}
#endif
};

/// Not inlined, so that a race in the work is never reported as one of the scheduler's.
template <class Work>
[[gnu::noinline]] void run_chunk(const ForkAndJoin& order, const Work& work, Index first, Index last) {
    order.begin_chunk();
    work(first, last);
    order.end_chunk();
}

template <class Work>
[[gnu::noinline]] void run_chunks_of(const ForkAndJoin& order, const Work& work, Index count, Index grain) {
    tbb::parallel_for(
        tbb::blocked_range<Index>(0, count, static_cast<std::size_t>(grain)),
        [&](const tbb::blocked_range<Index>& chunk) { run_chunk(order, work, chunk.begin(), chunk.end()); });
}

/// The same a good way down the stack, where ThreadSanitizer looks on. The scheduler's records of a loop lie
/// on the caller's stack, and a worker touches them once more after its last chunk; that the caller waits for
/// it is not to be seen. So they lie where the caller keeps nothing of its own afterwards.
template <class Work>
void run_apart(const ForkAndJoin& order, const Work& work, Index count, Index grain) {
#ifdef __SANITIZE_THREAD__
    [[maybe_unused]] volatile char room[1 << 18];
    room[0] = 0;
    run_chunks_of(order, work, count, grain);
    room[0] = 1;
#else
    run_chunks_of(order, work, count, grain);
#endif
}

/// At most `threads`, and no more than there are cores: more would only draw a complaint from the scheduler,
/// in print.
inline int usable_threads(int threads) {
    return threads <= 1 ? 1 : std::min(threads, tbb::info::default_concurrency());
}

/// Threads that are called together once and then share one thing after another.
class Crew {
public:
    explicit Crew(int usable) : arena_(usable) {}

    /// work(first, last) over chunks of 0 .. count-1 that have `grain` or more; returns when all are done.
    template <class Work>
    void share(Index count, Index grain, const Work& work) const {
        ForkAndJoin order;
        order.fork();
        arena_.execute([&] { run_apart(order, work, count, grain); });
        order.join();
    }

private:
    mutable tbb::task_arena arena_;
};

/// work(first, last) over chunks of 0 .. count-1, on at most `threads` threads; on the caller's alone if
/// there is too little for two.
template <class Work>
void in_chunks(Index count, Index grain, Threads threads, const Work& work) {
    const int usable = usable_threads(threads.count());
    if (usable <= 1 || count < 2 * grain)
        work(Index{0}, count);
    else
        Crew(usable).share(count, grain, work);
}

}  // namespace alidade::detail
