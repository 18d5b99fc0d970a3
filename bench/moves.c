/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops around a move, the same for every library.
 */
#include "moves.h"
#include "settle.h"

#include <stdio.h>
#include <string.h>

enum { SMALL_CALLS = 100 };

const bench_move bench_moves[] = {
    {"0", "R"}, {"1", "R"},   {"0", "1"},   {"P", "R"},   {"P", "0"},
    {"R", "0"}, {"01", "10"}, {"00", "R1"}, {"P0", "R1"}, {"PP", "RR"},
};

const char *bench_place(const char *letters, char text[32]) {
    text[0] = 0;
    for (; *letters; letters++) {
        char one[8];
        snprintf(one, sizeof one, *letters == 'R' ? "R" : *letters == 'P' ? "P(sum)" : "S(%c)", *letters);
        strcat(text, one);
        strcat(text, letters[1] ? "," : "");
    }
    return text;
}

/* Sizes are multiples of the number of ranks, so shards are equal. */
static bench_block block_of(const bench_job *job, const char *letters) {
    bench_block block = {0, job->rows, 0, job->columns, 1};
    for (int m = 0; letters[m]; m++) {
        int64_t n = job->mesh[m], r = job->coordinate[m];
        if (letters[m] == '0') {
            block.rows /= n;
            block.row += r * block.rows;
        } else if (letters[m] == '1') {
            block.columns /= n;
            block.column += r * block.columns;
        } else if (letters[m] == 'P') {
            block.n_partial *= job->mesh[m];
        }
    }
    return block;
}

bench_job bench_job_of(const bench_mover *mover, int k, int64_t size) {
    bench_job job = {
        &bench_moves[k], size,           size, mover->rank, mover->n_ranks, {mover->n_ranks, 0}, {mover->rank, 0},
        {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}};
    if (k >= BENCH_N_LINE_MOVES) {
        job.mesh[0] = job.mesh[1] = 2;
        job.coordinate[0] = mover->rank / 2;
        job.coordinate[1] = mover->rank % 2;
    }
    job.src = block_of(&job, job.move->from);
    job.dst = block_of(&job, job.move->to);
    return job;
}

double bench_bytes_touched(const bench_job *job) {
    double out = 4.0 * (double)bench_block_count(&job->dst), n = job->n_ranks, p = job->src.n_partial;
    if (job->src.n_partial == 1)
        return 2 * n * out;
    double copies = 1; /* ranks that sum the same elements, and share that work */
    for (int m = 0; job->move->from[m]; m++)
        if (job->move->from[m] == 'P' && job->move->to[m] == 'R')
            copies *= job->mesh[m];
    double share = out / copies;
    return n * ((p + 1) * share + 2 * (out - share));
}

/* Small integers, so that sums are exact. A partial value is the same plus the number of the rank in its line. */
static float value_at(int64_t row, int64_t column) { return (float)((row * 7 + column * 3) % 251); }

static int line_rank(const bench_job *job) {
    int r = 0;
    for (int m = 0; job->move->from[m]; m++)
        if (job->move->from[m] == 'P')
            r = r * job->mesh[m] + job->coordinate[m];
    return r;
}

static void write_source(const bench_job *job, float *src) {
    const bench_block *b = &job->src;
    float more = (float)line_rank(job);
    for (int64_t i = 0; i < b->rows; i++)
        for (int64_t j = 0; j < b->columns; j++)
            *src++ = value_at(b->row + i, b->column + j) + more;
}

/* The measured loop rewrites with less arithmetic. */
static void rewrite_source(const bench_job *job, float *src, float value) {
    int64_t n = bench_block_count(&job->src);
    for (int64_t i = 0; i < n; i++)
        src[i] = value;
}

static bool is_right(const bench_mover *mover, const bench_job *job, const float *dst) {
    const bench_block *b = &job->dst;
    float p = (float)job->src.n_partial;
    for (int64_t i = 0; i < b->rows; i++)
        for (int64_t j = 0; j < b->columns; j++) {
            float got = dst[i * b->columns + j];
            float expected = p * value_at(b->row + i, b->column + j) + p * (p - 1) / 2;
            if (got != expected) {
                fprintf(stderr, "%s, %s to %s on rank %d: element [%d,%d] is %g; %g would be right\n", mover->name,
                        job->move->from, job->move->to, job->rank, (int)(b->row + i), (int)(b->column + j),
                        (double)got, (double)expected);
                return false;
            }
        }
    return true;
}

int bench_n_moves(int n_ranks) { return n_ranks == 4 ? BENCH_N_MOVES : BENCH_N_LINE_MOVES; }

void bench_move_row(const bench_mover *mover, const char *side, const bench_job *job, double seconds) {
    char mesh[16] = "2x2", from[32], to[32], move[80] = "-";
    if (!job->mesh[1])
        snprintf(mesh, sizeof mesh, "%d", job->n_ranks);
    if (job->move)
        snprintf(move, sizeof move, "%s -> %s", bench_place(job->move->from, from), bench_place(job->move->to, to));
    if (mover->rank == 0)
        printf("%s\t%d\t%s\t[%d,%d]\t%s\t%.4f\n", side, job->n_ranks, mesh, (int)job->rows, (int)job->columns, move,
               seconds * 1e6);
}

double bench_span(const bench_mover *mover, double start, double end) {
    double ends[] = {-start, end};
    return mover->max(mover->user, ends, 2) ? ends[0] + ends[1] : -1;
}

static int calls_of(const bench_job *job) { return job->rows == BENCH_SMALL ? SMALL_CALLS : 1; }

/* Seconds of one call. */
static bool repeat(const bench_mover *mover, const bench_job *job, float *src, int round, double *seconds) {
    int n_calls = calls_of(job);
    bool fine = true;
    if (n_calls == 1)
        rewrite_source(job, src, (float)round);
    if (!mover->barrier(mover->user))
        return false;
    double start = bench_now();
    for (int i = 0; i < n_calls; i++)
        fine = mover->run(mover->user, job) && fine;
    *seconds = bench_span(mover, start, bench_now()) / n_calls;
    return fine && *seconds > 0;
}

static bool measure(const bench_mover *mover, const bench_job *job, float *src, double budget_s) {
    static double seconds[BENCH_MAX_BATCH];
    bench_settle settle = bench_settle_new(budget_s / calls_of(job)); /* times are those of one call */
    int n;
    write_source(job, src);
    if (!mover->barrier(mover->user))
        return false;
    const float *dst = mover->run(mover->user, job);
    if (!dst || !is_right(mover, job, dst))
        return false;
    do {
        n = bench_settle_batch(&settle);
        for (int i = 0; i < n; i++)
            if (!repeat(mover, job, src, settle.n + i, &seconds[i]))
                return false;
    } while (bench_settle_continues(&settle, seconds, n));
    bench_move_row(mover, mover->name, job, settle.best);
    return true;
}

bool bench_measure_move(const bench_mover *mover, int k, int64_t size, double budget_s) {
    bench_job job = bench_job_of(mover, k, size);
    float *src = mover->open(mover->user, &job);
    bool fine = src && measure(mover, &job, src, budget_s);
    mover->close(mover->user, &job);
    return fine;
}

bool bench_measure_moves(const bench_mover *mover, double budget_s) {
    static const int64_t sizes[] = {BENCH_LARGE, BENCH_SMALL};
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < bench_n_moves(mover->n_ranks); k++)
            if (!bench_measure_move(mover, k, sizes[s], budget_s))
                return false;
    return true;
}
