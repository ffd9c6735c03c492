/* Turns text into trees of values, trees into text and into encoded values and back. */
#include "support/doc.h"

#include "support/support.h"

#include <ctype.h>

static void *take(struct arena *a, size_t n)
{
    void *p = arena_zalloc(a, n ? n : 1);
    if (!p) fail_msg("doc: out of memory");
    return p;
}

static span dup_bytes(struct arena *a, span s)
{
    uint8_t *p = take(a, s.n);
    if (s.n) memcpy(p, s.p, s.n);
    return SPAN(p, s.n);
}

struct doc *doc_new(struct arena *a, enum val_type type)
{
    struct doc *d = take(a, sizeof *d);
    d->type = type;
    return d;
}

static struct doc *scalar(struct arena *a, enum val_type type, span bytes)
{
    struct doc *d = doc_new(a, type);
    d->bytes = dup_bytes(a, bytes);
    return d;
}

struct doc *doc_number(struct arena *a, long long v)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%lld", v);
    return scalar(a, VAL_N, SPAN(text, (size_t)n));
}

struct doc *doc_string(struct arena *a, const char *text)
{
    return scalar(a, VAL_S, span_cstr(text));
}

void doc_add(struct arena *a, struct doc *d, span name, struct doc *kid)
{
    if (d->n == d->cap) {
        uint32_t cap = d->cap ? d->cap * 2 : 4;
        struct doc **kids = take(a, cap * sizeof *kids);
        span *names = take(a, cap * sizeof *names);
        if (d->n) memcpy(kids, d->kids, d->n * sizeof *kids);
        if (d->n) memcpy(names, d->names, d->n * sizeof *names);
        d->kids = kids;
        d->names = names;
        d->cap = cap;
    }
    d->names[d->n] = name;
    d->kids[d->n++] = kid;
}

struct doc **doc_find(const struct doc *d, span name)
{
    for (uint32_t i = 0; i < d->n; i++)
        if (span_eq(d->names[i], name)) return &d->kids[i];
    return NULL;
}

struct doc *doc_dup(struct arena *a, const struct doc *d)
{
    struct doc *to = take(a, sizeof *to);
    *to = *d;
    to->kids = NULL;
    to->n = to->cap = 0;
    for (uint32_t i = 0; i < d->n; i++) doc_add(a, to, d->names[i], doc_dup(a, d->kids[i]));
    return to;
}

/* ---- text to tree ---- */

struct reader {
    struct arena *a;
    const char *all, *at;
};

static _Noreturn void bad(const struct reader *r)
{
    fail_msg("doc: cannot read \"%s\" at \"%s\"", r->all, r->at);
    abort();
}

static void skip_space(struct reader *r)
{
    while (isspace((unsigned char)*r->at)) r->at++;
}

static bool accept(struct reader *r, char c)
{
    skip_space(r);
    if (*r->at != c) return false;
    r->at++;
    return true;
}

static unsigned hex(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
}

static span read_quoted(struct reader *r)
{
    uint8_t *p = take(r->a, strlen(r->at) + 1);
    size_t n = 0;
    if (!accept(r, '\'')) bad(r);
    for (; *r->at != '\''; r->at++) {
        if (!*r->at) bad(r);
        p[n] = (uint8_t)*r->at;
        if (*r->at == '\\') {
            p[n] = (uint8_t)(hex(r->at[1]) << 4 | hex(r->at[2]));
            r->at += 2;
        }
        n++;
    }
    r->at++;
    return SPAN(p, n);
}

static span read_word(struct reader *r)
{
    skip_space(r);
    const char *from = r->at;
    while (isalnum((unsigned char)*r->at) || *r->at == '_' || *r->at == '.' || *r->at == '-' ||
           *r->at == '+')
        r->at++;
    if (r->at == from) bad(r);
    return dup_bytes(r->a, SPAN(from, (size_t)(r->at - from)));
}

static struct doc *read_value(struct reader *r);

static struct doc *read_box(struct reader *r, enum val_type type, char end)
{
    struct doc *d = doc_new(r->a, type);
    if (accept(r, end)) return d;
    do {
        span name = SPAN_NONE;
        if (type == VAL_M) {
            skip_space(r);
            name = *r->at == '\'' ? read_quoted(r) : read_word(r);
            if (!accept(r, ':')) bad(r);
        }
        doc_add(r->a, d, name, read_value(r));
    } while (accept(r, ','));
    if (!accept(r, end)) bad(r);
    if (type == VAL_SS) d->type = d->kids[0]->type + (VAL_SS - VAL_S);
    return d;
}

static struct doc *read_value(struct reader *r)
{
    skip_space(r);
    if (accept(r, '{')) return read_box(r, VAL_M, '}');
    if (accept(r, '[')) return read_box(r, VAL_L, ']');
    if (accept(r, '<')) return read_box(r, VAL_SS, '>');
    if (*r->at == '\'') return scalar(r->a, VAL_S, read_quoted(r));
    if (r->at[0] == 'b' && r->at[1] == '\'') {
        r->at++;
        return scalar(r->a, VAL_B, read_quoted(r));
    }
    span word = read_word(r);
    if (isdigit((unsigned char)*(const char *)word.p) || *(const char *)word.p == '-')
        return scalar(r->a, VAL_N, word);
    if (span_eq(word, SPAN_LIT("null"))) return doc_new(r->a, VAL_NULL);
    struct doc *d = doc_new(r->a, VAL_BOOL);
    d->truth = span_eq(word, SPAN_LIT("true"));
    if (!d->truth && !span_eq(word, SPAN_LIT("false"))) bad(r);
    return d;
}

struct doc *doc_parse(struct arena *a, const char *text)
{
    struct reader r = {a, text, text};
    struct doc *d = read_value(&r);
    skip_space(&r);
    if (*r.at) bad(&r);
    return d;
}

/* ---- tree to text ---- */

static bool is_bare(span name)
{
    const char *p = name.p;
    for (size_t i = 0; i < name.n; i++)
        if (!isalnum((unsigned char)p[i]) && p[i] != '_') return false;
    return name.n > 0;
}

static void print_quoted(struct buf *b, span s)
{
    buf_put_u8(b, '\'');
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = ((const uint8_t *)s.p)[i];
        if (c >= ' ' && c < 0x7F && c != '\'' && c != '\\')
            buf_put_u8(b, c);
        else
            buf_printf(b, "\\%02x", c);
    }
    buf_put_u8(b, '\'');
}

/* Which of two members or names comes first; numbers of tests are small. */
static bool is_before(const struct doc *d, uint32_t i, uint32_t j)
{
    if (d->type == VAL_M) return span_cmp(d->names[i], d->names[j]) < 0;
    if (d->type != VAL_NS) return span_cmp(d->kids[i]->bytes, d->kids[j]->bytes) < 0;
    char x[64], y[64];
    snprintf(x, sizeof x, "%.*s", SPAN_ARG(d->kids[i]->bytes));
    snprintf(y, sizeof y, "%.*s", SPAN_ARG(d->kids[j]->bytes));
    return strtod(x, NULL) < strtod(y, NULL);
}

/* The kids by name or member; those of a list as they are. */
static uint32_t *in_order(struct arena *a, const struct doc *d)
{
    uint32_t *order = take(a, d->n * sizeof *order);
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t at = i;
        for (; d->type != VAL_L && at > 0 && is_before(d, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

static void print(struct buf *b, const struct doc *d);

static void print_box(struct buf *b, const struct doc *d, const char *ends)
{
    uint32_t *order = in_order(b->arena, d);
    buf_put_u8(b, (uint8_t)ends[0]);
    for (uint32_t rank = 0; rank < d->n; rank++) {
        uint32_t i = order[rank];
        if (rank) buf_put(b, ", ", 2);
        if (d->type == VAL_M && is_bare(d->names[i]))
            buf_put_span(b, d->names[i]);
        else if (d->type == VAL_M)
            print_quoted(b, d->names[i]);
        if (d->type == VAL_M) buf_put(b, ": ", 2);
        print(b, d->kids[i]);
    }
    buf_put_u8(b, (uint8_t)ends[1]);
}

static void print(struct buf *b, const struct doc *d)
{
    switch (d->type) {
    case VAL_B:
        buf_put_u8(b, 'b');
        print_quoted(b, d->bytes);
        return;
    case VAL_S:
        print_quoted(b, d->bytes);
        return;
    case VAL_N:
        buf_put_span(b, d->bytes);
        return;
    case VAL_BOOL:
        buf_printf(b, "%s", d->truth ? "true" : "false");
        return;
    case VAL_NULL:
        buf_printf(b, "null");
        return;
    default:
        print_box(b, d, d->type == VAL_M ? "{}" : d->type == VAL_L ? "[]" : "<>");
    }
}

const char *doc_print(struct arena *a, const struct doc *d)
{
    struct buf b;
    buf_init(&b, a, 64 << 20);
    print(&b, d);
    buf_put_u8(&b, 0);
    if (b.failed) fail_msg("doc: out of memory");
    return (const char *)b.p;
}

/* ---- encoded ---- */

void doc_build(const struct doc *d, struct vb *b)
{
    switch (d->type) {
    case VAL_S:
        vb_s(b, d->bytes);
        return;
    case VAL_N:
        vb_n_text(b, d->bytes);
        return;
    case VAL_B:
        vb_b(b, d->bytes);
        return;
    case VAL_BOOL:
        vb_bool(b, d->truth);
        return;
    case VAL_NULL:
        vb_null(b);
        return;
    case VAL_M:
        vb_map_begin(b);
        break;
    case VAL_L:
        vb_list_begin(b);
        break;
    default:
        vb_set_begin(b, d->type);
    }
    for (uint32_t i = 0; i < d->n; i++) {
        if (d->type == VAL_M) vb_name(b, d->names[i]);
        doc_build(d->kids[i], b);
    }
    vb_end(b);
}

static void begin_build(struct arena *a, sheaf_error *err, struct ctx *c, struct vb *b)
{
    *c = (struct ctx){a, err};
    vb_init(b, c, 16 << 20);
}

val doc_val(struct arena *a, const struct doc *d)
{
    sheaf_error err;
    struct ctx c;
    struct vb b;
    val v;
    begin_build(a, &err, &c, &b);
    doc_build(d, &b);
    if (vb_finish(&b, &v) != SHEAF_OK) fail_msg("doc: %s", err.message);
    return v;
}

span doc_item(struct arena *a, const struct doc *d)
{
    sheaf_error err;
    struct ctx c;
    struct vb b;
    span item;
    begin_build(a, &err, &c, &b);
    doc_build(d, &b);
    if (vb_finish_item(&b, &item) != SHEAF_OK) fail_msg("doc: %s", err.message);
    return item;
}

static struct doc *number_of(struct arena *a, span enc)
{
    char text[NUM_TEXT_MAX];
    return scalar(a, VAL_N, SPAN(text, num_format_encoded(enc, text)));
}

static struct doc *member_of(struct arena *a, val v, uint32_t i)
{
    span m = val_member_at(v, i);
    if (val_type(v) == VAL_NS) return number_of(a, m);
    return scalar(a, val_type(v) == VAL_SS ? VAL_S : VAL_B, m);
}

struct doc *doc_of(struct arena *a, val v)
{
    enum val_type type = val_type(v);
    if (type == VAL_N) return number_of(a, val_bytes(v));
    if (type == VAL_S || type == VAL_B) return scalar(a, type, val_bytes(v));
    struct doc *d = doc_new(a, type);
    if (type == VAL_BOOL) d->truth = val_bool(v);
    if (type == VAL_BOOL || type == VAL_NULL) return d;
    for (uint32_t i = 0; i < val_count(v); i++) {
        bool is_document = type == VAL_M || type == VAL_L;
        doc_add(a, d, type == VAL_M ? val_name_at(v, i) : SPAN_NONE,
                is_document ? doc_of(a, val_at(v, i)) : member_of(a, v, i));
    }
    return d;
}

val doc_text_val(struct arena *a, const char *text) { return doc_val(a, doc_parse(a, text)); }

span doc_text_item(struct arena *a, const char *text) { return doc_item(a, doc_parse(a, text)); }

const char *doc_val_text(struct arena *a, val v) { return doc_print(a, doc_of(a, v)); }
