// SPDX-License-Identifier: MIT
// partial_priors.c: counts which symbols packets of some bodies meet while watchers walk about in
// the ready scene city, and prints common/wire/partial_priors.h anew. A changed table is a changed
// protocol. From the root of the tree, built:
//   cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude -Icommon -Itests/support -o build/partial_priors
//     scripts/partial_priors.c tests/support/bench.c build/libfoliot.a -lyaml -lenet -lxxhash
//     -lsodium -lzstd -llua5.4 -lm -pthread
//   build/partial_priors 64 20 >new && mv new common/wire/partial_priors.h; again, as what is
//   chosen depends on what it costs.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "wire/range_coder.h"

static void count_symbol(foliot__range_encoder *coder, const uint16_t *row, uint32_t symbol);
static inline uint32_t count_or_decode(const foliot__range_pass *pass, const uint16_t *row,
                                       uint32_t symbol)
{
    if (pass->in)
        return foliot__range_decode_symbol(pass->in, row);
    count_symbol(pass->out, row, symbol);
    return symbol;
}
#define foliot__range_symbol count_or_decode
#include "../common/wire/partial_body.c"
#include "../common/wire/partial_snapshot.c"
#undef foliot__range_symbol
#ifndef NO_BENCH
#define main bench_main
#include "../tests/bench/interest.c"
#undef main
#endif

#define ALL (1 << FOLIOT__TABLE_BITS)
#define ROW_MAX 32
#define ROWS_MAX 4096
#define FROM_OTHERS 24.0 // what the same symbol says in all rows of a table counts as so many ...
#define FROM_NONE 0.01   // ... and this share is for what was never met

// `depth` dimensions of `sizes`, the last of which is a row's: one more than its symbols. A row is
// like those with the same first index, if `grouped`.
typedef struct table {
    const char *name, *dimensions;
    const uint16_t *at;
    unsigned sizes[4], depth;
    bool grouped;
} table;
#define TABLE(name, dimensions, grouped, depth, ...)                                               \
    {                                                                                              \
#name, dimensions, (const uint16_t *)name, {__VA_ARGS__ }, depth, grouped                  \
    }
static const table tables[] = {
    TABLE(partial_gap, "[PARTIAL_GAPS + 2]", false, 1, PARTIAL_GAPS + 2),
    TABLE(partial_way, "[5][PARTIAL_WAYS + 1]", false, 2, 5, PARTIAL_WAYS + 1),
    TABLE(partial_age, "[PARTIAL_GAPS - 3]", false, 1, PARTIAL_GAPS - 3),
    TABLE(partial_flags, "[3][4]", false, 2, 3, 4),
    TABLE(partial_place, "[2][PARTIAL_SPEEDS][PARTIAL_AGES][PARTIAL_LONG + 2]", true, 4, 2,
          PARTIAL_SPEEDS, PARTIAL_AGES, PARTIAL_LONG + 2),
    TABLE(partial_largest, "[2][5]", false, 2, 2, 5),
    TABLE(partial_turn, "[2][PARTIAL_LONG + 1][PARTIAL_AGES][PARTIAL_LONG + 2]", true, 4, 2,
          PARTIAL_LONG + 1, PARTIAL_AGES, PARTIAL_LONG + 2),
    TABLE(partial_motion, "[2][PARTIAL_LONG + 1][PARTIAL_AGES][PARTIAL_LONG + 2]", true, 4, 2,
          PARTIAL_LONG + 1, PARTIAL_AGES, PARTIAL_LONG + 2),
    TABLE(partial_axis, "[3][6][PARTIAL_LONG][PARTIAL_LONG + 2]", false, 4, 3, 6, PARTIAL_LONG,
          PARTIAL_LONG + 2),
};
#define TABLES (sizeof tables / sizeof *tables)
static double counts[TABLES][ROWS_MAX][ROW_MAX], spent[TABLES];

static unsigned row_of(const table *t)
{
    return t->sizes[t->depth - 1];
}

static unsigned rows_of(const table *t)
{
    unsigned rows = 1;
    for (unsigned i = 0; i + 1 < t->depth; i++)
        rows *= t->sizes[i];
    return rows;
}

static void count_symbol(foliot__range_encoder *coder, const uint16_t *row, uint32_t symbol)
{
    for (size_t i = 0; i < TABLES; i++) {
        size_t at = (size_t)(row - tables[i].at);
        if (row < tables[i].at || at >= (size_t)rows_of(&tables[i]) * row_of(&tables[i]))
            continue;
        counts[i][at / row_of(&tables[i])][symbol]++;
        spent[i] -= __builtin_log2((row[symbol + 1] - row[symbol]) / (double)ALL);
    }
    foliot__range_encode_symbol(coder, row, symbol);
}

// How many symbols the row has: those of an axis are no longer than the longest.
static unsigned symbols_of(size_t i, unsigned row)
{
    const table *t = &tables[i];
    if (t->at == (const uint16_t *)partial_axis)
        return row % PARTIAL_LONG + 1;
    return row_of(t) - 1;
}

static void print_row(size_t i, unsigned row)
{
    const table *t = &tables[i];
    unsigned symbols = symbols_of(i, row), rows = rows_of(t),
             group = t->grouped ? rows / t->sizes[0] : 1, begin = row - row % group;
    double like[ROW_MAX] = {0}, all = 1e-9, own = 0, sum = 0, share[ROW_MAX];
    for (unsigned r = begin; r < begin + group; r++)
        for (unsigned s = 0; s < symbols; s++) {
            like[s] += counts[i][r][s];
            all += counts[i][r][s];
        }
    for (unsigned s = 0; s < symbols; s++)
        own += counts[i][row][s];
    for (unsigned s = 0; s < symbols; s++) {
        share[s] = (counts[i][row][s] + FROM_OTHERS * like[s] / all) / (own + FROM_OTHERS);
        share[s] = (1 - FROM_NONE) * share[s] + FROM_NONE / symbols;
        sum += share[s];
    }
    double from = 0;
    printf("{0");
    for (unsigned s = 0, last = 0; s < row_of(t) - 1; s++) {
        from += s < symbols ? share[s] / sum * (ALL - symbols) : 0; // at least 1 each
        last = s + 1 < symbols ? (unsigned)(from + 0.5) + s + 1 : ALL;
        printf(", %u", last);
    }
    printf("}");
}

static void print_tables(void)
{
    printf("// SPDX-License-Identifier: MIT\n"
           "// partial_priors.h: the tables of packets of some bodies: where each symbol of a row "
           "begins, of 4096, and the end.\n"
           "// Counted over watchers of the ready scene city (scripts/partial_priors.c). Part of "
           "the protocol\n// (docs/reference/protocol.md).\n"
           "#ifndef FOLIOT_WIRE_PARTIAL_PRIORS_H\n#define FOLIOT_WIRE_PARTIAL_PRIORS_H\n\n"
           "#include <stdint.h>\n\n");
    printf("#define PARTIAL_GAPS %d   // bit lengths of a gap, then the end\n"
           "#define PARTIAL_WAYS %d\n"
           "#define PARTIAL_SPEEDS %d // of a baseline's drift: 0, or 1 + bit length\n"
           "#define PARTIAL_AGES %d\n"
           "#define PARTIAL_LONG %d   // bit length from which on lengths are raw\n"
           "enum { PARTIAL_PLACE, PARTIAL_TURN, PARTIAL_MOTION };\n",
           PARTIAL_GAPS, PARTIAL_WAYS, PARTIAL_SPEEDS, PARTIAL_AGES, PARTIAL_LONG);
    for (size_t i = 0; i < TABLES; i++) {
        const table *t = &tables[i];
        unsigned rows = rows_of(t);
        printf("\nstatic const uint16_t %s%s = %s\n", t->name, t->dimensions,
               t->depth > 1 ? "{" : "");
        for (unsigned row = 0; row < rows; row++) {
            unsigned inner = 1;
            for (unsigned d = t->depth - 1; d-- > 1;) {
                inner *= t->sizes[d];
                if (row % inner == 0)
                    printf("{");
            }
            print_row(i, row);
            inner = 1;
            for (unsigned d = t->depth - 1; d-- > 1;) {
                inner *= t->sizes[d];
                if (row % inner == inner - 1)
                    printf("}");
            }
            printf("%s\n", t->depth > 1 ? "," : ";");
        }
        printf("%s", t->depth > 1 ? "};\n" : "");
    }
    printf("\n#endif\n");
}

#ifndef NO_BENCH
int main(int argc, char **argv)
{
    int out = dup(1), none = open("/dev/null", O_WRONLY); // of the bench's own rows
    FOLIOT_ASSERT(out >= 0 && none >= 0 && dup2(none, 1) == 1);
    bench_main(argc, argv);
    FOLIOT_ASSERT(fflush(stdout) == 0 && dup2(out, 1) == 1);
    print_tables();
    for (size_t i = 0; i < TABLES; i++)
        fprintf(stderr, "%s: %.0f bits\n", tables[i].name, spent[i]);
    return 0;
}
#endif
