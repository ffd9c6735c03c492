/* tests/json/simdjson.h: simdjson as an independent opinion about a document. */
#ifndef TESTS_JSON_SIMDJSON_H
#define TESTS_JSON_SIMDJSON_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum simd_verdict {
    SIMD_TAKEN,
    SIMD_REFUSED,
    SIMD_NUMBER, /* refused for a number, perhaps only because it does not fit 64 bits */
    SIMD_NO_ROOM
};
/* Writes the document's canonical form to out: events as tests/json/agree.c describes them. */
enum simd_verdict simd_events(const void *p, size_t n, char *out, size_t cap, size_t *n_out);

#ifdef __cplusplus
}
#endif
#endif
