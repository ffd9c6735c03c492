/* Turns the URL of a server into where to send, what the Host header says and, for AWS's own hosts,
 * the region and the host of the streams.
 *
 *   https://dynamodb.eu-west-1.amazonaws.com        region eu-west-1
 *   https://streams.dynamodb.eu-west-1.amazonaws.com   where its streams are
 */
#include "client/wire.h"

#include <stdio.h>
#include <strings.h>

static bool starts(const char *s, const char *prefix)
{
    return strncasecmp(s, prefix, strlen(prefix)) == 0;
}

bool client_is_url(const char *url) { return starts(url, "http://") || starts(url, "https://"); }

/* Letters, digits, dots and dashes, or an address in brackets. */
static bool is_host(span host)
{
    const char *p = host.p;
    bool is_v6 = host.n > 2 && p[0] == '[' && p[host.n - 1] == ']';
    const char *const also = is_v6 ? ":.[]" : ".-_";
    for (size_t i = 0; i < host.n; i++) {
        char ch = p[i];
        bool is_plain =
            (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9');
        if (!is_plain && (!ch || !strchr(also, ch))) return false;
    }
    return host.n > 0;
}

/* 1 … 65535; 0 when it is no port. */
static unsigned port_of(span digits)
{
    unsigned port = 0;
    const char *p = digits.p;
    if (digits.n == 0 || digits.n > 5) return 0;
    for (size_t i = 0; i < digits.n; i++) {
        if (p[i] < '0' || p[i] > '9') return 0;
        port = port * 10 + (unsigned)(p[i] - '0');
    }
    return port <= 65535 ? port : 0;
}

static bool is_loopback(span host)
{
    static const char *const names[] = {"localhost", "[::1]"};
    for (size_t i = 0; i < 2; i++)
        if (host.n == strlen(names[i]) && strncasecmp(host.p, names[i], host.n) == 0) return true;
    return span_starts(host, SPAN_LIT("127."));
}

/* The region of dynamodb.<region>.amazonaws.com, …amazonaws.com.cn, …api.aws. */
static void take_region(span host, struct endpoint *out)
{
    static const span head = {"dynamodb.", 9};
    if (!span_starts(host, head)) return;
    span rest = span_from(host, head.n);
    const char *dot = memchr(rest.p, '.', rest.n);
    size_t n = dot ? (size_t)(dot - (const char *)rest.p) : 0;
    span tail = dot ? span_from(rest, n) : SPAN_NONE;
    if (n == 0 || n >= sizeof out->region) return;
    if (!span_starts(tail, SPAN_LIT(".amazonaws.com")) && !span_eq(tail, SPAN_LIT(".api.aws")))
        return;
    memcpy(out->region, rest.p, n);
    out->region[n] = '\0';
}

static sheaf_rc refuse(sheaf_error *err, const char *url, const char *why)
{
    return err_validation(err, "%s: %s; a server is http://host[:port] or https://host[:port]", url,
                          why);
}

static sheaf_rc fill(struct endpoint *out, const char *url, bool is_https, span host, unsigned port,
                     sheaf_error *err)
{
    char suffix[8] = "";
    if (port && port != (is_https ? 443u : 80u)) snprintf(suffix, sizeof suffix, ":%u", port);
    *out = (struct endpoint){.is_loopback = is_loopback(host)};
    if (host.n + strlen(suffix) + strlen("streams.") >= sizeof out->host)
        return refuse(err, url, "the host is too long");
    take_region(host, out);
    const char *streams = *out->region ? "streams." : "", *scheme = is_https ? "https" : "http";
    snprintf(out->host, sizeof out->host, "%.*s%s", SPAN_ARG(host), suffix);
    snprintf(out->streams_host, sizeof out->streams_host, "%s%.*s%s", streams, SPAN_ARG(host),
             suffix);
    snprintf(out->url, sizeof out->url, "%s://%s/", scheme, out->host);
    snprintf(out->streams_url, sizeof out->streams_url, "%s://%s/", scheme, out->streams_host);
    return SHEAF_OK;
}

sheaf_rc endpoint_parse(const char *url, struct endpoint *out, sheaf_error *err)
{
    bool is_https = starts(url, "https://");
    if (!client_is_url(url)) return refuse(err, url, "no such scheme");
    const char *at = url + (is_https ? 8 : 7), *end = at + strcspn(at, "/?#");
    if (strcmp(end, "") != 0 && strcmp(end, "/") != 0) return refuse(err, url, "it has a path");
    if (memchr(at, '@', (size_t)(end - at)))
        return err_validation(err, "credentials do not belong in a URL; see sheaf_options");
    const char *colon = end;
    while (colon > at && *colon != ':' && *colon != ']') colon--;
    bool has_port = colon > at && *colon == ':';
    span host = SPAN(at, (size_t)((has_port ? colon : end) - at));
    unsigned port = has_port ? port_of(SPAN(colon + 1, (size_t)(end - colon - 1))) : 0;
    if (!is_host(host)) return refuse(err, url, "that is no host");
    if (has_port && port == 0) return refuse(err, url, "that is no port");
    return fill(out, url, is_https, host, port, err);
}
