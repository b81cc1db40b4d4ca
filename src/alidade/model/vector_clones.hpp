#pragma once

/// Before a function: compiled for several sets of vector instructions, of which the loader takes the widest
/// that the machine has. Sums keep their order and nothing is contracted, so that all give the same bits.
/// Elsewhere than on x86-64 there is one version, and where ALIDADE_PORTABLE asks for what any compiler has.
/// So there is under ThreadSanitizer, because the loader chooses before it has begun, and what chooses is
/// instrumented.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__) && !defined(ALIDADE_PORTABLE)
#define ALIDADE_VECTOR_CLONES [[gnu::target_clones("avx512f", "avx2", "default")]]
#else
#define ALIDADE_VECTOR_CLONES
#endif
