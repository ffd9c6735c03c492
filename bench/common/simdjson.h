/* bench/common/simdjson.h: simdjson as far as benchmarks want it. */
#ifndef BENCH_COMMON_SIMDJSON_H
#define BENCH_COMMON_SIMDJSON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct simd_reader simd_reader;
simd_reader *simd_reader_new(void);
void simd_reader_free(simd_reader *r);
/* Copies n bytes of good JSON behind p, reads every value of it, and returns a sum over them. */
uint64_t simd_reader_walk(simd_reader *r, const void *p, size_t n);

#ifdef __cplusplus
}
#endif
#endif
