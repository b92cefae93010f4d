/* C = A * B for at most ROWS rows of A: each element of B is read once and used for all of them.
 *
 * With B contiguous along n, STREAMS rows of B at a time are added into a block of C that stays in the first cache;
 * with B contiguous along k (B_COL), STREAMS columns at a time are multiplied with a block of A that stays there.
 * Either way a step takes UNROLL vectors of each stream, and asks for the memory PREFETCH cache lines ahead.
 * Where m is less than ROWS the last row is computed again, and its copies are not stored.
 *
 * The variant sets VEC, ROWS, STREAMS, UNROLL, BLOCK (columns of C or depth of A), PREFETCH and B_COL.
 */
#define STEP (UNROLL * VEC)
#define LINE_FLOATS 16

INLINE void prefetch(const float *from)
{
#if PREFETCH
    for (int i = 0; i < STEP; i += LINE_FLOATS)
        __builtin_prefetch(from + PREFETCH * LINE_FLOATS + i, 0, 3);
#else
    (void)from;
#endif
}

#if B_COL

/* STREAMS columns of C (`columns` of them are stored) from `depth` elements of each row and column. */
INLINE void dot_products(const float *const a[ROWS], const float *const b[STREAMS], ptrdiff_t depth,
                         float *const c[ROWS], ptrdiff_t columns, int accumulate)
{
    vec sum[UNROLL][ROWS][STREAMS];
    float rest[ROWS][STREAMS] = {{0}};
    ptrdiff_t p = 0;
    UNROLLED(UNROLL)
    for (int u = 0; u < UNROLL; u++)
        UNROLLED(ROWS)
        for (int i = 0; i < ROWS; i++)
            UNROLLED(STREAMS)
            for (int s = 0; s < STREAMS; s++)
                sum[u][i][s] = (vec){0};

    for (; p + STEP <= depth; p += STEP)
        UNROLLED(STREAMS)
        for (int s = 0; s < STREAMS; s++) {
            prefetch(b[s] + p);
            UNROLLED(UNROLL)
            for (int u = 0; u < UNROLL; u++) {
                const vec column = load(b[s] + p + u * VEC);
                UNROLLED(ROWS)
                for (int i = 0; i < ROWS; i++)
                    sum[u][i][s] += load(a[i] + p + u * VEC) * column;
            }
        }
    UNROLLED(1)
    for (; p < depth; p++)
        for (int i = 0; i < ROWS; i++)
            for (int s = 0; s < STREAMS; s++)
                rest[i][s] += a[i][p] * b[s][p];

    UNROLLED(ROWS)
    for (int i = 0; i < ROWS; i++)
        UNROLLED(STREAMS)
        for (int s = 0; s < STREAMS; s++) {
            vec total = sum[0][i][s];
            UNROLLED(UNROLL)
            for (int u = 1; u < UNROLL; u++)
                total += sum[u][i][s];
            const float value = lane_sum(total) + rest[i][s];
            if (s < columns)
                c[i][s] = accumulate ? c[i][s] + value : value;
        }
}

/* The grid: all columns at once, so that a block of A is read once for all of them; products of the batch. */
static void product(const struct winnow_args *args, const float *a, const float *b, float *c, ptrdiff_t grid_x)
{
    float unused[STREAMS];
    (void)grid_x;
    for (ptrdiff_t k0 = 0; k0 < args->k; k0 += BLOCK) {
        const ptrdiff_t depth = smaller(BLOCK, args->k - k0);
        for (ptrdiff_t n0 = 0; n0 < args->n; n0 += STREAMS) {
            const ptrdiff_t columns = smaller(STREAMS, args->n - n0);
            const float *a_rows[ROWS], *b_columns[STREAMS];
            float *c_rows[ROWS];
            for (int i = 0; i < ROWS; i++) {
                a_rows[i] = a + smaller(i, args->m - 1) * args->stride_am + k0;
                c_rows[i] = i < args->m ? c + i * args->stride_cm + n0 : unused;
            }
            for (int s = 0; s < STREAMS; s++)
                b_columns[s] = b + (n0 + smaller(s, columns - 1)) * args->stride_bn + k0;
            dot_products(a_rows, b_columns, depth, c_rows, columns, k0 > 0);
        }
    }
}

#else

/* Add `streams` rows of B, each times its element of A, to `columns` columns of every row of C. */
INLINE void add_rows(int streams, const float *const a[ROWS], const float *b, ptrdiff_t stride_bk, float *const c[ROWS],
                     ptrdiff_t columns, int accumulate)
{
    ptrdiff_t j = 0;
    for (; j + STEP <= columns; j += STEP) {
        vec sum[ROWS][UNROLL];
        UNROLLED(ROWS)
        for (int i = 0; i < ROWS; i++)
            UNROLLED(UNROLL)
            for (int u = 0; u < UNROLL; u++)
                sum[i][u] = accumulate ? load(c[i] + j + u * VEC) : (vec){0};
        UNROLLED(STREAMS)
        for (int s = 0; s < streams; s++) {
            const float *line = b + s * stride_bk + j;
            prefetch(line);
            UNROLLED(UNROLL)
            for (int u = 0; u < UNROLL; u++) {
                const vec value = load(line + u * VEC);
                UNROLLED(ROWS)
                for (int i = 0; i < ROWS; i++)
                    sum[i][u] += value * a[i][s];
            }
        }
        UNROLLED(ROWS)
        for (int i = 0; i < ROWS; i++)
            UNROLLED(UNROLL)
            for (int u = 0; u < UNROLL; u++)
                store(c[i] + j + u * VEC, sum[i][u]);
    }
    UNROLLED(1)
    for (; j < columns; j++)
        for (int i = 0; i < ROWS; i++) {
            float sum = accumulate ? c[i][j] : 0;
            for (int s = 0; s < streams; s++)
                sum += b[s * stride_bk + j] * a[i][s];
            c[i][j] = sum;
        }
}

/* The grid: blocks of BLOCK columns, products of the batch. */
static void product(const struct winnow_args *args, const float *a, const float *b, float *c, ptrdiff_t grid_x)
{
    float unused[BLOCK];
    for (ptrdiff_t x = 0; x < grid_x; x++) {
        const ptrdiff_t n0 = x * BLOCK, columns = smaller(BLOCK, args->n - n0);
        const float *a_rows[ROWS];
        float *c_rows[ROWS];
        ptrdiff_t p = 0;
        for (int i = 0; i < ROWS; i++) {
            a_rows[i] = a + smaller(i, args->m - 1) * args->stride_am;
            c_rows[i] = i < args->m ? c + i * args->stride_cm + n0 : unused;
        }
        for (; p + STREAMS <= args->k; p += STREAMS) {
            add_rows(STREAMS, a_rows, b + p * args->stride_bk + n0, args->stride_bk, c_rows, columns, p > 0);
            for (int i = 0; i < ROWS; i++)
                a_rows[i] += STREAMS;
        }
        for (; p < args->k; p++) {
            add_rows(1, a_rows, b + p * args->stride_bk + n0, args->stride_bk, c_rows, columns, p > 0);
            for (int i = 0; i < ROWS; i++)
                a_rows[i] += 1;
        }
    }
}

#endif

void WINNOW_SYMBOL(const struct winnow_args *args, int32_t grid_x, int32_t grid_y, int32_t grid_z)
{
    (void)grid_z;
    for (ptrdiff_t y = 0; y < grid_y; y++)
        product(args, (const float *)args->a + y * args->stride_ab, (const float *)args->b + y * args->stride_bb,
                (float *)args->c + y * args->stride_cb, grid_x);
}
