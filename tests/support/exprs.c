/* Turns maps written as text into the placeholders of a request, and seeds into documents, paths
 * and naive answers about them. */
#include "support/exprs.h"

void request_init(struct request *r)
{
    *r = (struct request){0};
    arena_init(&r->arena, (size_t)256 << 20);
    r->ctx = (struct ctx){&r->arena, &r->err};
}

void request_deinit(struct request *r) { arena_deinit(&r->arena); }

static span with_sign(struct arena *a, char sign, span name)
{
    char *p = arena_alloc(a, name.n + 1);
    assert_non_null(p);
    p[0] = sign;
    memcpy(p + 1, name.p, name.n);
    return SPAN(p, name.n + 1);
}

void request_env(struct request *r, const char *names, const char *values)
{
    const struct doc *n = doc_parse(&r->arena, names ? names : "{}");
    const struct doc *v = doc_parse(&r->arena, values ? values : "{}");
    r->env = (struct expr_env){.n_names = n->n, .n_values = v->n};
    r->env.has_names = names != NULL;
    r->env.has_values = values != NULL;
    r->env.names = ARENA_ARRAY(&r->arena, struct expr_name, n->n + 1);
    r->env.values = ARENA_ARRAY(&r->arena, struct expr_value, v->n + 1);
    assert_true(r->env.names && r->env.values);
    for (uint32_t i = 0; i < n->n; i++)
        r->env.names[i] = (struct expr_name){.placeholder = with_sign(&r->arena, '#', n->names[i]),
                                             .name = n->kids[i]->bytes};
    for (uint32_t i = 0; i < v->n; i++)
        r->env.values[i] =
            (struct expr_value){.placeholder = with_sign(&r->arena, ':', v->names[i]),
                                .value = doc_val(&r->arena, v->kids[i])};
}

void sources_count(struct sources *s, const char *source)
{
    s->rows++;
    s->unverified += source == NULL;
}

void sources_print(const struct sources *s, const char *what)
{
    printf("%s: %u rows, %u of them unverified\n", what, s->rows, s->unverified);
}

/* ---- random documents and paths ---- */

static const char *const names[] = {"a", "b", "cc", "d1", "x y", "\xc3\xa9", "aa"};
enum { N_NAMES = sizeof names / sizeof names[0] };

static span random_name(struct rng *r) { return span_cstr(names[rng_below(r, N_NAMES)]); }

static struct doc *random_member(struct arena *a, struct rng *r, enum val_type set)
{
    char text[8];
    if (set == VAL_NS) return doc_number(a, (long long)rng_below(r, 9) - 4);
    snprintf(text, sizeof text, "%.*s", (int)rng_below(r, 3), &"pqr"[rng_below(r, 2)]);
    struct doc *d = doc_string(a, text);
    d->type = set == VAL_SS ? VAL_S : VAL_B;
    return d;
}

static struct doc *random_set(struct arena *a, struct rng *r, enum val_type set)
{
    struct doc *d = doc_new(a, set);
    for (uint64_t n = 1 + rng_below(r, 4); n > 0; n--) {
        struct doc *m = random_member(a, r, set);
        bool is_there = false;
        for (uint32_t i = 0; i < d->n; i++) is_there |= span_eq(d->kids[i]->bytes, m->bytes);
        if (!is_there) doc_add(a, d, SPAN_NONE, m);
    }
    return d;
}

static struct doc *random_box(struct arena *a, struct rng *r, enum val_type type, uint32_t depth)
{
    struct doc *d = doc_new(a, type);
    for (uint64_t n = rng_below(r, 5); n > 0; n--) {
        span name = type == VAL_M ? random_name(r) : SPAN_NONE;
        if (type == VAL_M && doc_find(d, name)) continue;
        doc_add(a, d, name, random_doc(a, r, depth - 1));
    }
    return d;
}

struct doc *random_doc(struct arena *a, struct rng *r, uint32_t depth)
{
    uint64_t pick = rng_below(r, depth ? 14 : 8);
    if (pick >= 11) return random_box(a, r, VAL_M, depth);
    if (pick >= 8) return random_box(a, r, VAL_L, depth);
    if (pick >= 5) return random_set(a, r, VAL_SS + (unsigned)pick - 5);
    if (pick == 4) return doc_new(a, rng_below(r, 2) ? VAL_NULL : VAL_BOOL);
    if (pick == 3) return doc_string(a, "s");
    return doc_number(a, (long long)rng_below(r, 200) - 100);
}

struct doc *random_item(struct arena *a, struct rng *r)
{
    struct doc *d = random_box(a, r, VAL_M, 5);
    for (int i = 0; i < 2; i++) {
        span name = random_name(r);
        if (!doc_find(d, name)) doc_add(a, d, name, random_box(a, r, VAL_M - (unsigned)i, 4));
    }
    return d;
}

/* A step into the document, or beside it. */
static struct path_step random_step(struct rng *r, const struct doc *d, bool is_first)
{
    bool is_box = d && (d->type == VAL_M || d->type == VAL_L);
    bool is_hit = is_box && d->n > 0 && rng_below(r, 40) > 0;
    uint32_t at = is_hit ? (uint32_t)rng_below(r, d->n) : 0;
    bool is_name =
        is_first || (is_box && rng_below(r, 40) > 0 ? d->type == VAL_M : rng_below(r, 2));
    if (is_name)
        return (struct path_step){.name =
                                      is_hit && d->type == VAL_M ? d->names[at] : random_name(r)};
    return (struct path_step){.index = is_hit ? at : (uint32_t)rng_below(r, 9)};
}

struct path random_path(struct arena *a, struct rng *r, const struct doc *item)
{
    struct path_step *steps = ARENA_ARRAY(a, struct path_step, 8);
    assert_non_null(steps);
    struct path path = {steps, 0};
    struct doc *at = (struct doc *)(uintptr_t)item;
    do {
        steps[path.n] = random_step(r, at, path.n == 0);
        path.n++;
        at = naive_get((struct doc *)(uintptr_t)item, &path, path.n);
    } while (path.n < 8 && rng_below(r, at && at->n ? 10 : 2) > 2);
    return path;
}

void random_path_print(struct rng *r, const struct path *path, struct buf *out)
{
    for (uint32_t i = 0; i < path->n; i++) {
        const struct path_step *step = &path->steps[i];
        if (!step->name.p) {
            buf_printf(out, "[%u]", step->index);
            continue;
        }
        if (i) buf_put_u8(out, '.');
        if (span_eq(step->name, SPAN_LIT("x y")))
            buf_printf(out, "#n0");
        else if (span_eq(step->name, SPAN_LIT("\xc3\xa9")))
            buf_printf(out, "#n1");
        else if (span_eq(step->name, SPAN_LIT("a")) && rng_below(r, 2))
            buf_printf(out, "#n2");
        else
            buf_put_span(out, step->name);
    }
}

enum clash naive_clash(const struct path *a, const struct path *b)
{
    for (uint32_t i = 0; i < a->n && i < b->n; i++) {
        const struct path_step *x = &a->steps[i], *y = &b->steps[i];
        if (!x->name.p != !y->name.p) return CLASH_CONFLICT;
        if (x->name.p ? !span_eq(x->name, y->name) : x->index != y->index) return CLASH_NONE;
    }
    return CLASH_OVERLAP;
}

struct doc *naive_get(struct doc *item, const struct path *path, uint32_t n_steps)
{
    struct doc *at = item;
    for (uint32_t i = 0; at && i < n_steps; i++) {
        const struct path_step *step = &path->steps[i];
        if (step->name.p) {
            struct doc **kid = at->type == VAL_M ? doc_find(at, step->name) : NULL;
            at = kid ? *kid : NULL;
        } else {
            at = at->type == VAL_L && step->index < at->n ? at->kids[step->index] : NULL;
        }
    }
    return at;
}
