/* C = A * B in cache tiles, the innermost tile held in registers.
 *
 * Loops from the outside: batch, BLOCK_N columns, BLOCK_K of the depth, BLOCK_M rows; inside, slivers of NR columns
 * by groups of REG_M rows. B's slivers are packed one behind another (PACK_B) or read where they lie, and so are A's
 * groups (PACK_A). A sliver or a group that hangs over the matrix is computed in full and stored in part.
 *
 * The variant sets VEC, REG_M, REG_V, UNROLL_K, BLOCK_M, BLOCK_N, BLOCK_K, PACK_A, PACK_B, EDGE (any n, not only
 * multiples of NR) and B_COL (B is contiguous along k, not along n).
 */
#define NR (REG_V * VEC)
#define A_STEP (PACK_A ? REG_M : 1)

/* C[REG_M][NR] (+)= A * B over `depth` steps. Each row of A advances by A_STEP, B by b_step, C's rows by c_row. */
INLINE void register_tile(const float *const a_rows[REG_M], const float *b, ptrdiff_t b_step, ptrdiff_t depth,
                          float *c, ptrdiff_t c_row, int accumulate)
{
    vec sum[REG_M][REG_V];
    UNROLLED(REG_M)
    for (int i = 0; i < REG_M; i++)
        UNROLLED(REG_V)
        for (int j = 0; j < REG_V; j++)
            sum[i][j] = (vec){0};

    UNROLLED(UNROLL_K)
    for (ptrdiff_t p = 0; p < depth; p++) {
        vec line[REG_V];
        UNROLLED(REG_V)
        for (int j = 0; j < REG_V; j++)
            line[j] = load(b + p * b_step + j * VEC);
        UNROLLED(REG_M)
        for (int i = 0; i < REG_M; i++)
            UNROLLED(REG_V)
            for (int j = 0; j < REG_V; j++)
                sum[i][j] += line[j] * a_rows[i][p * A_STEP];
    }

    UNROLLED(REG_M)
    for (int i = 0; i < REG_M; i++)
        UNROLLED(REG_V)
        for (int j = 0; j < REG_V; j++) {
            float *to = c + i * c_row + j * VEC;
            store(to, accumulate ? load(to) + sum[i][j] : sum[i][j]);
        }
}

/* The part of a register tile that lies inside C. */
static __attribute__((noinline)) void store_part(const float tile[REG_M * NR], float *c, ptrdiff_t stride_cm,
                                                 ptrdiff_t rows, ptrdiff_t columns, int accumulate)
{
    for (ptrdiff_t i = 0; i < rows; i++)
        for (ptrdiff_t j = 0; j < columns; j++)
            c[i * stride_cm + j] = (accumulate ? c[i * stride_cm + j] : 0) + tile[i * NR + j];
}

#if B_COL
/* VEC neighbouring columns of B, contiguous along k, as VEC columns of a sliver. */
static __attribute__((noinline)) void pack_columns(float *to, const float *const column[VEC], ptrdiff_t depth)
{
    ptrdiff_t p = 0;
    for (; p + VEC <= depth; p += VEC) {
        vec block[VEC];
        UNROLLED(VEC)
        for (int lane = 0; lane < VEC; lane++)
            block[lane] = load(column[lane] + p);
        transpose(block);
        UNROLLED(VEC)
        for (int lane = 0; lane < VEC; lane++)
            store(to + (p + lane) * NR, block[lane]);
    }
    for (; p < depth; p++)
        for (int lane = 0; lane < VEC; lane++)
            to[p * NR + lane] = column[lane][p];
}
#endif

/* One sliver of B as [depth][NR]. Past the last column the last one is repeated: what it yields is never stored. */
static void pack_sliver(float *to, const float *b, const struct winnow_args *args, ptrdiff_t depth, ptrdiff_t columns)
{
#if B_COL
    for (ptrdiff_t j = 0; j < NR; j += VEC) {
        const float *column[VEC];
        for (int lane = 0; lane < VEC; lane++)
            column[lane] = b + smaller(j + lane, columns - 1) * args->stride_bn;
        pack_columns(to + j, column, depth);
    }
#else
    for (ptrdiff_t p = 0; p < depth; p++) {
        const float *from = b + p * args->stride_bk;
        if (!EDGE || columns >= NR)
            UNROLLED(REG_V)
            for (int j = 0; j < REG_V; j++)
                store(to + p * NR + j * VEC, load(from + j * VEC));
        else
            for (ptrdiff_t j = 0; j < NR; j++)
                to[p * NR + j] = from[smaller(j, columns - 1)];
    }
#endif
}

/* Groups of REG_M rows of A, each as [depth][REG_M]; past the last row the last one is repeated. */
static inline void pack_rows(float *to, const float *a, ptrdiff_t stride_am, ptrdiff_t rows, ptrdiff_t depth)
{
    for (ptrdiff_t i = 0; i < rows; i += REG_M)
        for (int r = 0; r < REG_M; r++) {
            const float *from = a + smaller(i + r, rows - 1) * stride_am;
            for (ptrdiff_t p = 0; p < depth; p++)
                to[i * depth + p * REG_M + r] = from[p];
        }
}

/* One BLOCK_M x BLOCK_N tile of C for one block of the depth. Sliver s of B starts at b + s * b_sliver. */
static void cache_tile(const struct winnow_args *args, const float *a, const float *b, ptrdiff_t b_sliver,
                       ptrdiff_t b_step, float *c, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t depth, int accumulate)
{
#if PACK_A
    float packed_a[BLOCK_M * BLOCK_K] __attribute__((aligned(64)));
    pack_rows(packed_a, a, args->stride_am, rows, depth);
#endif
    for (ptrdiff_t j = 0; j < columns; j += NR, b += b_sliver)
        for (ptrdiff_t i = 0; i < rows; i += REG_M) {
            const ptrdiff_t high = smaller(REG_M, rows - i), wide = smaller(NR, columns - j);
            const float *a_rows[REG_M];
            UNROLLED(REG_M)
            for (int r = 0; r < REG_M; r++)
#if PACK_A
                a_rows[r] = packed_a + i * depth + r;
#else
                a_rows[r] = a + (i + smaller(r, high - 1)) * args->stride_am;
#endif
            float *to = c + i * args->stride_cm + j;
            if (high == REG_M && (!EDGE || wide == NR)) {
                register_tile(a_rows, b, b_step, depth, to, args->stride_cm, accumulate);
            } else {
                float part[REG_M * NR];
                register_tile(a_rows, b, b_step, depth, part, NR, 0);
                store_part(part, to, args->stride_cm, high, wide, accumulate);
            }
        }
}

/* All BLOCK_M x BLOCK_N tiles of one block of columns and one block of the depth. */
static void column_block(const struct winnow_args *args, const float *a, const float *b, float *c, ptrdiff_t columns,
                         ptrdiff_t depth, int accumulate)
{
#if PACK_B
    float packed[BLOCK_N * BLOCK_K] __attribute__((aligned(64)));
    for (ptrdiff_t j = 0; j < columns; j += NR)
        pack_sliver(packed + j * depth, b + j * args->stride_bn, args, depth, columns - j);
#else
    /* Even where B is read in place, its last, narrower sliver is packed: vectors would reach past the matrix. */
    float packed[EDGE ? NR * BLOCK_K : 1] __attribute__((aligned(64)));
    const ptrdiff_t whole = EDGE ? columns / NR * NR : columns;
    if (whole < columns)
        pack_sliver(packed, b + whole, args, depth, columns - whole);
#endif
    for (ptrdiff_t m0 = 0; m0 < args->m; m0 += BLOCK_M) {
        const ptrdiff_t rows = smaller(BLOCK_M, args->m - m0);
        const float *a0 = a + m0 * args->stride_am;
        float *c0 = c + m0 * args->stride_cm;
#if PACK_B
        cache_tile(args, a0, packed, NR * depth, NR, c0, rows, columns, depth, accumulate);
#else
        cache_tile(args, a0, b, NR, args->stride_bk, c0, rows, whole, depth, accumulate);
        if (whole < columns)
            cache_tile(args, a0, packed, 0, NR, c0 + whole, rows, columns - whole, depth, accumulate);
#endif
    }
}

/* The grid: blocks of BLOCK_N columns, products of the batch. */
void WINNOW_SYMBOL(const struct winnow_args *args, int32_t grid_x, int32_t grid_y, int32_t grid_z)
{
    const ptrdiff_t n = args->n, k = args->k;
    (void)grid_z;
    for (ptrdiff_t y = 0; y < grid_y; y++) {
        const float *a = (const float *)args->a + y * args->stride_ab;
        const float *b = (const float *)args->b + y * args->stride_bb;
        float *c = (float *)args->c + y * args->stride_cb;
        for (ptrdiff_t x = 0; x < grid_x; x++) {
            const ptrdiff_t n0 = x * BLOCK_N;
            for (ptrdiff_t k0 = 0; k0 < k; k0 += BLOCK_K)
                column_block(args, a + k0, b + k0 * args->stride_bk + n0 * args->stride_bn, c + n0,
                             smaller(BLOCK_N, n - n0), smaller(BLOCK_K, k - k0), k0 > 0);
        }
    }
}
