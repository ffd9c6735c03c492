/* bench/micro/sample.h: the item that the value and expression groups share: 10 attributes, 400
 * bytes. */
#ifndef BENCH_MICRO_SAMPLE_H
#define BENCH_MICRO_SAMPLE_H

#include "value/build.h"

struct sample {
    struct arena arena;
    sheaf_error err;
    struct ctx ctx;
    span item; /* built once, in memory of its own */
    uint8_t bytes[1024];
};

void sample_init(struct sample *s);
void sample_deinit(struct sample *s);
/* Builds the item in the arena, as a request would. */
span sample_build(struct sample *s);

#endif
