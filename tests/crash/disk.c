/* tests/crash/disk.c: from a history of calls to what a disk would hold after a power cut.
 *
 * Every file has two states, `now` (what processes see) and `disk` (what is durable), and the list
 * of changes between the two; the names have the same. A sync moves the oldest changes from the
 * list into `disk`; a cut lets some of the rest through and forgets the others. Because whole bytes
 * are kept, also those that a recycled log file overwrites in place come back.
 *
 * To know before editing: changes point into the history, which must outlive them.
 */
#include "disk.h"

#include "base/mem.h"
#include "tree.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROOT 0u
#define NO_NODE UINT32_MAX

struct bytes {
    uint8_t *p;
    size_t n, cap;
};

/* A write, or with data == NULL a new length (in `at`). */
struct change {
    uint64_t pos; /* in the history */
    uint64_t at;
    size_t n;
    const uint8_t *data;
};

struct node {
    bool is_dir;
    uint64_t ino; /* 0: the number may stand for a younger file by now */
    struct bytes now, disk;
    struct change *changes;
    size_t n_changes, cap_changes;
};

struct entry {
    uint32_t dir, node;
    char name[NAME_MAX + 1];
};
struct names {
    struct entry *e;
    size_t n, cap;
};

/* `gone` stops to be, `come` begins to be; either may be absent (dir == NO_NODE). */
struct name_change {
    uint64_t pos;
    struct entry gone, come;
};

struct disk {
    char root[PATH_MAX];
    struct node *nodes;
    size_t n_nodes, cap_nodes;
    struct names now, disk;
    struct name_change *changes;
    size_t n_changes, cap_changes;
};

/* ---- files ---- */

static void set_length(struct bytes *b, size_t n)
{
    b->p = grow(b->p, &b->cap, n + 1, 1);
    if (n > b->n) memset(b->p + b->n, 0, n - b->n);
    b->n = n;
}

static void apply(struct bytes *b, const struct change *c)
{
    if (!c->data) {
        set_length(b, c->at);
        return;
    }
    if (c->at + c->n > b->n) set_length(b, c->at + c->n);
    memcpy(b->p + c->at, c->data, c->n);
}

static uint32_t node_add(struct disk *d, bool is_dir, uint64_t ino)
{
    for (size_t i = 0; i < d->n_nodes; i++)
        if (d->nodes[i].ino == ino) d->nodes[i].ino = 0;
    d->nodes = grow(d->nodes, &d->cap_nodes, d->n_nodes + 1, sizeof *d->nodes);
    d->nodes[d->n_nodes] = (struct node){.is_dir = is_dir, .ino = ino};
    return (uint32_t)d->n_nodes++;
}

static struct node *node_of(struct disk *d, uint64_t ino)
{
    for (size_t i = 0; i < d->n_nodes; i++)
        if (d->nodes[i].ino == ino) return &d->nodes[i];
    return NULL;
}

static void file_change(struct node *f, const struct change *c)
{
    f->changes = grow(f->changes, &f->cap_changes, f->n_changes + 1, sizeof *f->changes);
    f->changes[f->n_changes++] = *c;
    apply(&f->now, c);
}

static void file_sync(struct node *f, uint64_t upto)
{
    size_t n = 0;
    while (n < f->n_changes && f->changes[n].pos < upto) apply(&f->disk, &f->changes[n++]);
    f->n_changes -= n;
    memmove(f->changes, f->changes + n, f->n_changes * sizeof *f->changes);
}

/* ---- names ---- */

static struct entry *names_find(struct names *t, uint32_t dir, const char *name, size_t n)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->e[i].dir == dir && strlen(t->e[i].name) == n && memcmp(t->e[i].name, name, n) == 0)
            return &t->e[i];
    return NULL;
}

static void names_apply(struct names *t, const struct name_change *c)
{
    if (c->gone.dir != NO_NODE) {
        struct entry *e = names_find(t, c->gone.dir, c->gone.name, strlen(c->gone.name));
        if (e && e->node == c->gone.node) *e = t->e[--t->n];
    }
    if (c->come.dir == NO_NODE) return;
    struct entry *e = names_find(t, c->come.dir, c->come.name, strlen(c->come.name));
    if (!e) {
        t->e = grow(t->e, &t->cap, t->n + 1, sizeof *t->e);
        e = &t->e[t->n++];
    }
    *e = c->come;
}

static void name_change(struct disk *d, const struct name_change *c)
{
    d->changes = grow(d->changes, &d->cap_changes, d->n_changes + 1, sizeof *d->changes);
    d->changes[d->n_changes++] = *c;
    names_apply(&d->now, c);
}

/* Names of one directory, or of all (NO_NODE). */
static void names_sync(struct disk *d, uint32_t dir, uint64_t upto)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->n_changes; i++) {
        const struct name_change *c = &d->changes[i];
        bool mine = dir == NO_NODE || c->gone.dir == dir || c->come.dir == dir;
        if (mine && c->pos < upto)
            names_apply(&d->disk, c);
        else
            d->changes[kept++] = *c;
    }
    d->n_changes = kept;
}

/* Where a path leads now: its directory, its last part, and its node (NO_NODE when absent). */
static bool resolve(struct disk *d, const char *path, struct entry *out)
{
    *out = (struct entry){.dir = ROOT, .node = ROOT};
    while (*path) {
        size_t n = strcspn(path, "/");
        if (out->node == NO_NODE || n > NAME_MAX) return false;
        out->dir = out->node;
        memcpy(out->name, path, n);
        out->name[n] = 0;
        struct entry *e = names_find(&d->now, out->dir, path, n);
        out->node = e ? e->node : NO_NODE;
        path += n + (path[n] == '/');
    }
    return true;
}

/* ---- replaying ---- */

static bool replay_file(struct disk *d, const struct pc_record *r, uint64_t pos)
{
    struct node *f = node_of(d, r->ino);
    if (!f || f->is_dir) return false;
    struct change c = {.pos = pos, .at = r->a, .n = r->n};
    if (r->kind == PC_WRITE) c.data = (const uint8_t *)(r + 1);
    file_change(f, &c);
    return true;
}

static bool replay_new(struct disk *d, const struct pc_record *r, uint64_t pos)
{
    struct name_change c = {.pos = pos, .gone.dir = NO_NODE};
    if (!resolve(d, (const char *)(r + 1), &c.come) || c.come.node != NO_NODE) return false;
    c.come.node = node_add(d, r->kind == PC_MKDIR, r->ino);
    name_change(d, &c);
    return true;
}

static bool replay_unlink(struct disk *d, const struct pc_record *r, uint64_t pos)
{
    struct name_change c = {.pos = pos, .come.dir = NO_NODE};
    if (!resolve(d, (const char *)(r + 1), &c.gone) || c.gone.node == NO_NODE) return false;
    name_change(d, &c);
    return true;
}

static bool replay_two(struct disk *d, const struct pc_record *r, uint64_t pos)
{
    const char *from = (const char *)(r + 1), *to = from + strlen(from) + 1;
    struct name_change c = {.pos = pos};
    if (!resolve(d, from, &c.gone) || c.gone.node == NO_NODE) return false;
    if (!resolve(d, to, &c.come)) return false;
    if (c.come.node == c.gone.node) return true;
    c.come.node = c.gone.node;
    if (r->kind == PC_LINK) c.gone.dir = NO_NODE;
    name_change(d, &c);
    return true;
}

static bool replay_sync(struct disk *d, const struct pc_record *r, enum disk_mode mode)
{
    if (r->kind == PC_SYNC_ALL) {
        for (size_t i = 0; i < d->n_nodes; i++) file_sync(&d->nodes[i], r->a);
        names_sync(d, NO_NODE, r->a);
        return true;
    }
    struct node *f = node_of(d, r->ino);
    if (!f) return false;
    if (mode == DISK_EXT4)
        names_sync(d, NO_NODE, r->a);
    else if (f->is_dir)
        names_sync(d, (uint32_t)(f - d->nodes), r->a);
    file_sync(f, r->a);
    return true;
}

static bool replay_one(struct disk *d, const struct pc_record *r, uint64_t pos, enum disk_mode mode)
{
    switch ((enum pc_kind)r->kind) {
    case PC_WRITE:
    case PC_LENGTH:
        return replay_file(d, r, pos);
    case PC_CREATE:
    case PC_MKDIR:
        return replay_new(d, r, pos);
    case PC_UNLINK:
        return replay_unlink(d, r, pos);
    case PC_RENAME:
    case PC_LINK:
        return replay_two(d, r, pos);
    case PC_SYNC:
    case PC_SYNC_ALL:
        return replay_sync(d, r, mode);
    }
    return false;
}

bool disk_replay(struct disk *d, struct pc_history *h, enum disk_mode mode, char why[256])
{
    uint64_t tail = atomic_load(&h->tail);
    if (h->unsupported[0]) {
        snprintf(why, 256, "not modelled: %.200s", h->unsupported);
        return false;
    }
    for (uint64_t pos = 0; pos < tail;) {
        const struct pc_record *r = pc_at(h, pos);
        if (!replay_one(d, r, pos, mode)) {
            snprintf(why, 256, "record at %llu of kind %u makes no sense: %.100s",
                     (unsigned long long)pos, r->kind, r->ino ? "" : (const char *)(r + 1));
            return false;
        }
        pos += pc_size(r->n);
    }
    return true;
}

/* ---- loading ---- */

struct load {
    struct disk *d;
    uint32_t dir;
};

static void load_one(void *ctx, const char *dir, const char *name, const struct stat *st)
{
    struct load *l = ctx;
    struct entry e = {.dir = l->dir};
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        give_up("path too long", dir);
    snprintf(e.name, sizeof e.name, "%s", name);
    struct node *twin = node_of(l->d, st->st_ino);
    e.node = twin ? (uint32_t)(twin - l->d->nodes)
                  : node_add(l->d, S_ISDIR(st->st_mode), (uint64_t)st->st_ino);
    struct name_change c = {.gone.dir = NO_NODE, .come = e};
    names_apply(&l->d->now, &c);
    names_apply(&l->d->disk, &c);
    struct node *f = &l->d->nodes[e.node];
    if (S_ISDIR(st->st_mode)) {
        tree_each(path, load_one, &(struct load){.d = l->d, .dir = e.node});
    } else if (!twin) {
        f->disk.p = tree_read(path, &f->disk.n);
        f->disk.cap = f->disk.n + 1;
        apply(&f->now, &(struct change){.n = f->disk.n, .data = f->disk.p});
    }
}

static void forget(struct disk *d)
{
    for (size_t i = 0; i < d->n_nodes; i++) {
        mem_free(d->nodes[i].now.p);
        mem_free(d->nodes[i].disk.p);
        mem_free(d->nodes[i].changes);
    }
    d->n_nodes = d->n_changes = d->now.n = d->disk.n = 0;
}

void disk_load(struct disk *d)
{
    struct stat st;
    forget(d);
    if (stat(d->root, &st) != 0) give_up("stat", d->root);
    (void)node_add(d, true, (uint64_t)st.st_ino);
    tree_each(d->root, load_one, &(struct load){.d = d, .dir = ROOT});
}

struct disk *disk_new(const char *root)
{
    struct disk *d = mem_zalloc(sizeof *d);
    if (!d || strlen(root) >= sizeof d->root) give_up("disk", root);
    strcpy(d->root, root);
    return d;
}

void disk_free(struct disk *d)
{
    if (!d) return;
    forget(d);
    mem_free(d->nodes);
    mem_free(d->now.e);
    mem_free(d->disk.e);
    mem_free(d->changes);
    mem_free(d);
}

/* ---- comparing ---- */

struct compare {
    struct disk *d;
    uint32_t dir;
    size_t *seen;
    char *why;
};

static void compare_one(void *ctx, const char *dir, const char *name, const struct stat *st)
{
    struct compare *c = ctx;
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        give_up("path too long", dir);
    const struct entry *e = names_find(&c->d->now, c->dir, name, strlen(name));
    if (!e) {
        snprintf(c->why, 256, "a name the shim did not see: %.200s", path);
        return;
    }
    ++*c->seen;
    const struct node *f = &c->d->nodes[e->node];
    if (f->is_dir) {
        struct compare below = *c;
        below.dir = e->node;
        tree_each(path, compare_one, &below);
        return;
    }
    size_t n;
    uint8_t *p = tree_read(path, &n);
    if (n != f->now.n || (n && memcmp(p, f->now.p, n) != 0) || S_ISDIR(st->st_mode))
        snprintf(c->why, 256, "a change the shim did not see: %.200s", path);
    mem_free(p);
}

bool disk_is_real(struct disk *d, char why[256])
{
    size_t seen = 0;
    why[0] = 0;
    struct compare c = {.d = d, .dir = ROOT, .seen = &seen, .why = why};
    tree_each(d->root, compare_one, &c);
    if (!why[0] && seen != d->now.n) snprintf(why, 256, "a removal the shim did not see");
    return !why[0];
}

/* ---- the cut ---- */

/* One change, but only to the bytes in [from, to). */
static void apply_inside(struct bytes *b, const struct change *c, size_t from, size_t to)
{
    uint64_t lo = c->at > from ? c->at : from;
    uint64_t hi = c->data && c->at + c->n < to ? c->at + c->n : to;
    if (lo >= hi) return;
    if (c->data)
        memcpy(b->p + lo, c->data + (lo - c->at), hi - lo);
    else
        memset(b->p + lo, 0, hi - lo);
}

static size_t longest(const struct node *f)
{
    size_t n = f->disk.n;
    for (size_t i = 0; i < f->n_changes; i++) {
        size_t to = f->changes[i].at + (f->changes[i].data ? f->changes[i].n : 0);
        if (to > n) n = to;
    }
    return n;
}

/* The length after the first k changes. */
static size_t length_at(const struct node *f, size_t k)
{
    size_t n = f->disk.n;
    for (size_t i = 0; i < k; i++) {
        const struct change *c = &f->changes[i];
        if (!c->data)
            n = c->at;
        else if (c->at + c->n > n)
            n = c->at + c->n;
    }
    return n;
}

/* The first k changes to the bytes in [from, to). */
static void apply_moment(struct node *f, size_t k, size_t from, size_t to)
{
    for (size_t i = 0; i < k; i++) apply_inside(&f->disk, &f->changes[i], from, to);
}

static void cut_blocks(struct node *f, const struct disk_cut *cut, struct rng *r)
{
    size_t whole = longest(f), k_length = rng_below(r, f->n_changes + 1);
    size_t length = length_at(f, k_length);
    size_t torn = cut->bytes == KEEP_HOLES ? whole : f->disk.n;
    set_length(&f->disk, whole);
    for (size_t from = 0; from < torn; from += cut->block) {
        size_t to = from + cut->block < torn ? from + cut->block : torn;
        apply_moment(f, rng_below(r, f->n_changes + 1), from, to);
    }
    apply_moment(f, k_length, torn, whole);
    set_length(&f->disk, length);
}

static size_t choose(enum disk_keep keep, size_t n, struct rng *r)
{
    if (keep == KEEP_NONE) return 0;
    return keep == KEEP_ALL ? n : rng_below(r, n + 1);
}

static void cut_file(struct node *f, const struct disk_cut *cut, struct rng *r,
                     struct disk_loss *loss)
{
    if (f->n_changes == 0) return;
    for (size_t i = 0; i < f->n_changes; i++) {
        if (!f->changes[i].data) continue;
        loss->writes++;
        loss->overwrites += f->changes[i].at < f->disk.n;
    }
    if (cut->bytes == KEEP_BLOCKS || cut->bytes == KEEP_HOLES) {
        cut_blocks(f, cut, r);
        return;
    }
    size_t k = choose(cut->bytes, f->n_changes, r);
    for (size_t i = 0; i < k; i++) apply(&f->disk, &f->changes[i]);
}

struct disk_loss disk_cut(struct disk *d, const struct disk_cut *cut, struct rng *r)
{
    struct disk_loss loss = {0};
    size_t k = choose(cut->names, d->n_changes, r);
    loss.names = d->n_changes - k;
    for (size_t i = 0; i < k; i++) names_apply(&d->disk, &d->changes[i]);
    for (size_t i = 0; i < d->n_nodes; i++) cut_file(&d->nodes[i], cut, r, &loss);
    return loss;
}

static void restore_dir(struct disk *d, uint32_t dir, const char *path)
{
    char below[PATH_MAX];
    for (size_t i = 0; i < d->disk.n; i++) {
        const struct entry *e = &d->disk.e[i];
        if (e->dir != dir) continue;
        if (snprintf(below, sizeof below, "%s/%s", path, e->name) >= (int)sizeof below)
            give_up("path too long", path);
        const struct node *f = &d->nodes[e->node];
        if (!f->is_dir) {
            tree_write(below, f->disk.p, f->disk.n);
            continue;
        }
        if (mkdir(below, 0755) != 0) give_up("mkdir", below);
        restore_dir(d, e->node, below);
    }
}

void disk_restore(struct disk *d)
{
    tree_empty(d->root);
    restore_dir(d, ROOT, d->root);
    disk_load(d);
}
