/* http/parse.h: llhttp over a head that the scan has accepted. */
#ifndef HTTP_PARSE_H
#define HTTP_PARSE_H

#include "http/http.h"
#include "http/scan.h"

/* Fills method, target, path, query and headers of r. `head` is the arena's copy of the bytes from
 * the request line on; r's spans point into it and names are lowered in it. 0, or the status to
 * refuse with: 400 when llhttp does not read the head as the scan did, 503 when memory is out. */
int parse_head(struct arena *arena, uint8_t *head, size_t n, const struct scan *s,
               struct http_request *r);
/* The path and the query of a target in origin, absolute or asterisk form. */
void parse_target(span target, span *path_out, span *query_out);

#endif
