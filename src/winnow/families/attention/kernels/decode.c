/* Attention for a few queries: the rows of one key head (its query heads times their queries) share each key.
 *
 * Lanes are elements of a head. GROUP_ROWS rows meet BLOCK_N keys at a time, with a running softmax: first the
 * scores, VEC keys by REG_M rows at once; then the weights; then the values, REG_V vectors of a head for all rows at
 * once. So keys and values come from memory once for each GROUP_ROWS rows. Where there are fewer rows the last one is
 * repeated, and its copies are not stored. A row that sees no key at all yields zeros.
 *
 * The variant sets HEAD_SIZE, CAUSAL, MAX_Q, GROUP_ROWS, REG_M, REG_V, BLOCK_N, VEC, UNROLL, PREFETCH (keys ahead)
 * and EXP_POLY.
 */
#define LINE_FLOATS 16

typedef struct {
    float queries[GROUP_ROWS][HEAD_SIZE]; /* times scale and log2(e) */
    float sums[GROUP_ROWS][HEAD_SIZE];    /* outputs before they are divided by `weight` */
    float scores[GROUP_ROWS][BLOCK_N];    /* then the weights of the keys */
    float maximum[GROUP_ROWS];
    float weight[GROUP_ROWS];
    float rescale[GROUP_ROWS];  /* what the newest maximum makes of earlier sums */
    ptrdiff_t sees[GROUP_ROWS]; /* how many keys of the sequence the row sees */
} tile;

INLINE void prefetch(const float *from, ptrdiff_t floats)
{
#if PREFETCH
    for (ptrdiff_t i = 0; i < floats; i += LINE_FLOATS)
        __builtin_prefetch(from + i, 0, 3);
#else
    (void)from, (void)floats;
#endif
}

/* Scores of all rows with `keys` keys, rounded up to VEC: there the last key is repeated. */
static void score(tile *t, const float *k, ptrdiff_t stride_ks, ptrdiff_t keys)
{
    for (ptrdiff_t j = 0; j < keys; j += VEC) {
        const float *key[VEC];
        UNROLLED(VEC)
        for (int lane = 0; lane < VEC; lane++) {
            key[lane] = k + smaller(j + lane, keys - 1) * stride_ks;
            prefetch(key[lane] + PREFETCH * stride_ks, HEAD_SIZE);
        }
        for (int i = 0; i < GROUP_ROWS; i += REG_M) {
            vec sum[REG_M][VEC];
            UNROLLED(REG_M)
            for (int r = 0; r < REG_M; r++)
                UNROLLED(VEC)
                for (int lane = 0; lane < VEC; lane++)
                    sum[r][lane] = (vec){0};
            UNROLLED(UNROLL)
            for (ptrdiff_t d = 0; d < HEAD_SIZE; d += VEC)
                UNROLLED(VEC)
                for (int lane = 0; lane < VEC; lane++) {
                    const vec part = load(key[lane] + d);
                    UNROLLED(REG_M)
                    for (int r = 0; r < REG_M; r++)
                        sum[r][lane] += part * load(&t->queries[i + r][d]);
                }
            UNROLLED(REG_M)
            for (int r = 0; r < REG_M; r++)
                store(&t->scores[i + r][j], lane_sums(sum[r]));
        }
    }
}

/* Scores become weights; the running maximum and weight take them in. */
static void soften(tile *t, ptrdiff_t first, ptrdiff_t keys)
{
    const ptrdiff_t padded = (keys + VEC - 1) / VEC * VEC;
    for (int i = 0; i < GROUP_ROWS; i++) {
        float *scores = t->scores[i];
        vec maximum = broadcast(NO_MAXIMUM), weight = (vec){0};
        for (ptrdiff_t j = t->sees[i] > first ? smaller(t->sees[i] - first, keys) : 0; j < padded; j++)
            scores[j] = MASKED;
        for (ptrdiff_t j = 0; j < padded; j += VEC)
            maximum = larger(load(scores + j), maximum);
        float highest = t->maximum[i];
        for (int lane = 0; lane < VEC; lane++)
            highest = maximum[lane] > highest ? maximum[lane] : highest;
        for (ptrdiff_t j = 0; j < padded; j += VEC) {
            const vec one = exp2_lanes(load(scores + j) - highest);
            weight += one;
            store(scores + j, one);
        }
        t->rescale[i] = exp2_lanes(broadcast(t->maximum[i] - highest))[0];
        t->maximum[i] = highest;
        t->weight[i] = t->weight[i] * t->rescale[i] + lane_sum(weight);
    }
}

/* Earlier sums are rescaled, and the block's values are added with their weights. */
static void gather(tile *t, const float *v, ptrdiff_t stride_vs, ptrdiff_t keys)
{
    for (ptrdiff_t d = 0; d < HEAD_SIZE; d += REG_V * VEC) {
        vec sum[GROUP_ROWS][REG_V];
        UNROLLED(GROUP_ROWS)
        for (int i = 0; i < GROUP_ROWS; i++)
            UNROLLED(REG_V)
            for (int c = 0; c < REG_V; c++)
                sum[i][c] = load(&t->sums[i][d + c * VEC]) * t->rescale[i];
        UNROLLED(UNROLL)
        for (ptrdiff_t j = 0; j < keys; j++) {
            const float *value = v + j * stride_vs + d;
            prefetch(value + PREFETCH * stride_vs, REG_V * VEC);
            UNROLLED(REG_V)
            for (int c = 0; c < REG_V; c++) {
                const vec part = load(value + c * VEC);
                UNROLLED(GROUP_ROWS)
                for (int i = 0; i < GROUP_ROWS; i++)
                    sum[i][c] += part * t->scores[i][j];
            }
        }
        UNROLLED(GROUP_ROWS)
        for (int i = 0; i < GROUP_ROWS; i++)
            UNROLLED(REG_V)
            for (int c = 0; c < REG_V; c++)
                store(&t->sums[i][d + c * VEC], sum[i][c]);
    }
}

/* Rows first .. first + rows - 1 of one key head; row number = query head within its group * seqlen_q + query. */
static void attend(const struct winnow_args *args, const float *q, const float *k, const float *v, float *o,
                   ptrdiff_t first, ptrdiff_t rows)
{
    tile t __attribute__((aligned(64)));
    const ptrdiff_t seqlen_q = MAX_Q == 1 ? 1 : args->seqlen_q;
    ptrdiff_t most = 0;
    for (int i = 0; i < GROUP_ROWS; i++) {
        const ptrdiff_t row = first + smaller(i, rows - 1), head = row / seqlen_q, query = row % seqlen_q;
        const ptrdiff_t sees = smaller(query + args->causal_offset + 1, args->seqlen_kv);
        t.sees[i] = CAUSAL ? (sees > 0 ? sees : 0) : args->seqlen_kv;
        most = t.sees[i] > most ? t.sees[i] : most;
        t.maximum[i] = NO_MAXIMUM;
        t.weight[i] = 0;
        for (ptrdiff_t d = 0; d < HEAD_SIZE; d++) {
            t.queries[i][d] = q[head * args->stride_qh + query * args->stride_qs + d] * (args->scale * LOG2_E);
            t.sums[i][d] = 0;
        }
    }
    for (ptrdiff_t n = 0; n < most; n += BLOCK_N) {
        const ptrdiff_t keys = smaller(BLOCK_N, most - n);
        score(&t, k + n * args->stride_ks, args->stride_ks, keys);
        soften(&t, n, keys);
        gather(&t, v + n * args->stride_vs, args->stride_vs, keys);
    }
    for (int i = 0; i < rows; i++) {
        const ptrdiff_t head = (first + i) / seqlen_q, query = (first + i) % seqlen_q;
        const float factor = t.weight[i] == 0.0f ? 0.0f : 1.0f / t.weight[i];
        for (ptrdiff_t d = 0; d < HEAD_SIZE; d++)
            o[head * args->stride_oh + query * args->stride_os + d] = t.sums[i][d] * factor;
    }
}

/* The grid: groups of GROUP_ROWS rows, key heads, batch. */
void WINNOW_SYMBOL(const struct winnow_args *args, int32_t grid_x, int32_t grid_y, int32_t grid_z)
{
    const ptrdiff_t group = args->num_query_heads / args->num_kv_heads, rows = group * args->seqlen_q;
    for (ptrdiff_t batch = 0; batch < grid_z; batch++)
        for (ptrdiff_t head = 0; head < grid_y; head++)
            for (ptrdiff_t x = 0; x < grid_x; x++)
                attend(args, (const float *)args->q + batch * args->stride_qb + head * group * args->stride_qh,
                       (const float *)args->k + batch * args->stride_kb + head * args->stride_kh,
                       (const float *)args->v + batch * args->stride_vb + head * args->stride_vh,
                       (float *)args->o + batch * args->stride_ob + head * group * args->stride_oh, x * GROUP_ROWS,
                       smaller(GROUP_ROWS, rows - x * GROUP_ROWS));
}
