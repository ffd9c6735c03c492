/* Turns encoded values into answers: type, bytes, entries, order, size. Know before editing:
 * nothing here allocates, and everything expects bytes that were checked or built by this process;
 * the asserts are for our own mistakes, not for input. */
#include "value/layout.h"

static const char *const type_names[] = {"",  "S", "N",  "B",  "BOOL", "NULL",
                                         "M", "L", "SS", "NS", "BS"};

const char *val_type_name(enum val_type t)
{
    assert(t <= VAL_BS);
    return type_names[t];
}

/* By its length and letters: this is read for every value of a request. */
bool val_type_parse(span name, enum val_type *out)
{
    const char *p = name.p;
    enum val_type t = VAL_NONE;
    if (name.n == 1)
        t = *p == 'S'   ? VAL_S
            : *p == 'N' ? VAL_N
            : *p == 'B' ? VAL_B
            : *p == 'M' ? VAL_M
            : *p == 'L' ? VAL_L
                        : VAL_NONE;
    else if (name.n == 2 && p[1] == 'S')
        t = *p == 'S' ? VAL_SS : *p == 'N' ? VAL_NS : *p == 'B' ? VAL_BS : VAL_NONE;
    else if (name.n == 4)
        t = memcmp(p, "BOOL", 4) == 0 ? VAL_BOOL : memcmp(p, "NULL", 4) == 0 ? VAL_NULL : VAL_NONE;
    *out = t;
    return t != VAL_NONE;
}

span val_bytes(val v)
{
    assert(v.p && v.p[0] >= VAL_S && v.p[0] <= VAL_B);
    const uint8_t *p = v.p + 1;
    uint32_t n = take_varint(&p); /* the length of a number is one byte below 0x80: a varint too */
    assert(p + n == v.p + v.n);
    return SPAN(p, n);
}

bool val_bool(val v)
{
    assert(val_type(v) == VAL_BOOL);
    return v.p[0] == VAL_TAG_TRUE;
}

void val_num(val v, struct num *out)
{
    assert(val_type(v) == VAL_N);
    bool is_number = num_decode(val_bytes(v), out);
    assert(is_number);
    (void)is_number;
}

uint32_t val_count(val v)
{
    assert(is_box(val_type(v)));
    uint32_t width = v.p[0] >> WIDTH_SHIFT;
    return load_width(v.p + v.n - width, width);
}

/* An entry of a map without its name. */
static const uint8_t *skip_name(const uint8_t *p, span *name_out)
{
    uint32_t n = take_varint(&p);
    *name_out = SPAN(p, n);
    return p + n;
}

val val_at(val v, uint32_t i)
{
    struct box b = box_of(v);
    const uint8_t *p, *end;
    box_entry(&b, i, &p, &end);
    if ((v.p[0] & TYPE_MASK) == VAL_M) {
        span name;
        p = skip_name(p, &name);
    }
    assert(p < end);
    return (val){p, (uint32_t)(end - p)};
}

span val_name_at(val v, uint32_t i)
{
    assert(val_type(v) == VAL_M);
    struct box b = box_of(v);
    const uint8_t *p, *end;
    box_entry(&b, i, &p, &end);
    span name;
    skip_name(p, &name);
    return name;
}

span val_member_at(val v, uint32_t i)
{
    assert(is_set(val_type(v)));
    struct box b = box_of(v);
    const uint8_t *p, *end;
    box_entry(&b, i, &p, &end);
    span member;
    skip_name(p, &member); /* a member is a length and bytes, like a name */
    return member;
}

/* Where an entry whose first field is `key` stands, in a map or a set: both are ordered by it. */
static bool search(const struct box *b, span key, uint32_t *i_out, const uint8_t **behind_out)
{
    uint32_t lo = 0, hi = b->count;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        span field;
        const uint8_t *p = b->heap + load_width(b->dir + (size_t)mid * b->width, b->width);
        p = skip_name(p, &field);
        int c = span_cmp(field, key);
        if (c == 0) {
            *i_out = mid;
            *behind_out = p;
            return true;
        }
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    *i_out = lo;
    return false;
}

bool val_find_index(val v, span name, uint32_t *i_out)
{
    assert(val_type(v) == VAL_M);
    struct box b = box_of(v);
    const uint8_t *behind;
    return search(&b, name, i_out, &behind);
}

val val_find(val v, span name)
{
    assert(val_type(v) == VAL_M);
    struct box b = box_of(v);
    uint32_t i;
    const uint8_t *p, *start, *end;
    if (!search(&b, name, &i, &p)) return VAL_ABSENT;
    box_entry(&b, i, &start, &end);
    return (val){p, (uint32_t)(end - p)};
}

val val_find_near(val v, span name, uint32_t *hint)
{
    assert(val_type(v) == VAL_M);
    struct box b = box_of(v);
    const uint8_t *p, *end;
    span field;
    if (*hint < b.count) {
        box_entry(&b, *hint, &p, &end);
        p = skip_name(p, &field);
        if (span_eq(field, name)) return (val){p, (uint32_t)(end - p)};
    }
    if (!search(&b, name, hint, &p)) return VAL_ABSENT;
    box_entry(&b, *hint, &(const uint8_t *){NULL}, &end);
    return (val){p, (uint32_t)(end - p)};
}

bool val_set_has(val v, span member)
{
    assert(is_set(val_type(v)));
    struct box b = box_of(v);
    uint32_t i;
    const uint8_t *behind;
    return search(&b, member, &i, &behind);
}

int val_cmp(val a, val b)
{
    assert(val_type(a) == val_type(b));
    return span_cmp(val_bytes(a), val_bytes(b));
}

/* Names, members and scalars are their bytes. Depth is at most 33: checked or built values only. */
uint32_t val_size(val v)
{
    enum val_type t = val_type(v);
    if (t == VAL_NONE) return 0;
    if (t == VAL_BOOL || t == VAL_NULL) return 1;
    if (!is_box(t)) return (uint32_t)val_bytes(v).n;
    struct box b = box_of(v);
    uint32_t size = is_set(t) ? 0 : 3 + b.count;
    for (uint32_t i = 0; i < b.count; i++) {
        const uint8_t *p, *end;
        box_entry(&b, i, &p, &end);
        if (t != VAL_L) {
            span field;
            p = skip_name(p, &field);
            size += (uint32_t)field.n;
        }
        if (!is_set(t)) size += val_size((val){p, (uint32_t)(end - p)});
    }
    return size;
}

uint32_t val_depth(val v)
{
    enum val_type t = val_type(v);
    if (t != VAL_M && t != VAL_L) return 1;
    uint32_t deepest = 0;
    for (uint32_t i = 0, n = val_count(v); i < n; i++) {
        uint32_t d = val_depth(val_at(v, i));
        if (d > deepest) deepest = d;
    }
    return deepest + 1;
}

uint32_t item_size(span item)
{
    assert(item.n > VAL_ITEM_HEADER && *(const uint8_t *)item.p == VAL_ITEM_VERSION);
    return load_u32((const uint8_t *)item.p + 1);
}

val path_get(val map, const struct path *path)
{
    assert(path->n > 0 && path->steps[0].name.p);
    val v = map;
    for (uint32_t i = 0; i < path->n && v.p; i++) {
        const struct path_step *step = &path->steps[i];
        enum val_type t = val_type(v);
        if (step->name.p)
            v = t == VAL_M ? val_find(v, step->name) : VAL_ABSENT;
        else
            v = t == VAL_L && step->index < val_count(v) ? val_at(v, step->index) : VAL_ABSENT;
    }
    return v;
}

void path_format(const struct path *path, struct buf *out)
{
    buf_put_u8(out, '[');
    for (uint32_t i = 0; i < path->n; i++) {
        const struct path_step *step = &path->steps[i];
        if (i) buf_put(out, ", ", 2);
        if (step->name.p)
            buf_put_span(out, step->name);
        else
            buf_printf(out, "[%u]", (unsigned)step->index);
    }
    buf_put_u8(out, ']');
}
