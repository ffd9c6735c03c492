/* Turns untrusted bytes into a verdict. Know before editing: this file may believe nothing it
 * reads; every load is preceded by a comparison with what is left. Recursion is bounded by
 * LIMIT_NESTING. */
#include "base/utf8.h"
#include "value/layout.h"

struct reader {
    const uint8_t *p, *end;
};

static const char *check_value(struct reader r, uint32_t level, uint32_t *size_out);

/* A length in its shortest varint, and that many bytes behind it. */
static const char *take_field(struct reader *r, span *out)
{
    uint64_t x = 0;
    for (int shift = 0;; shift += 7) {
        if (r->p == r->end) return "cut off inside a length";
        if (shift > 28) return "a length is longer than 5 bytes";
        uint8_t c = *r->p++;
        x |= (uint64_t)(c & 0x7F) << shift;
        if (c < 0x80) {
            if (c == 0 && shift > 0) return "a length is not in its shortest form";
            break;
        }
    }
    if (x > (uint64_t)(r->end - r->p)) return "a length points beyond the end";
    *out = SPAN(r->p, (size_t)x);
    r->p += x;
    return NULL;
}

static const char *check_scalar(struct reader r, unsigned tag, uint32_t *size_out)
{
    span bytes;
    const char *wrong = take_field(&r, &bytes);
    if (wrong) return wrong;
    if (r.p != r.end) return "bytes behind a value";
    if (tag == VAL_S && !utf8_check(bytes)) return "a string is not UTF-8";
    if (tag == VAL_N && !num_check(bytes)) return "a number is not well-formed";
    *size_out = (uint32_t)bytes.n;
    return NULL;
}

/* Splits len bytes into heap, directory and count. */
static const char *open_box(struct reader r, unsigned width, struct box *b)
{
    if (width != 1 && width != 2 && width != 4) return "an offset width that does not exist";
    if (r.end - r.p < 4) return "cut off inside a container";
    uint32_t len = load_u32(r.p);
    r.p += 4;
    if (len != (uint64_t)(r.end - r.p)) return "a container's length is wrong";
    if (len < width) return "a container without its count";
    b->width = width;
    b->count = load_width(r.end - width, width);
    uint64_t dir_n = (uint64_t)b->count * width;
    if (dir_n > len - width) return "a container's directory is larger than the container";
    b->heap = r.p;
    b->dir = r.end - width - dir_n;
    b->heap_n = (uint32_t)(b->dir - b->heap);
    if (width != width_of(b->heap_n)) return "an offset width that is not the narrowest";
    if (b->count == 0 && b->heap_n != 0) return "bytes without an entry";
    return NULL;
}

/* The bounds of the i-th entry; entries must follow each other without a gap. */
static const char *open_entry(const struct box *b, uint32_t i, const uint8_t *expected,
                              struct reader *out)
{
    uint32_t at = load_width(b->dir + (size_t)i * b->width, b->width);
    uint32_t to =
        i + 1 < b->count ? load_width(b->dir + (size_t)(i + 1) * b->width, b->width) : b->heap_n;
    if (b->heap + at != expected) return "an entry is not where the one before it ends";
    if (to <= at || to > b->heap_n) return "an entry ends before it begins or beyond the heap";
    *out = (struct reader){b->heap + at, b->heap + to};
    return NULL;
}

static const char *check_member(unsigned type, span member)
{
    if (type == VAL_SS && !utf8_check(member)) return "a string is not UTF-8";
    if (type == VAL_NS && !num_check(member)) return "a number is not well-formed";
    return NULL;
}

/* One entry: its name or member (in order behind `before`), and its value. */
static const char *check_entry(struct reader r, unsigned type, uint32_t level, span *before,
                               uint32_t *size_out)
{
    uint32_t size = 0;
    if (type != VAL_L) {
        span field;
        const char *wrong = take_field(&r, &field);
        if (wrong) return wrong;
        if (before->p && span_cmp(*before, field) >= 0) return "entries are not in order";
        *before = field;
        size = (uint32_t)field.n;
        if (type != VAL_M) {
            if (r.p != r.end) return "bytes behind a set's member";
            *size_out = size;
            return check_member(type, field);
        }
        if (field.n > LIMIT_ATTRIBUTE_NAME_BYTES) return "an attribute name is too long";
        if (!utf8_check(field)) return "an attribute name is not UTF-8";
    }
    uint32_t value = 0;
    const char *wrong = check_value(r, level, &value);
    *size_out = size + value;
    return wrong;
}

static const char *check_box(struct reader r, unsigned tag, uint32_t level, uint32_t *size_out)
{
    struct box b;
    unsigned type = tag & TYPE_MASK;
    const char *wrong = open_box(r, tag >> WIDTH_SHIFT, &b);
    if (wrong) return wrong;
    if (is_set((enum val_type)type) && b.count == 0) return "an empty set";
    uint64_t size = is_set((enum val_type)type) ? 0 : 3 + (uint64_t)b.count;
    const uint8_t *expected = b.heap;
    span before = SPAN_NONE;
    for (uint32_t i = 0; i < b.count; i++) {
        struct reader entry;
        uint32_t n = 0;
        wrong = open_entry(&b, i, expected, &entry);
        if (!wrong) wrong = check_entry(entry, type, level + 1, &before, &n);
        if (wrong) return wrong;
        size += n;
        expected = entry.end;
    }
    if (size > UINT32_MAX) return "a size beyond 32 bits";
    *size_out = (uint32_t)size;
    return NULL;
}

/* Exactly one value in r. NULL, or what is wrong with it. */
static const char *check_value(struct reader r, uint32_t level, uint32_t *size_out)
{
    if (r.p == r.end) return "a value without a tag";
    if (level > LIMIT_NESTING) return "nested deeper than 32 levels";
    unsigned tag = *r.p++;
    switch (tag) {
    case VAL_S:
    case VAL_N:
    case VAL_B:
        return check_scalar(r, tag, size_out);
    case VAL_NULL:
    case VAL_TAG_FALSE:
    case VAL_TAG_TRUE:
        *size_out = 1;
        return r.p == r.end ? NULL : "bytes behind a value";
    default:
        if (!is_box((enum val_type)(tag & TYPE_MASK))) return "an unknown tag";
        return check_box(r, tag, level, size_out);
    }
}

sheaf_rc val_check(span bytes, sheaf_error *err)
{
    if (bytes.n > UINT32_MAX) return err_set(err, SHEAF_CORRUPT, "encoded value: too long");
    uint32_t size = 0;
    const uint8_t *p = bytes.p;
    const char *wrong = check_value((struct reader){p, p + bytes.n}, 1, &size);
    return wrong ? err_set(err, SHEAF_CORRUPT, "encoded value: %s", wrong) : SHEAF_OK;
}

sheaf_rc item_check(span item, sheaf_error *err)
{
    const uint8_t *p = item.p;
    if (item.n == 0) return err_set(err, SHEAF_CORRUPT, "encoded item: empty");
    if (p[0] != VAL_ITEM_VERSION)
        return err_set(err, SHEAF_FORMAT, "encoded item: version %u; this release reads version %d",
                       (unsigned)p[0], VAL_ITEM_VERSION);
    if (item.n <= VAL_ITEM_HEADER || item.n > UINT32_MAX)
        return err_set(err, SHEAF_CORRUPT, "encoded item: cut off or too long");
    uint32_t size = 0;
    if ((p[VAL_ITEM_HEADER] & TYPE_MASK) != VAL_M)
        return err_set(err, SHEAF_CORRUPT, "encoded item: not a map");
    const char *wrong = check_value((struct reader){p + VAL_ITEM_HEADER, p + item.n}, 0, &size);
    if (wrong) return err_set(err, SHEAF_CORRUPT, "encoded item: %s", wrong);
    uint32_t count = val_count(item_map(item));
    if (count && val_name_at(item_map(item), 0).n == 0)
        return err_set(err, SHEAF_CORRUPT, "encoded item: an attribute without a name");
    if (load_u32(p + 1) != size - 3 - count) /* an item is no map: no 3 bytes, none per entry */
        return err_set(err, SHEAF_CORRUPT, "encoded item: its size field is wrong");
    return SHEAF_OK;
}

/* ---- the shape alone ---- */

/* Every row that is read comes by here. What rows are made of (short names, scalars of fewer than
 * 128 bytes) is judged by is_plain_entry inside one loop; the functions above it judge anything. */

static bool has_box_shape(struct reader r, uint32_t level);

/* A length in its shortest form, and so many bytes up to the end. */
static bool is_field(struct reader r, span *out) { return !take_field(&r, out) && r.p == r.end; }

static bool has_shape(struct reader r, uint32_t level)
{
    span bytes;
    if (r.p == r.end) return false;
    unsigned tag = *r.p;
    struct reader behind = {r.p + 1, r.end};
    if (tag == VAL_S || tag == VAL_B) return is_field(behind, &bytes);
    if (tag == VAL_N) return is_field(behind, &bytes) && num_check(bytes);
    if (tag == VAL_NULL || tag == VAL_TAG_FALSE || tag == VAL_TAG_TRUE) return r.p + 1 == r.end;
    return has_box_shape(r, level);
}

static __attribute__((noinline)) bool has_entry_shape(struct reader r, enum val_type type,
                                                      uint32_t level)
{
    span field;
    if (is_set(type)) return is_field(r, &field) && (type != VAL_NS || num_check(field));
    if (type == VAL_M && take_field(&r, &field)) return false;
    return has_shape(r, level + 1);
}

/* n > 0 bytes at p: the most usual entries of a map. False says nothing. */
static inline bool is_plain_entry(const uint8_t *p, uint32_t n)
{
    uint32_t name = p[0], value = n - name - 3; /* behind the name: a tag, one byte of length */
    if ((name | value) >= 0x80) return false;   /* also when n is less than that */
    const uint8_t *behind = p + 1 + name;
    if (behind[1] != value) return false;
    if (behind[0] == VAL_S || behind[0] == VAL_B) return true;
    return behind[0] == VAL_N && num_check(SPAN(behind + 2, value));
}

/* Width and type are constants where this is called for maps. */
static inline __attribute__((always_inline)) bool
has_entries_shape(struct box b, uint32_t width, enum val_type type, uint32_t level)
{
    uint32_t at = b.count ? load_width(b.dir, width) : 0;
    for (uint32_t left = b.count; left > 0; left--) {
        b.dir += width;
        uint32_t to = left > 1 ? load_width(b.dir, width) : b.heap_n;
        if (to <= at) return false;
        if (to > b.heap_n) return false;
        const uint8_t *p = b.heap + at;
        if (!(type == VAL_M && is_plain_entry(p, to - at)) &&
            !has_entry_shape((struct reader){p, b.heap + to}, type, level))
            return false;
        at = to;
    }
    return true;
}

/* A container; r begins with its tag. */
static bool has_box_shape(struct reader r, uint32_t level)
{
    struct box b;
    unsigned tag = *r.p++;
    enum val_type type = (enum val_type)(tag & TYPE_MASK);
    if (level > LIMIT_NESTING || !is_box(type)) return false;
    if (open_box(r, tag >> WIDTH_SHIFT, &b)) return false;
    if (type != VAL_M)
        return (type == VAL_L || b.count > 0) && has_entries_shape(b, b.width, type, level);
    if (b.width == 1) return has_entries_shape(b, 1, VAL_M, level);
    if (b.width == 2) return has_entries_shape(b, 2, VAL_M, level);
    return has_entries_shape(b, 4, VAL_M, level);
}

bool item_check_shape(span item)
{
    const uint8_t *p = item.p;
    if (item.n <= VAL_ITEM_HEADER || item.n > UINT32_MAX || p[0] != VAL_ITEM_VERSION) return false;
    if ((p[VAL_ITEM_HEADER] & TYPE_MASK) != VAL_M) return false;
    return has_box_shape((struct reader){p + VAL_ITEM_HEADER, p + item.n}, 0);
}
