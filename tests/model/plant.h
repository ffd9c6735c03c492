/* tests/model/plant.h: an engine that wraps another and has a bug. */
#ifndef MODEL_PLANT_H
#define MODEL_PLANT_H

#include "engine/engine.h"

enum plant {
    PLANT_NONE,
    PLANT_SKIP_INDEX,  /* now and then an index entry is not written */
    PLANT_SKIP_STREAM, /* now and then a record is not appended to its stream */
    PLANT_HALVES,      /* transactions are committed in two halves */
    PLANT_SKIP_SYNC    /* durability is claimed without fsync; by the rocks engine itself */
};
extern const char *const plant_names[];
enum plant plant_by_name(const char *name);

/* Takes ownership of `inner`. */
sheaf_rc plant_open(sheaf_engine *inner, enum plant plant, uint64_t seed, sheaf_engine **out);

#endif
