/* Answers number.py line by line, so that Python's decimal can judge value/num.
 *
 *      P text      parse        ->  canonical text, then the encoded bytes in hex
 *      A a b       a + b        ->  canonical text
 *      S a b       a - b        ->  canonical text
 *      C a b       compare      ->  <, = or >; the order of the bytes must agree
 *
 * An error is answered by one word for its message. An answer of "! …" is a contradiction found
 * here: formatting from bytes differs, bytes do not decode to the number, order disagrees.
 */
#include "value/num.h"

#include <stdio.h>
#include <stdlib.h>

struct answer {
    char text[2 * NUM_TEXT_MAX + 2 * NUM_ENC_MAX];
    size_t n;
};

static void say(struct answer *a, const char *text)
{
    a->n = strlen(text);
    memcpy(a->text, text, a->n);
}

static void say_error(struct answer *a, const sheaf_error *err)
{
    if (strncmp(err->message, "Number overflow.", 16) == 0)
        say(a, "overflow");
    else if (strncmp(err->message, "Number underflow.", 17) == 0)
        say(a, "underflow");
    else if (strncmp(err->message, "Attempting to store more than 38", 32) == 0)
        say(a, "digits");
    else if (strncmp(err->message, "The parameter cannot be", 23) == 0)
        say(a, "numeric");
    else
        say(a, "! unknown message");
}

/* Canonical text, by two ways that must agree. */
static void say_number(struct answer *a, const struct num *x, bool with_bytes)
{
    uint8_t enc[NUM_ENC_MAX];
    char direct[NUM_TEXT_MAX];
    struct num back;
    span bytes = SPAN(enc, num_encode(x, enc));
    a->n = num_format(x, a->text);
    size_t n = num_format_encoded(bytes, direct);
    if (!span_eq(SPAN(a->text, a->n), SPAN(direct, n))) {
        say(a, "! text from bytes differs");
        return;
    }
    if (!num_decode(bytes, &back) || back.coef != x->coef || back.exp != x->exp) {
        say(a, "! bytes decode to another number");
        return;
    }
    if (!with_bytes) return;
    a->text[a->n++] = ' ';
    for (size_t i = 0; i < bytes.n; i++) {
        a->text[a->n++] = "0123456789ABCDEF"[enc[i] >> 4];
        a->text[a->n++] = "0123456789ABCDEF"[enc[i] & 15];
    }
}

static void compare(const struct num *x, const struct num *y, struct answer *out)
{
    uint8_t ex[NUM_ENC_MAX], ey[NUM_ENC_MAX];
    int c = num_cmp(x, y);
    int b = span_cmp(SPAN(ex, num_encode(x, ex)), SPAN(ey, num_encode(y, ey)));
    if ((c < 0) != (b < 0) || (c > 0) != (b > 0))
        say(out, "! order of bytes differs");
    else
        say(out, c < 0 ? "<" : c > 0 ? ">" : "=");
}

static void answer_one(char op, span text, struct answer *out)
{
    struct num a, b, c;
    sheaf_error err;
    const char *gap = op == 'P' ? NULL : memchr(text.p, ' ', text.n);
    span first = text, second = SPAN_NONE;
    if (gap) {
        first.n = (size_t)(gap - (const char *)text.p);
        second = span_from(text, first.n + 1);
    }
    sheaf_rc rc = num_parse(first, &a, &err);
    if (rc == SHEAF_OK && op != 'P') rc = num_parse(second, &b, &err);
    if (rc == SHEAF_OK && op == 'A') rc = num_add(&a, &b, &c, &err);
    if (rc == SHEAF_OK && op == 'S') rc = num_sub(&a, &b, &c, &err);
    if (rc != SHEAF_OK)
        say_error(out, &err);
    else if (op == 'P')
        say_number(out, &a, true);
    else if (op == 'C')
        compare(&a, &b, out);
    else
        say_number(out, &c, false);
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    while ((n = getline(&line, &cap, stdin)) > 0) {
        if (line[n - 1] == '\n') n--;
        if (n < 2) return 2;
        struct answer out;
        answer_one(line[0], SPAN(line + 2, (size_t)n - 2), &out);
        out.text[out.n++] = '\n';
        if (fwrite(out.text, 1, out.n, stdout) != out.n) return 1;
    }
    free(line);
    return fflush(stdout) == 0 ? 0 : 1;
}
