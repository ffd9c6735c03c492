/* base/hash.h: xxHash, compiled into the file that includes it.
 *
 * Its header is not clean under our warnings; this is the one place that says so. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wcast-align"
#define XXH_INLINE_ALL
#include <xxhash.h>
#pragma GCC diagnostic pop

#endif
