/* What both attention kernels do with scores. Scores are in base 2: queries are scaled by log2(e) beforehand. */

#define LOG2_E 1.4426950408889634f
/* The running maximum before any key: low enough to lose to every score, finite so that -inf minus it is -inf. */
#define NO_MAXIMUM -1e30f
#define MASKED (-__builtin_inff())

INLINE vec broadcast(float value) { return (vec){0} + value; }
INLINE vec choose(ivec mask, vec a, vec b) { return (vec)(((ivec)a & mask) | ((ivec)b & ~mask)); }
/* b where either is not a number. */
INLINE vec larger(vec a, vec b) { return choose(a > b, a, b); }

#if EXP_POLY

/* 2^x for x <= 0. x = n + r with n whole and |r| <= 1/2; the Taylor polynomial of 2^r to the sixth power is off by
 * less than (ln 2 / 2)^7 / 7! = 1.2e-7 of the value. Below the normal numbers the result is 0, so 2^-inf is 0.
 */
INLINE vec exp2_lanes(vec x)
{
    const float whole = 12582912.0f; /* 1.5 * 2^23: a sum with it has no bits left for a fraction */
    const vec shifted = x + whole;
    const vec r = x - (shifted - whole);
    vec sum = r * 1.5403530e-4f + 1.3333558e-3f;
    sum = sum * r + 9.6181291e-3f;
    sum = sum * r + 5.5504109e-2f;
    sum = sum * r + 2.4022651e-1f;
    sum = sum * r + 6.9314718e-1f;
    sum = sum * r + 1.0f;
    /* The low bits of `shifted` are n in two's complement: added to the exponent they multiply by 2^n. */
    const ivec scaled = (ivec)sum + ((ivec)shifted << 23);
    return (vec)(scaled & ~(x < -126.0f));
}

#else

extern float exp2f(float);

INLINE vec exp2_lanes(vec x)
{
    for (int lane = 0; lane < VEC; lane++)
        x[lane] = exp2f(x[lane]);
    return x;
}

#endif
