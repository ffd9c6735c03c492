/* Turns TagResource and its like into a table with other tags. Know before editing: tags are part
 * of the table's row in the catalog, so they are as durable as it, change in one commit and go with
 * it. A request is judged whole before the table is looked up, and nothing of a refused one stays.
 */
#include "base/limits.h"
#include "base/utf8.h"
#include "core/tables.h"

#include <assert.h>
#include <stdlib.h>
#include <strings.h>

#define INVALID "One or more parameter values were invalid: "

/* ---- characters ---- */

/* The service takes letters, digits and spaces of every script and + - = . _ : / @. Beyond ASCII
 * these are the blocks that have none, or hardly any: punctuation, symbols, pictures and what is
 * nobody's. */
static const struct range {
    uint32_t first, last;
} symbols[] = {
    {0x00, 0x1F},     {0x21, 0x2A},       {0x2C, 0x2C},       {0x3B, 0x3C},       {0x3E, 0x3F},
    {0x5B, 0x5E},     {0x60, 0x60},       {0x7B, 0x9F},       {0xA1, 0xA9},       {0xAB, 0xB1},
    {0xB4, 0xB4},     {0xB6, 0xB8},       {0xBB, 0xBB},       {0xBF, 0xBF},       {0xD7, 0xD7},
    {0xF7, 0xF7},     {0x200B, 0x2027},   {0x202A, 0x202E},   {0x2030, 0x205E},   {0x2060, 0x206F},
    {0x20A0, 0x20FF}, {0x2190, 0x245F},   {0x249C, 0x24E9},   {0x2500, 0x2775},   {0x2794, 0x2BFF},
    {0x2E00, 0x2E7F}, {0x3001, 0x3004},   {0x3008, 0x3020},   {0xD800, 0xF8FF},   {0xFE00, 0xFE6F},
    {0xFEFF, 0xFEFF}, {0xFF01, 0xFF0F},   {0xFF1A, 0xFF20},   {0xFF3B, 0xFF40},   {0xFF5B, 0xFF65},
    {0xFFE0, 0xFFFF}, {0x1F000, 0x1F0FF}, {0x1F110, 0x1FAFF}, {0xE0000, 0x10FFFF}};

static bool is_tag_char(uint32_t ch)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (ch >= symbols[i].first && ch <= symbols[i].last) return false;
    return true;
}

/* The character at *at of well-formed UTF-8, and on behind it. */
static uint32_t next_char(span s, size_t *at)
{
    const uint8_t *p = (const uint8_t *)s.p + *at;
    unsigned n = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    uint32_t ch = n == 1 ? p[0] : p[0] & (0xFFu >> (n + 1));
    for (unsigned i = 1; i < n; i++) ch = ch << 6 | (p[i] & 0x3F);
    *at += n;
    assert(*at <= s.n);
    return ch;
}

/* Lengths count characters, not bytes. */
static bool is_tag_text(span s, size_t min, size_t max)
{
    size_t n = 0;
    if (!s.p || s.n > 4 * max || !utf8_check(s)) return false;
    for (size_t at = 0; at < s.n; n++)
        if (!is_tag_char(next_char(s, &at))) return false;
    return n >= min && n <= max;
}

/* ---- checks ---- */

static span or_null(span s) { return s.p ? s : SPAN_LIT("null"); }

static sheaf_rc check_key(struct ctx *c, span key)
{
    if (!is_tag_text(key, 1, LIMIT_TAG_KEY))
        return err_validation(c->err, "The Tag Key provided is invalid, Key: %.*s",
                              SPAN_ARG(or_null(key)));
    if (key.n >= 4 && strncasecmp(key.p, "aws:", 4) == 0)
        return err_validation(c->err, "Tag Key cannot be prefixed with aws:, Key: %.*s",
                              SPAN_ARG(key));
    return SHEAF_OK;
}

static sheaf_rc too_many(struct ctx *c)
{
    return err_validation(c->err,
                          "Number of Tags exceed the current limit for the provided ResourceArn");
}

static const struct core_tag *find(const struct core_tag *tags, uint32_t n, span key)
{
    for (uint32_t i = 0; i < n; i++)
        if (span_eq(tags[i].key, key)) return &tags[i];
    return NULL;
}

sheaf_rc tags_check(struct ctx *c, const struct core_tag *tags, uint32_t n)
{
    if (n > LIMIT_TAGS) return too_many(c);
    for (uint32_t i = 0; i < n; i++) {
        TRY(check_key(c, tags[i].key));
        if (!is_tag_text(tags[i].value, 0, LIMIT_TAG_VALUE))
            return err_validation(c->err, "The Tag Value provided is invalid, Value: %.*s",
                                  SPAN_ARG(or_null(tags[i].value)));
        if (find(tags, i, tags[i].key))
            return err_validation(c->err,
                                  "Duplicate Tag Keys provided as input: Duplicate Tag Key found "
                                  "%.*s",
                                  SPAN_ARG(tags[i].key));
    }
    return SHEAF_OK;
}

/* ---- whose tags ---- */

static span after(span s, const char *prefix)
{
    size_t n = strlen(prefix);
    return span_starts(s, SPAN(prefix, n)) ? span_from(s, n) : SPAN_NONE;
}

static bool has(span s, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= s.n; i++)
        if (memcmp((const char *)s.p + i, part, n) == 0) return true;
    return false;
}

/* A table's ARN, or its name. */
static sheaf_rc check_resource(struct ctx *c, span table)
{
    if (!table.p) return err_validation(c->err, "Invalid TableArn");
    if (!span_starts(table, SPAN_LIT("arn:"))) return tables_check_name(c, table);
    if (!after(table, "arn:aws:dynamodb:").p || !has(table, ":table/"))
        return err_validation(c->err, INVALID "Provided Arn is not a DynamoDB resource arn: %.*s",
                              SPAN_ARG(table));
    if (has(table, "/index/"))
        return err_validation(c->err,
                              INVALID "Invalid resource arn provided, only table or stream is "
                                      "accepted. Provided resource arn: %.*s",
                              SPAN_ARG(table));
    return SHEAF_OK;
}

static sheaf_rc not_found(struct ctx *c, span table)
{
    return err_set(c->err, SHEAF_RESOURCE_NOT_FOUND,
                   "Requested resource not found: ResourceArn: %.*s not found", SPAN_ARG(table));
}

/* ---- changing ---- */

static int by_key(const void *a, const void *b)
{
    return span_cmp(((const struct core_tag *)a)->key, ((const struct core_tag *)b)->key);
}

void tags_sort(struct core_tag *tags, uint32_t n)
{
    if (n > 1) qsort(tags, n, sizeof *tags, by_key);
}

/* Tags to set, keys to remove; one of the two lists is empty. */
struct tag_change {
    span table;
    const struct core_tag *set;
    uint32_t n_set;
    const span *gone;
    uint32_t n_gone;
};

static bool is_gone(const struct tag_change *q, span key)
{
    for (uint32_t i = 0; i < q->n_gone; i++)
        if (span_eq(q->gone[i], key)) return true;
    return find(q->set, q->n_set, key) != NULL;
}

/* What stays, then what is set. */
static sheaf_rc apply(struct ctx *c, struct table *t, const struct tag_change *q)
{
    struct core_tag *all = ARENA_ARRAY(&t->arena, struct core_tag, t->n_tags + q->n_set + 1);
    struct core_tag *set;
    uint32_t n = 0;
    if (!all || !table_dup_tags(&t->arena, q->set, q->n_set, &set)) return err_nomem(c->err);
    for (uint32_t i = 0; i < t->n_tags; i++)
        if (!is_gone(q, t->tags[i].key)) all[n++] = t->tags[i];
    for (uint32_t i = 0; i < q->n_set; i++) all[n++] = set[i];
    if (n > LIMIT_TAGS) return too_many(c);
    tags_sort(all, n);
    t->tags = all;
    t->n_tags = n;
    return SHEAF_OK;
}

static sheaf_rc change_entered(struct core *core, struct ctx *c, const struct tag_change *q,
                               sheaf_position *position_out)
{
    struct table *t = cat_find_entered(core, q->table), *next = NULL;
    sheaf_rc rc;
    if (!t) return not_found(c, q->table);
    TRY_OUT(table_copy(t, &next, c->err));
    TRY_OUT(apply(c, next, q));
    TRY_OUT(cat_install(core, t, next, position_out, c->err));
out:
    if (rc != SHEAF_OK) table_unref(next);
    table_unref(t);
    return rc;
}

static sheaf_rc change(struct core *core, struct ctx *c, const struct tag_change *q,
                       sheaf_position *position_out)
{
    cat_enter_exclusive(core);
    sheaf_rc rc = change_entered(core, c, q, position_out);
    cat_leave_exclusive(core);
    if (rc != SHEAF_OK) *position_out = eng_visible(core->engine);
    return rc;
}

/* ---- operations ---- */

sheaf_rc core_tag(struct core *core, struct ctx *c, span table, const struct core_tag *tags,
                  uint32_t n, sheaf_position *position_out)
{
    *position_out = 0;
    TRY(faults_check(core, "TagResource", table, c->err));
    TRY(check_resource(c, table));
    if (n == 0) return err_validation(c->err, "Atleast one Tag needs to be provided as Input.");
    TRY(tags_check(c, tags, n));
    return change(core, c, &(struct tag_change){.table = table, .set = tags, .n_set = n},
                  position_out);
}

sheaf_rc core_untag(struct core *core, struct ctx *c, span table, const span *keys, uint32_t n,
                    sheaf_position *position_out)
{
    *position_out = 0;
    TRY(faults_check(core, "UntagResource", table, c->err));
    TRY(check_resource(c, table));
    if (n == 0) return err_validation(c->err, "Atleast one Tag Key needs to be provided as Input.");
    if (n > LIMIT_TAGS) return too_many(c);
    for (uint32_t i = 0; i < n; i++) TRY(check_key(c, keys[i]));
    return change(core, c, &(struct tag_change){.table = table, .gone = keys, .n_gone = n},
                  position_out);
}

static sheaf_rc take_page(struct ctx *c, const struct table *t, const struct core_list_tags *q,
                          struct core_tags_outcome *out)
{
    uint32_t from = 0;
    while (q->after.p && from < t->n_tags && span_cmp(t->tags[from].key, q->after) <= 0) from++;
    uint32_t n = t->n_tags - from;
    if (q->limit && n > q->limit) n = q->limit;
    if (!table_dup_tags(c->arena, t->tags + from, n, &out->tags)) return err_nomem(c->err);
    out->n = n;
    if (from + n < t->n_tags) out->last = out->tags[n - 1].key;
    return SHEAF_OK;
}

sheaf_rc core_list_tags(struct core *core, struct ctx *c, const struct core_list_tags *q,
                        struct core_tags_outcome *out)
{
    struct core_tags_outcome answer = {.n = 0};
    *out = answer;
    TRY(faults_check(core, "ListTagsOfResource", q->table, c->err));
    TRY(check_resource(c, q->table));
    struct table *t = cat_find(core, q->table);
    sheaf_rc rc = t ? take_page(c, t, q, &answer) : not_found(c, q->table);
    table_unref(t);
    if (rc == SHEAF_OK) *out = answer;
    out->position = eng_visible(core->engine);
    return rc;
}
