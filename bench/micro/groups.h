/* bench/micro/groups.h: the groups of bench_micro, one per file. */
#ifndef BENCH_MICRO_GROUPS_H
#define BENCH_MICRO_GROUPS_H

#include "common/bench.h"

void bench_numbers(const struct bench_options *o);
void bench_items(const struct bench_options *o);
void bench_jsons(const struct bench_options *o);
void bench_expressions(const struct bench_options *o);
void bench_keys(const struct bench_options *o);
void bench_signatures(const struct bench_options *o);
void bench_mappers(const struct bench_options *o);
void bench_engines(const struct bench_options *o);

#endif
