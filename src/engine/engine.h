/* engine/engine.h: the vtable of <sheaf/sys/engine.h> spelled as calls. What each promises stands
 * there.
 *
 * Layer rule: base and the public engine header only. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/span.h"

#include <sheaf/sys/engine.h>

static inline void eng_caps(const sheaf_engine *e, struct sheaf_engine_caps *out)
{
    e->ops->caps(e, out);
}
SHEAF_NODISCARD static inline sheaf_rc eng_begin(sheaf_engine *e, enum sheaf_txn_mode mode,
                                                 sheaf_txn **out, sheaf_error *err)
{
    return e->ops->begin(e, mode, out, err);
}
SHEAF_NODISCARD static inline sheaf_rc
eng_get(sheaf_txn *t, size_t n, const sheaf_engine_key keys[], span values[], sheaf_error *err)
{
    return t->ops->get(t, n, keys, values, err);
}
SHEAF_NODISCARD static inline sheaf_rc eng_guard(sheaf_txn *t, const sheaf_engine_key *key,
                                                 sheaf_error *err)
{
    return t->ops->guard(t, key, err);
}
SHEAF_NODISCARD static inline sheaf_rc eng_range(sheaf_txn *t, const struct sheaf_range *r,
                                                 sheaf_cursor **out, sheaf_error *err)
{
    return t->ops->range(t, r, out, err);
}
SHEAF_NODISCARD static inline sheaf_rc eng_walk(sheaf_txn *t, const struct sheaf_walk *w,
                                                sheaf_cursor **out, sheaf_error *err)
{
    return t->ops->walk(t, w, out, err);
}
SHEAF_NODISCARD static inline sheaf_rc eng_next(sheaf_cursor *c, struct sheaf_row *row,
                                                bool *has_row, sheaf_error *err)
{
    return c->ops->next(c, row, has_row, err);
}
static inline void eng_cursor_close(sheaf_cursor *c)
{
    if (c) c->ops->cursor_close(c);
}
SHEAF_NODISCARD static inline sheaf_rc eng_put(sheaf_txn *t, const sheaf_engine_key *key,
                                               span value, sheaf_error *err)
{
    return t->ops->put(t, key, value, err);
}
SHEAF_NODISCARD static inline sheaf_rc eng_del(sheaf_txn *t, const sheaf_engine_key *key,
                                               sheaf_error *err)
{
    return t->ops->del(t, key, err);
}
SHEAF_NODISCARD static inline sheaf_rc eng_del_range(sheaf_txn *t, const sheaf_place *p, span lo,
                                                     span hi, sheaf_error *err)
{
    return t->ops->del_range(t, p, lo, hi, err);
}
SHEAF_NODISCARD static inline sheaf_rc eng_add(sheaf_txn *t, const sheaf_engine_key *key, size_t n,
                                               const int64_t d[], sheaf_error *err)
{
    return t->ops->add(t, key, n, d, err);
}
SHEAF_NODISCARD static inline sheaf_rc eng_append(sheaf_txn *t, const sheaf_place *log, span value,
                                                  sheaf_error *err)
{
    return t->ops->append(t, log, value, err);
}
SHEAF_NODISCARD static inline sheaf_rc eng_commit(sheaf_txn *t, sheaf_position *position,
                                                  sheaf_stamp *stamp, sheaf_error *err)
{
    return t->ops->commit(t, position, stamp, err);
}
static inline void eng_rollback(sheaf_txn *t)
{
    if (t) t->ops->rollback(t);
}
SHEAF_NODISCARD static inline sheaf_rc eng_read(sheaf_engine *e, const sheaf_engine_key *key,
                                                span *value, void **pin, sheaf_error *err)
{
    return e->ops->read(e, key, value, pin, err);
}
static inline void eng_read_done(sheaf_engine *e, void *pin) { e->ops->read_done(e, pin); }
static inline sheaf_position eng_visible(sheaf_engine *e) { return e->ops->visible(e); }
static inline sheaf_position eng_durable(sheaf_engine *e) { return e->ops->durable(e); }
SHEAF_NODISCARD static inline sheaf_rc eng_sync(sheaf_engine *e, sheaf_position at,
                                                sheaf_error *err)
{
    return e->ops->sync(e, at, err);
}
SHEAF_NODISCARD static inline sheaf_rc eng_on_durable(sheaf_engine *e, sheaf_position at,
                                                      sheaf_durable_fn done, void *ctx,
                                                      sheaf_error *err)
{
    return e->ops->on_durable(e, at, done, ctx, err);
}
SHEAF_NODISCARD static inline sheaf_rc eng_drop_space(sheaf_engine *e, uint64_t space,
                                                      sheaf_error *err)
{
    return e->ops->drop_space(e, space, err);
}
SHEAF_NODISCARD static inline sheaf_rc eng_checkpoint(sheaf_engine *e, const char *dir,
                                                      sheaf_error *err)
{
    return e->ops->checkpoint(e, dir, err);
}
static inline void eng_stats(sheaf_engine *e, struct sheaf_engine_stats *out)
{
    e->ops->stats(e, out);
}
SHEAF_NODISCARD static inline sheaf_rc eng_verify(sheaf_engine *e, sheaf_complaint_fn complain,
                                                  void *ctx, sheaf_error *err)
{
    return e->ops->verify(e, complain, ctx, err);
}

#endif
