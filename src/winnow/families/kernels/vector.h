/* What the kernels of every family share: vectors of VEC floats (4, 8 or 16) in the compiler's own vector types, so
 * that one text serves SSE, AVX2 and AVX-512 with gcc and clang alike.
 */
#include <stddef.h>
#include <stdint.h>

#define PRAGMA(text) _Pragma(#text)
#define UNROLLED(count) PRAGMA(GCC unroll count)
#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(4 * VEC)));
typedef int32_t ivec __attribute__((vector_size(4 * VEC)));
/* The same vector where it lies in memory: at any float, whatever that memory is declared as. */
typedef float vec_memory __attribute__((vector_size(4 * VEC), aligned(4), may_alias));

INLINE vec load(const float *from) { return *(const vec_memory *)from; }
INLINE void store(float *to, vec value) { *(vec_memory *)to = value; }
INLINE ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }

/* Alternate lanes of the low (high) halves of a and b. */
#if VEC == 4
#define LOW_LANES 0, 4, 1, 5
#define HIGH_LANES 2, 6, 3, 7
#elif VEC == 8
#define LOW_LANES 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_LANES 4, 12, 5, 13, 6, 14, 7, 15
#else
#define LOW_LANES 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_LANES 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#endif
#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (ivec){__VA_ARGS__})
#endif

/* Transpose VEC x VEC in place. Zipping row i with row i + VEC/2 rotates the index bits (row, lane) by one; after
 * log2(VEC) rounds row and lane have changed places. */
INLINE void transpose(vec rows[VEC])
{
    UNROLLED(4)
    for (int round = 1; round < VEC; round *= 2) {
        vec next[VEC];
        UNROLLED(VEC)
        for (int i = 0; i < VEC / 2; i++) {
            next[2 * i] = SHUFFLE(rows[i], rows[i + VEC / 2], LOW_LANES);
            next[2 * i + 1] = SHUFFLE(rows[i], rows[i + VEC / 2], HIGH_LANES);
        }
        UNROLLED(VEC)
        for (int i = 0; i < VEC; i++)
            rows[i] = next[i];
    }
}

/* The sum of the lanes of one vector. */
INLINE float lane_sum(vec value)
{
    UNROLLED(4)
    for (int round = 1; round < VEC; round *= 2)
        value = SHUFFLE(value, value, LOW_LANES) + SHUFFLE(value, value, HIGH_LANES);
    return value[0];
}

/* Lane i of the result is the sum of the lanes of rows[i]; the rows are used up. */
INLINE vec lane_sums(vec rows[VEC])
{
    UNROLLED(4)
    for (int left = VEC / 2; left > 0; left /= 2)
        UNROLLED(VEC)
        for (int i = 0; i < left; i++)
            rows[i] = SHUFFLE(rows[i], rows[i + left], LOW_LANES) + SHUFFLE(rows[i], rows[i + left], HIGH_LANES);
    return rows[0];
}
