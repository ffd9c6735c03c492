/* Turns texts into Query and Scan requests, and pages into texts. */
#include "support/pages.h"

static span text_or_none(const char *s) { return s ? span_cstr(s) : SPAN_NONE; }

sheaf_rc page_send(struct core_test *t, const struct page_req *r, struct core_page *out)
{
    struct core_query q = {.table = span_cstr(r->table ? r->table : "T"),
                           .index = text_or_none(r->index),
                           .is_scan = r->is_scan,
                           .key_condition = text_or_none(r->condition),
                           .filter = text_or_none(r->filter),
                           .projection = text_or_none(r->projection),
                           .env = test_env(&t->arena, r->names, r->values),
                           .start_key = r->start ? test_item(t, r->start) : r->start_item,
                           .select = r->select,
                           .limit = r->limit,
                           .has_segment = r->has_segment,
                           .segment = r->segment,
                           .n_segments = r->n_segments,
                           .is_backward = r->is_backward,
                           .is_consistent = r->is_consistent,
                           .capacity = r->capacity};
    err_clear(&t->err);
    return core_query(t->core, &t->ctx, &q, out);
}

void page_must(struct core_test *t, const struct page_req *r, struct core_page *out)
{
    if (page_send(t, r, out) != SHEAF_OK)
        fail_msg("%s %s: %s", r->condition ? r->condition : "scan", r->filter ? r->filter : "",
                 t->err.message);
}

const char *page_text(struct core_test *t, const struct core_page *page)
{
    struct buf b;
    buf_init(&b, &t->arena, 64 << 20);
    if (!page->items) return "-";
    for (uint32_t i = 0; i < page->n; i++)
        buf_printf(&b, "%s%s", i ? " " : "", test_text(t, page->items[i]));
    buf_put_u8(&b, 0);
    assert_false(b.failed);
    return (const char *)b.p;
}

const char *page_list(struct core_test *t, const struct core_page *page, const char *attribute)
{
    struct buf b;
    buf_init(&b, &t->arena, 64 << 20);
    for (uint32_t i = 0; i < page->n; i++) {
        val v = val_find(item_map(page->items[i]), span_cstr(attribute));
        const char *text = v.p ? doc_val_text(&t->arena, v) : "?";
        bool is_quoted = text[0] == '\'';
        buf_printf(&b, "%s%.*s", i ? " " : "", (int)(strlen(text) - (is_quoted ? 2 : 0)),
                   text + is_quoted);
    }
    buf_put_u8(&b, 0);
    assert_false(b.failed);
    return (const char *)b.p;
}
