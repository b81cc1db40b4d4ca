#pragma once

#include <memory>

#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace alidade::detail {

/// Tells ThreadSanitizer what it cannot see, because the scheduler is not compiled with it: chunks begin
/// after the caller has handed them over, and the caller goes on after they have ended. What chunks do to
/// each other stays visible to it. Nothing in other builds.
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

/// At most `threads`, and no more than there are cores: more would only draw a complaint from the scheduler,
/// in print.
int usable_threads(int threads);

/// Threads that are called together once and then share one thing after another.
class Crew {
public:
    explicit Crew(int usable);
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew();

    /// work(first, last) over chunks of 0 .. count-1 that have `grain` or more; returns when all are done.
    template <class Work>
    void share(Index count, Index grain, const Work& work) const {
        struct Shared {
            const Work& work;
            ForkAndJoin order;
        } shared{work, {}};
        shared.order.fork();
        schedule(count, grain, &shared, [](const void* of, Index first, Index last) {
            const auto& [todo, order] = *static_cast<const Shared*>(of);
            order.begin_chunk();
            todo(first, last);
            order.end_chunk();
        });
        shared.order.join();
    }

private:
    /// A function and what it is called with, so that the scheduler's own templates are compiled once and in
    /// one file.
    using Chunk = void (*)(const void* of, Index first, Index last);
    void schedule(Index count, Index grain, const void* of, Chunk chunk) const;

    struct Arena;
    std::unique_ptr<Arena> arena_;
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
