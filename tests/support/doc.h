/* tests/support/doc.h: attribute values as a plain tree, with a text form to write tests in and a
 * bridge to the encoding. The tree is what a naive reference works on: no order to keep, no bytes.
 *
 *      'text'  12.5  b'bytes'  true  false  null
 *      {a: 1, 'b c': 2}   [1, 2]   <'a', 'b'>  <1, 2>  <b'a'>        map, list, sets
 *
 * Bytes in quotes stand for themselves; \xx with two hex digits for any other. A tree is made for
 * an arena of the caller's and dies with it; out of memory fails the test. */
#ifndef TESTS_DOC_H
#define TESTS_DOC_H

#include "value/build.h"

struct doc {
    enum val_type type;
    span bytes; /* of S and B; of N its digits */
    bool truth; /* of BOOL */
    struct doc **kids;
    span *names; /* of M */
    uint32_t n, cap;
};

/* Fails the test when the text is not one value. */
struct doc *doc_parse(struct arena *a, const char *text);
/* NUL-terminated; maps by name and sets by member, so that equal values print alike. */
const char *doc_print(struct arena *a, const struct doc *d);
struct doc *doc_dup(struct arena *a, const struct doc *d);

struct doc *doc_new(struct arena *a, enum val_type type);
struct doc *doc_number(struct arena *a, long long v);
struct doc *doc_string(struct arena *a, const char *text);
/* Appends; `name` for maps only. */
void doc_add(struct arena *a, struct doc *d, span name, struct doc *kid);
/* Of a map; NULL when it has no such name. */
struct doc **doc_find(const struct doc *d, span name);

void doc_build(const struct doc *d, struct vb *b);
val doc_val(struct arena *a, const struct doc *d);
span doc_item(struct arena *a, const struct doc *d);
struct doc *doc_of(struct arena *a, val v);

/* The shortest ways: text to encoded, encoded to text. */
val doc_text_val(struct arena *a, const char *text);
span doc_text_item(struct arena *a, const char *text);
const char *doc_val_text(struct arena *a, val v);

#endif
