/* Turns calls into the bytes of val.h. Know before editing: a container is written in place, its
 * entries in the order they come; closing it sorts the entries of a map or set (moving their bytes
 * through a scratch buffer only when they were out of order), then appends the directory and
 * patches tag and length. The first five bytes of the buffer are kept free for an item's header. */
#include "value/build.h"

#include "base/base64.h"
#include "base/utf8.h"
#include "value/layout.h"

enum {
    FEW = 24,        /* up to here insertion sort wins */
    FIRST_ROOM = 512 /* an ordinary item, so that the buffer need not grow */
};

void vb_init(struct vb *b, struct ctx *ctx, size_t max_bytes)
{
    b->ctx = ctx;
    b->entries = NULL;
    b->cap_entries = 0;
    if (max_bytes > INT32_MAX) max_bytes = INT32_MAX; /* offsets are 32 bits */
    buf_init(&b->out, ctx->arena, max_bytes);
    buf_init(&b->scratch, ctx->arena, max_bytes);
    vb_clear(b);
    (void)buf_room(&b->out, max_bytes < FIRST_ROOM ? max_bytes : FIRST_ROOM);
    buf_clear(&b->out); /* when that failed, the first write will notice */
}

void vb_clear(struct vb *b)
{
    buf_clear(&b->out);
    buf_clear(&b->scratch);
    b->n_entries = b->depth = b->deepest = 0;
    b->size = 0;
    b->rc = SHEAF_OK;
}

void vb_fail(struct vb *b, sheaf_rc rc)
{
    assert(rc != SHEAF_OK);
    if (b->rc == SHEAF_OK) b->rc = rc;
}

static bool refuse(struct vb *b, const char *message)
{
    vb_fail(b, err_validation(b->ctx->err, "%s", message));
    return false;
}

/* The calls came in an order that makes no value: a mistake of the program above. */
static bool misuse(struct vb *b, const char *what)
{
    vb_fail(b, err_set(b->ctx->err, SHEAF_INTERNAL, "value builder: %s", what));
    return false;
}

/* Room for n bytes at the end, NULL when there is none. */
static inline uint8_t *room(struct vb *b, size_t n)
{
    uint8_t *to = buf_room(&b->out, n);
    if (!to) vb_fail(b, err_nomem(b->ctx->err));
    return to;
}

static bool put(struct vb *b, const void *p, size_t n)
{
    uint8_t *to = room(b, n);
    if (!to) return false;
    memcpy(to, p, n);
    b->out.n += n;
    return true;
}

/* A copy without a call for the sizes that most names and values have; halves may overlap. */
static inline void copy(uint8_t *to, const uint8_t *from, size_t n)
{
    if (n > 16) {
        memcpy(to, from, n);
    } else if (n >= 8) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else if (n >= 4) {
        memcpy(to, from, 4);
        memcpy(to + n - 4, from + n - 4, 4);
    } else {
        for (size_t i = 0; i < n; i++) to[i] = from[i];
    }
}

/* A length and that many bytes, behind a tag when it is not VAL_NONE: one look for room, since
 * this is most of what building an item is. */
__attribute__((always_inline)) static inline bool put_field(struct vb *b, enum val_type tag, span s)
{
    assert(s.n <= INT32_MAX);
    bool is_short = s.n < 0x80;
    size_t n = (tag != VAL_NONE) + (is_short ? 1 : varint_bytes((uint32_t)s.n)) + s.n;
    uint8_t *to = room(b, n);
    if (!to) return false;
    if (tag != VAL_NONE) *to++ = (uint8_t)tag;
    if (is_short)
        *to++ = (uint8_t)s.n;
    else
        to += put_varint(to, (uint32_t)s.n);
    copy(to, s.p, s.n);
    b->out.n += n;
    return true;
}

static bool grow_entries(struct vb *b)
{
    uint32_t cap = b->cap_entries ? b->cap_entries * 2 : 16;
    struct vb_entry *more = arena_alloc(b->ctx->arena, (size_t)cap * sizeof *more);
    if (!more) {
        vb_fail(b, err_nomem(b->ctx->err));
        return false;
    }
    if (b->n_entries) memcpy(more, b->entries, b->n_entries * sizeof *more);
    b->entries = more;
    b->cap_entries = cap;
    return true;
}

/* A new entry that starts here; its field (name or member) of n bytes is about to be written. */
static inline bool push_entry(struct vb *b, size_t field_n)
{
    if (b->n_entries == b->cap_entries && !grow_entries(b)) return false;
    uint32_t at = (uint32_t)b->out.n;
    uint32_t head = varint_bytes((uint32_t)field_n);
    b->entries[b->n_entries++] = (struct vb_entry){at, 0, at + head, (uint32_t)field_n};
    return true;
}

static struct vb_level *top(struct vb *b) { return &b->levels[b->depth - 1]; }

/* Whether a value may begin here; notes it in the container around it. */
static inline bool open_value(struct vb *b)
{
    if (b->rc != SHEAF_OK) return false;
    if (b->depth == 0) {
        static const uint8_t header[VAL_ITEM_HEADER];
        return b->out.n ? misuse(b, "a second value") : put(b, header, sizeof header);
    }
    struct vb_level *level = top(b);
    if (b->depth > b->deepest) b->deepest = b->depth;
    if (is_set(level->type)) return misuse(b, "a set takes members of its own type only");
    if (level->type == VAL_L) return push_entry(b, 0);
    if (!level->has_name) return misuse(b, "a map's value without a name");
    level->has_name = false;
    return true;
}

/* A member of the set that is open, or a value with its tag. */
static void put_scalar(struct vb *b, enum val_type type, span bytes)
{
    if (b->rc != SHEAF_OK) return;
    if (bytes.n > INT32_MAX) {
        vb_fail(b, err_nomem(b->ctx->err));
        return;
    }
    b->size += bytes.n;
    if (b->depth > 0 && (unsigned)top(b)->type == (unsigned)type + (VAL_SS - VAL_S)) {
        if (push_entry(b, bytes.n)) put_field(b, VAL_NONE, bytes);
        return;
    }
    if (open_value(b)) put_field(b, type, bytes);
}

static void put_tag(struct vb *b, uint8_t tag)
{
    b->size += 1;
    if (open_value(b)) put(b, &tag, 1);
}

void vb_name(struct vb *b, span name)
{
    if (b->rc == SHEAF_OK && name.n <= LIMIT_ATTRIBUTE_NAME_BYTES && !utf8_check(name))
        refuse(b, "One or more parameter values were invalid: Attribute name is not valid UTF-8");
    vb_name_utf8(b, name);
}

void vb_name_utf8(struct vb *b, span name)
{
    if (b->rc != SHEAF_OK) return;
    if (b->depth == 0 || top(b)->type != VAL_M || top(b)->has_name) {
        misuse(b, "a name outside a map, or two in a row");
        return;
    }
    if (name.n > LIMIT_ATTRIBUTE_NAME_BYTES) {
        refuse(b, "One or more parameter values were invalid: Attribute name is too large, must be "
                  "less than 65536 bytes");
        return;
    }
    b->size += name.n;
    if (push_entry(b, name.n) && put_field(b, VAL_NONE, name)) top(b)->has_name = true;
}

void vb_s(struct vb *b, span text)
{
    if (b->rc == SHEAF_OK && !utf8_check(text))
        refuse(b, "One or more parameter values were invalid: String value is not valid UTF-8");
    put_scalar(b, VAL_S, text);
}

void vb_s_utf8(struct vb *b, span text) { put_scalar(b, VAL_S, text); }

void vb_b(struct vb *b, span bytes) { put_scalar(b, VAL_B, bytes); }

void vb_n_encoded(struct vb *b, span enc)
{
    assert(num_check(enc));
    put_scalar(b, VAL_N, enc);
}

void vb_n(struct vb *b, const struct num *n)
{
    uint8_t enc[NUM_ENC_MAX];
    put_scalar(b, VAL_N, SPAN(enc, num_encode(n, enc)));
}

void vb_n_text(struct vb *b, span digits)
{
    struct num n;
    if (b->rc != SHEAF_OK) return;
    sheaf_rc rc = num_parse(digits, &n, b->ctx->err);
    if (rc != SHEAF_OK)
        vb_fail(b, rc);
    else
        vb_n(b, &n);
}

void vb_bool(struct vb *b, bool v) { put_tag(b, v ? VAL_TAG_TRUE : VAL_TAG_FALSE); }

void vb_null(struct vb *b) { put_tag(b, VAL_NULL); }

static void begin(struct vb *b, enum val_type type)
{
    static const uint8_t header[BOX_HEADER];
    uint32_t at = (uint32_t)(b->out.n ? b->out.n : VAL_ITEM_HEADER);
    if (!open_value(b)) return;
    if (b->depth > LIMIT_NESTING) {
        refuse(b, "Nesting Levels have exceeded supported limits: Attributes in the item have "
                  "nested levels beyond supported limit");
        return;
    }
    if (!put(b, header, sizeof header)) return;
    b->levels[b->depth++] = (struct vb_level){at, b->n_entries, type, false};
}

void vb_map_begin(struct vb *b) { begin(b, VAL_M); }

void vb_list_begin(struct vb *b) { begin(b, VAL_L); }

void vb_set_begin(struct vb *b, enum val_type set)
{
    assert(is_set(set));
    begin(b, set);
}

/* ---- closing a container ---- */

static int compare(const struct vb *b, const struct vb_entry *x, const struct vb_entry *y)
{
    return span_cmp(SPAN(b->out.p + x->field_at, x->field_n),
                    SPAN(b->out.p + y->field_at, y->field_n));
}

static bool is_sorted(const struct vb *b, const struct vb_entry *e, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (compare(b, &e[i - 1], &e[i]) >= 0) return false;
    return true;
}

/* Returns whether they were in order already, with no two alike. */
static bool insertion_sort(const struct vb *b, struct vb_entry *e, uint32_t n)
{
    bool was_sorted = true;
    for (uint32_t i = 1; i < n; i++) {
        struct vb_entry x = e[i];
        uint32_t j = i;
        int c = 1;
        for (; j > 0 && (c = compare(b, &e[j - 1], &x)) > 0; j--) e[j] = e[j - 1];
        e[j] = x;
        was_sorted &= j == i && c < 0;
    }
    return was_sorted;
}

static void merge(const struct vb *b, struct vb_entry *from, struct vb_entry *to, uint32_t mid,
                  uint32_t n)
{
    for (uint32_t i = 0, j = mid, k = 0; k < n; k++) {
        bool take_left = i < mid && (j >= n || compare(b, &from[i], &from[j]) <= 0);
        to[k] = take_left ? from[i++] : from[j++];
    }
}

/* Bottom-up merge sort: sorted runs of FEW, then doubled. */
static bool merge_sort(struct vb *b, struct vb_entry *e, uint32_t n)
{
    struct vb_entry *other = arena_alloc(b->ctx->arena, (size_t)n * sizeof *other);
    if (!other) {
        vb_fail(b, err_nomem(b->ctx->err));
        return false;
    }
    for (uint32_t i = 0; i < n; i += FEW) insertion_sort(b, e + i, n - i < FEW ? n - i : FEW);
    struct vb_entry *from = e, *to = other;
    for (uint32_t run = FEW; run < n; run *= 2) {
        for (uint32_t i = 0; i < n; i += 2 * run) {
            uint32_t len = n - i < 2 * run ? n - i : 2 * run;
            merge(b, from + i, to + i, run < len ? run : len, len);
        }
        struct vb_entry *swap = from;
        from = to;
        to = swap;
    }
    if (from != e) memcpy(e, from, n * sizeof *e);
    return true;
}

/* "[a, a]": the members of a set in the order they came, which is the order of their bytes. */
static void list_members(struct vb *b, const struct vb_level *level, struct buf *text)
{
    const uint8_t *p = b->out.p + level->at + BOX_HEADER, *end = b->out.p + b->out.n;
    while (p < end) {
        uint32_t n = take_varint(&p);
        if (level->type == VAL_BS)
            base64_put(text, SPAN(p, n));
        else
            buf_put(text, p, n);
        p += n;
        if (p < end) buf_put(text, ", ", 2);
    }
}

/* A name or member stands there twice. */
static bool refuse_duplicate(struct vb *b, const struct vb_level *level, const struct vb_entry *e)
{
    if (level->type == VAL_NS) return refuse(b, "Input collection contains duplicates");
    if (level->type == VAL_M) {
        span name = SPAN(b->out.p + e->field_at, e->field_n);
        vb_fail(b, err_validation(
                       b->ctx->err,
                       "One or more parameter values were invalid: Duplicate attribute name: %.*s",
                       SPAN_ARG(name)));
        return false;
    }
    char bytes[512]; /* as much as sheaf_error can say */
    struct buf text = {.p = (uint8_t *)bytes, .cap = sizeof bytes, .max = sizeof bytes};
    list_members(b, level, &text);
    vb_fail(b,
            err_validation(b->ctx->err,
                           "One or more parameter values were invalid: Input collection [%.*s]%s",
                           SPAN_ARG(buf_span(&text)),
                           level->type == VAL_BS ? "of type BS contains duplicates."
                                                 : " contains duplicates."));
    return false;
}

/* Puts the bytes of the entries into the order of the entries. */
static bool move_entries(struct vb *b, uint32_t heap, struct vb_entry *e, uint32_t n)
{
    size_t heap_n = b->out.n - heap;
    buf_clear(&b->scratch);
    buf_put(&b->scratch, b->out.p + heap, heap_n);
    if (b->scratch.failed) {
        vb_fail(b, err_nomem(b->ctx->err));
        return false;
    }
    uint32_t at = heap;
    for (uint32_t i = 0; i < n; i++) {
        copy(b->out.p + at, b->scratch.p + (e[i].at - heap), e[i].n);
        e[i].at = at;
        at += e[i].n;
    }
    assert(at == b->out.n);
    return true;
}

static bool order_entries(struct vb *b, const struct vb_level *level, struct vb_entry *e,
                          uint32_t n)
{
    if (n <= FEW) {
        if (insertion_sort(b, e, n)) return true;
    } else {
        if (is_sorted(b, e, n)) return true;
        if (!merge_sort(b, e, n)) return false;
    }
    for (uint32_t i = 1; i < n; i++)
        if (compare(b, &e[i - 1], &e[i]) == 0) return refuse_duplicate(b, level, &e[i]);
    return move_entries(b, level->at + BOX_HEADER, e, n);
}

/* Offsets and count behind the heap, then the container's tag and length in front of it. */
static void put_directory(struct vb *b, const struct vb_level *level, const struct vb_entry *e,
                          uint32_t n)
{
    uint32_t heap = level->at + BOX_HEADER;
    uint32_t width = width_of((uint32_t)b->out.n - heap);
    uint8_t *to = buf_room(&b->out, ((size_t)n + 1) * width);
    if (!to) {
        vb_fail(b, err_nomem(b->ctx->err));
        return;
    }
    if (width == 1)
        for (uint32_t i = 0; i < n; i++) *to++ = (uint8_t)(e[i].at - heap);
    else
        for (uint32_t i = 0; i < n; i++, to += width) store_width(to, width, e[i].at - heap);
    store_width(to, width, n);
    b->out.n += ((size_t)n + 1) * width;
    b->out.p[level->at] = (uint8_t)(width << WIDTH_SHIFT | (unsigned)level->type);
    store_u32(b->out.p + level->at + 1, (uint32_t)b->out.n - heap);
}

static bool refuse_empty_set(struct vb *b, enum val_type set)
{
    if (set == VAL_BS)
        return refuse(b,
                      "One or more parameter values were invalid: Binary sets should not be empty");
    return refuse(
        b, set == VAL_SS
               ? "One or more parameter values were invalid: An string set  may not be empty"
               : "One or more parameter values were invalid: An number set  may not be empty");
}

void vb_end(struct vb *b)
{
    if (b->rc != SHEAF_OK) return;
    if (b->depth == 0 || top(b)->has_name) {
        misuse(b, "an end without a begin, or behind a name");
        return;
    }
    struct vb_level level = *top(b);
    uint32_t n = b->n_entries - level.first;
    struct vb_entry *e = n ? b->entries + level.first : NULL;
    if (is_set(level.type) && n == 0) {
        refuse_empty_set(b, level.type);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        e[i].n = (i + 1 < n ? e[i + 1].at : (uint32_t)b->out.n) - e[i].at;
    if (level.type != VAL_L && !order_entries(b, &level, e, n)) return;
    put_directory(b, &level, e, n);
    if (!is_set(level.type)) b->size += 3 + (uint64_t)n;
    b->n_entries = level.first;
    b->depth--;
}

void vb_raw(struct vb *b, val v)
{
    assert(v.p);
    uint32_t around = b->depth;
    if (!open_value(b)) return;
    enum val_type t = val_type(v);
    if (t == VAL_M || t == VAL_L) {
        uint32_t deepest = around + val_depth(v) - 1;
        if (deepest > b->deepest) b->deepest = deepest;
    }
    b->size += val_size(v);
    put(b, v.p, v.n);
}

/* Nothing left open, and no value on a level beyond the limit: `outer` containers do not count. */
static sheaf_rc finish(struct vb *b, uint32_t outer)
{
    if (b->rc == SHEAF_OK && (b->depth != 0 || b->out.n <= VAL_ITEM_HEADER))
        misuse(b, "unfinished");
    if (b->rc == SHEAF_OK && b->deepest + 1 > LIMIT_NESTING + outer)
        refuse(b,
               "Nesting Levels have exceeded supported limits: Attributes in the item have nested "
               "levels beyond supported limit");
    return b->rc;
}

sheaf_rc vb_finish(struct vb *b, val *out)
{
    *out = VAL_ABSENT;
    TRY(finish(b, 0));
    *out = (val){b->out.p + VAL_ITEM_HEADER, (uint32_t)b->out.n - VAL_ITEM_HEADER};
    return SHEAF_OK;
}

sheaf_rc vb_finish_item(struct vb *b, span *item_out)
{
    *item_out = SPAN_NONE;
    TRY(finish(b, 1));
    span item = buf_span(&b->out);
    val map = item_map(item);
    if (val_type(map) != VAL_M) {
        misuse(b, "an item must be a map");
        return b->rc;
    }
    if (val_count(map) && val_name_at(map, 0).n == 0) { /* the first in order, when there is one */
        refuse(b, "Empty attribute name");
        return b->rc;
    }
    uint64_t size = b->size - 3 - val_count(map);
    if (size > UINT32_MAX) return err_nomem(b->ctx->err);
    b->out.p[0] = VAL_ITEM_VERSION;
    store_u32(b->out.p + 1, (uint32_t)size);
    *item_out = item;
    return SHEAF_OK;
}
