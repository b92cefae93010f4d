/* Attention for many queries: a tile of queries meets the keys block by block, with a running softmax.
 *
 * Lanes are queries. A tile of BLOCK_M queries is transposed once, and then scores = K * Q^T and O^T += V^T * P^T are
 * both products of a few rows (REG_M keys, or REG_M elements of a value) by REG_V vectors of queries. Keys and values
 * are read where they lie, maxima and sums over keys stay within a lane, and nothing else is ever transposed.
 * A query that sees no key at all yields zeros.
 *
 * The variant sets HEAD_SIZE, CAUSAL, BLOCK_M, BLOCK_N, VEC, REG_M, REG_V, UNROLL and EXP_POLY.
 */
#define REG_LANES (REG_V * VEC)

typedef struct {
    float queries[HEAD_SIZE][BLOCK_M]; /* transposed, times scale and log2(e) */
    float sums[HEAD_SIZE][BLOCK_M];    /* O^T before it is divided by `weight` */
    float scores[BLOCK_N][BLOCK_M];    /* then the weights of the keys */
    float maximum[BLOCK_M];
    float weight[BLOCK_M];
    float rescale[BLOCK_M]; /* what the newest maximum makes of earlier sums */
} tile;

/* sum[REG_M][REG_V] += A * B: row i of A starts at a[i] and advances by a_step, B is [depth][BLOCK_M]. */
INLINE void multiply(const float *const a[REG_M], ptrdiff_t a_step, const float *b, ptrdiff_t depth,
                     vec sum[REG_M][REG_V])
{
    UNROLLED(UNROLL)
    for (ptrdiff_t p = 0; p < depth; p++) {
        vec line[REG_V];
        UNROLLED(REG_V)
        for (int j = 0; j < REG_V; j++)
            line[j] = load(b + p * BLOCK_M + j * VEC);
        UNROLLED(REG_M)
        for (int i = 0; i < REG_M; i++)
            UNROLLED(REG_V)
            for (int j = 0; j < REG_V; j++)
                sum[i][j] += line[j] * a[i][p * a_step];
    }
}

/* Queries first .. first + BLOCK_M - 1, transposed; past the last row of the tile that row is repeated. */
static void take_queries(tile *t, const float *q, ptrdiff_t stride_qs, ptrdiff_t rows, float scale)
{
    for (ptrdiff_t i = 0; i < BLOCK_M; i += VEC)
        for (ptrdiff_t d = 0; d < HEAD_SIZE; d += VEC) {
            vec block[VEC];
            UNROLLED(VEC)
            for (int lane = 0; lane < VEC; lane++)
                block[lane] = load(q + smaller(i + lane, rows - 1) * stride_qs + d);
            transpose(block);
            UNROLLED(VEC)
            for (int lane = 0; lane < VEC; lane++)
                store(&t->queries[d + lane][i], block[lane] * scale);
        }
    for (ptrdiff_t i = 0; i < BLOCK_M; i++) {
        t->maximum[i] = NO_MAXIMUM;
        t->weight[i] = 0;
        for (ptrdiff_t d = 0; d < HEAD_SIZE; d++)
            t->sums[d][i] = 0;
    }
}

/* Scores of `keys` keys; past the last key that key is repeated, and what comes of it is not looked at. */
static void score(tile *t, const float *k, ptrdiff_t stride_ks, ptrdiff_t keys, ptrdiff_t lanes)
{
    for (ptrdiff_t j = 0; j < keys; j += REG_M) {
        const float *rows[REG_M];
        UNROLLED(REG_M)
        for (int r = 0; r < REG_M; r++)
            rows[r] = k + smaller(j + r, keys - 1) * stride_ks;
        for (ptrdiff_t i = 0; i < lanes; i += REG_LANES) {
            vec sum[REG_M][REG_V];
            UNROLLED(REG_M)
            for (int r = 0; r < REG_M; r++)
                UNROLLED(REG_V)
                for (int c = 0; c < REG_V; c++)
                    sum[r][c] = (vec){0};
            multiply(rows, 1, &t->queries[0][i], HEAD_SIZE, sum);
            UNROLLED(REG_M)
            for (int r = 0; r < REG_M; r++)
                UNROLLED(REG_V)
                for (int c = 0; c < REG_V; c++)
                    store(&t->scores[j + r][i + c * VEC], sum[r][c]);
        }
    }
}

/* Query i of the tile sees the block's keys up to number i + last. */
static inline void mask(tile *t, ptrdiff_t keys, ptrdiff_t lanes, ptrdiff_t last)
{
    for (ptrdiff_t j = 0; j < keys; j++)
        for (ptrdiff_t i = 0; i < smaller(j - last, lanes); i++)
            t->scores[j][i] = MASKED;
}

/* Scores become weights; the running maximum and weight take them in. */
static void soften(tile *t, ptrdiff_t keys, ptrdiff_t lanes)
{
    for (ptrdiff_t i = 0; i < lanes; i += VEC) {
        const vec before = load(&t->maximum[i]);
        vec maximum = before, weight = (vec){0};
        for (ptrdiff_t j = 0; j < keys; j++)
            maximum = larger(load(&t->scores[j][i]), maximum);
        for (ptrdiff_t j = 0; j < keys; j++) {
            const vec one = exp2_lanes(load(&t->scores[j][i]) - maximum);
            weight += one;
            store(&t->scores[j][i], one);
        }
        const vec rescale = exp2_lanes(before - maximum);
        store(&t->maximum[i], maximum);
        store(&t->rescale[i], rescale);
        store(&t->weight[i], load(&t->weight[i]) * rescale + weight);
    }
}

/* Earlier sums are rescaled, and the block's values are added with their weights. */
static void gather(tile *t, const float *v, ptrdiff_t stride_vs, ptrdiff_t keys, ptrdiff_t lanes)
{
    for (ptrdiff_t d = 0; d < HEAD_SIZE; d += REG_M) {
        const float *rows[REG_M];
        UNROLLED(REG_M)
        for (int r = 0; r < REG_M; r++)
            rows[r] = v + d + r;
        for (ptrdiff_t i = 0; i < lanes; i += REG_LANES) {
            vec sum[REG_M][REG_V];
            UNROLLED(REG_M)
            for (int r = 0; r < REG_M; r++)
                UNROLLED(REG_V)
                for (int c = 0; c < REG_V; c++)
                    sum[r][c] = load(&t->sums[d + r][i + c * VEC]) * load(&t->rescale[i + c * VEC]);
            multiply(rows, stride_vs, &t->scores[0][i], keys, sum);
            UNROLLED(REG_M)
            for (int r = 0; r < REG_M; r++)
                UNROLLED(REG_V)
                for (int c = 0; c < REG_V; c++)
                    store(&t->sums[d + r][i + c * VEC], sum[r][c]);
        }
    }
}

static void give_outputs(tile *t, float *o, ptrdiff_t stride_os, ptrdiff_t rows)
{
    for (ptrdiff_t i = 0; i < rows; i += VEC) {
        const vec weight = load(&t->weight[i]);
        const vec factor = choose(weight == 0.0f, weight, 1.0f / weight);
        for (ptrdiff_t d = 0; d < HEAD_SIZE; d += VEC) {
            vec block[VEC];
            UNROLLED(VEC)
            for (int lane = 0; lane < VEC; lane++)
                block[lane] = load(&t->sums[d + lane][i]) * factor;
            transpose(block);
            UNROLLED(VEC)
            for (int lane = 0; lane < VEC; lane++)
                if (i + lane < rows)
                    store(o + (i + lane) * stride_os + d, block[lane]);
        }
    }
}

/* `rows` queries that start at number `first` of their sequence. */
static void attend(const struct winnow_args *args, tile *t, const float *q, const float *k, const float *v, float *o,
                   ptrdiff_t first, ptrdiff_t rows)
{
    const ptrdiff_t lanes = (rows + REG_LANES - 1) / REG_LANES * REG_LANES;
    const ptrdiff_t last = first + args->causal_offset; /* the last key that the tile's first query sees */
    const ptrdiff_t all = CAUSAL ? smaller(args->seqlen_kv, last + rows) : args->seqlen_kv;

    take_queries(t, q, args->stride_qs, rows, args->scale * LOG2_E);
    for (ptrdiff_t n = 0; n < all; n += BLOCK_N) {
        const ptrdiff_t keys = smaller(BLOCK_N, all - n);
        score(t, k + n * args->stride_ks, args->stride_ks, keys, lanes);
        if (CAUSAL && n + keys - 1 > last)
            mask(t, keys, lanes, last - n);
        soften(t, keys, lanes);
        gather(t, v + n * args->stride_vs, args->stride_vs, keys, lanes);
    }
    give_outputs(t, o, args->stride_os, rows);
}

/* The grid: tiles of BLOCK_M queries, query heads, batch. */
void WINNOW_SYMBOL(const struct winnow_args *args, int32_t grid_x, int32_t grid_y, int32_t grid_z)
{
    tile t __attribute__((aligned(64)));
    const ptrdiff_t group = args->num_query_heads / args->num_kv_heads;
    for (ptrdiff_t batch = 0; batch < grid_z; batch++)
        for (ptrdiff_t head = 0; head < grid_y; head++)
            for (ptrdiff_t x = 0; x < grid_x; x++) {
                const ptrdiff_t first = x * BLOCK_M;
                attend(args, &t,
                       (const float *)args->q + batch * args->stride_qb + head * args->stride_qh
                           + first * args->stride_qs,
                       (const float *)args->k + batch * args->stride_kb + head / group * args->stride_kh,
                       (const float *)args->v + batch * args->stride_vb + head / group * args->stride_vh,
                       (float *)args->o + batch * args->stride_ob + head * args->stride_oh + first * args->stride_os,
                       first, smaller(BLOCK_M, args->seqlen_q - first));
            }
}
