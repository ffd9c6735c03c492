/* Turns arguments, environment and an ini file into options. Know before editing: every value, the
 * default too, goes through `assign`, so that the help cannot promise what is not taken. */
#include "server/options.h"

#include "server/ini.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#define X(kind_, member_, name_, arg_, preset_, least_, most_, help_)                              \
    {.name = name_,                                                                                \
     .arg = arg_,                                                                                  \
     .preset = preset_,                                                                            \
     .help = help_,                                                                                \
     .least = least_,                                                                              \
     .most = most_,                                                                                \
     .offset = offsetof(struct server_options, member_),                                           \
     .kind = OPTION_##kind_},
#define GROUP(title)
static const struct option options[] = {SERVER_OPTIONS(X, GROUP)};
#undef X
#undef GROUP
_Static_assert(sizeof options / sizeof *options == OPTIONS_N, "one row each");

const struct option *option_at(uint32_t i)
{
    assert(i < OPTIONS_N);
    return &options[i];
}

/* Where a value comes from, for messages: "--port", "SHEAF_PORT", "sheaf.ini:3: port". */
struct place {
    enum option_source source;
    const char *flag;        /* SOURCE_FLAG: as written, without '=' */
    const struct ini_at *at; /* SOURCE_FILE */
};

static sheaf_rc refuse(const struct place *place, const struct option *o, sheaf_error *err,
                       const char *value)
{
    char name[80], wanted[120], shown[64] = "empty";
    if (*value) snprintf(shown, sizeof shown, "'%.60s'", value);
    if (place->source == SOURCE_FILE)
        snprintf(name, sizeof name, "%s", o->name);
    else if (place->source == SOURCE_ENVIRONMENT)
        snprintf(name, sizeof name, "the environment's %s", place->flag);
    else
        snprintf(name, sizeof name, "%s", place->flag ? place->flag : o->name);
    if (o->kind == OPTION_CHOICE)
        snprintf(wanted, sizeof wanted, "one of %s", o->arg);
    else if (o->kind == OPTION_FLAG)
        snprintf(wanted, sizeof wanted, "on or off");
    else if (o->kind == OPTION_TEXT)
        snprintf(wanted, sizeof wanted, "%s", o->arg);
    else
        snprintf(wanted, sizeof wanted, "a number from %llu to %llu%s",
                 (unsigned long long)o->least, (unsigned long long)o->most,
                 o->kind == OPTION_BYTES ? " (K, M and G may follow)" : "");
    if (place->source == SOURCE_FILE)
        return ini_fail(place->at, "%s is %s; it takes %s", name, shown, wanted);
    return err_validation(err, "%s is %s; it takes %s", name, shown, wanted);
}

/* ---- values ---- */

static bool parse_number(const struct option *o, const char *text, uint64_t *out)
{
    if (!isdigit((unsigned char)*text)) return false;
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno != 0) return false;
    static const char units[] = "KMG";
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (unit && o->kind == OPTION_BYTES) {
        unsigned shift = 10u * (unsigned)(unit - units + 1);
        if (n > UINT64_MAX >> shift) return false;
        n <<= shift;
        end++;
    }
    *out = n;
    return *end == '\0' && n >= o->least && n <= o->most;
}

static bool parse_flag(const char *text, bool *out)
{
    static const char *const words[][2] = {
        {"off", "on"}, {"no", "yes"}, {"false", "true"}, {"0", "1"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (int v = 0; v < 2; v++)
            if (strcmp(text, words[i][v]) == 0) {
                *out = v == 1;
                return true;
            }
    return false;
}

/* Whether `text` is one of the words of "a|b|c". */
static bool is_choice(const char *words, const char *text)
{
    size_t n = strlen(text);
    for (const char *w = words; n && w; w = strchr(w, '|') ? strchr(w, '|') + 1 : NULL)
        if (strncmp(w, text, n) == 0 && (w[n] == '|' || w[n] == '\0')) return true;
    return false;
}

/* The text must live as long as the options. Only a default may be empty: what `--auth "$UNSET"`
 * gives must not turn authentication off. */
static sheaf_rc assign(struct server_options *to, const struct option *o, const char *text,
                       const struct place *place, sheaf_error *err)
{
    void *member = (char *)to + o->offset;
    bool is_fine = true;
    switch (o->kind) {
    case OPTION_CHOICE:
        is_fine = is_choice(o->arg, text); /* fall through */
    case OPTION_TEXT:
        memcpy(member, &text, sizeof text);
        break;
    case OPTION_NUMBER:
    case OPTION_BYTES:
        is_fine = parse_number(o, text, member);
        break;
    case OPTION_FLAG:
        is_fine = parse_flag(text, member);
        break;
    }
    if (!*text && place->source != SOURCE_DEFAULT) is_fine = false;
    if (!is_fine) return refuse(place, o, err, text);
    to->source[o - options] = (uint8_t)place->source;
    return SHEAF_OK;
}

/* ---- names ---- */

/* Letters that must be changed, added or removed to make one of the other; names are short. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[64];
    size_t m = strlen(b);
    if (m >= 64) return 64;
    for (unsigned j = 0; j <= m; j++) row[j] = j;
    for (unsigned i = 1; *a; a++, i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            unsigned change = diagonal + (*a != b[j - 1]),
                     more = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < more ? change : more;
        }
    }
    return row[m];
}

static const struct option *nearest(const char *name)
{
    const struct option *best = NULL;
    unsigned least = 4; /* further away is another word */
    for (size_t i = 0; i < OPTIONS_N; i++) {
        unsigned d = distance(name, options[i].name);
        if (d < least && d < strlen(options[i].name)) {
            least = d;
            best = &options[i];
        }
    }
    return best;
}

/* '-' and '_' are the same; n bytes of name. */
static const struct option *find(const char *name, size_t n)
{
    for (size_t i = 0; i < OPTIONS_N; i++) {
        const char *known = options[i].name;
        if (strlen(known) != n) continue;
        size_t k = 0;
        while (k < n && (name[k] == known[k] || (name[k] == '_' && known[k] == '-'))) k++;
        if (k == n) return &options[i];
    }
    return NULL;
}

static sheaf_rc unknown_flag(const char *flag, size_t n, sheaf_error *err)
{
    char name[64];
    const char *bare = flag;
    while (n && *bare == '-') bare++, n--;
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), bare);
    const struct option *o = nearest(name);
    return err_validation(err, "there is no option %.*s%s%s%s; `sheaf help serve` lists them all",
                          (int)(n + (size_t)(bare - flag)), flag, o ? "; did you mean --" : "",
                          o ? o->name : "", o ? "?" : "");
}

/* ---- the ini file ---- */

struct file_reader {
    struct server_options *to;
    struct arena *arena;
    bool seen[OPTIONS_N];
};

static sheaf_rc take_line(void *ctx, const struct ini_at *at, const char *section, const char *name,
                          const char *value)
{
    struct file_reader *r = ctx;
    if (*section && strcmp(section, "serve") != 0 && strcmp(section, "server") != 0)
        return ini_fail(at, "there is no section [%.60s]; options stand in [serve] or before any",
                        section);
    const struct option *o = find(name, strlen(name));
    if (!o) {
        o = nearest(name);
        return ini_fail(at, "there is no option '%.60s'%s%s%s", name, o ? "; did you mean '" : "",
                        o ? o->name : "", o ? "'?" : "");
    }
    if (o == &options[OPTION_ID_config]) return ini_fail(at, "a file cannot name another file");
    if (r->seen[o - options]) return ini_fail(at, "%s was said before", o->name);
    r->seen[o - options] = true;
    span copy = arena_dup(r->arena, SPAN(value, strlen(value) + 1));
    if (!copy.p) return err_nomem(at->err);
    struct place place = {.source = SOURCE_FILE, .at = at};
    return assign(r->to, o, copy.p, &place, at->err);
}

static sheaf_rc read_file(struct arena *arena, const char *path, struct server_options *out,
                          sheaf_error *err)
{
    struct file_reader r = {.to = out, .arena = arena};
    return ini_read(path, take_line, &r, err);
}

/* ---- the environment ---- */

static const char *environment_of(const struct option *o, char *const envp[], char name_out[64])
{
    int n = snprintf(name_out, 64, "SHEAF_%s", o->name);
    for (char *c = name_out; *c; c++) *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    for (; envp && *envp; envp++)
        if (strncmp(*envp, name_out, (size_t)n) == 0 && (*envp)[n] == '=') return *envp + n + 1;
    return NULL;
}

static sheaf_rc read_environment(char *const envp[], struct server_options *out, sheaf_error *err)
{
    for (size_t i = 0; i < OPTIONS_N; i++) {
        char name[64];
        const char *value = environment_of(&options[i], envp, name);
        struct place place = {.source = SOURCE_ENVIRONMENT, .flag = name};
        if (value) TRY(assign(out, &options[i], value, &place, err));
    }
    return SHEAF_OK;
}

/* ---- flags ---- */

/* DynamoDB Local's, and what its container is started with. `as` is our option, NULL: nothing to
 * do, and `note` says why. */
static const struct foreign {
    const char *flag, *as, *note;
    bool has_value;
} foreign[] = {
    {"-inMemory", "memory", NULL, false},
    {"-port", "port", NULL, true},
    {"-dbPath", "data", NULL, true},
    {"-cors", "cors", NULL, true},
    {"-sharedDb", NULL, "-sharedDb: all regions and credentials share one database anyway", false},
    {"-delayTransientStatuses", NULL, "-delayTransientStatuses: ignored, tables are usable at once",
     false},
    {"-optimizeDbBeforeStartup", NULL, "-optimizeDbBeforeStartup: ignored, there is no need to",
     false},
    {"-disableTelemetry", NULL, "-disableTelemetry: ignored, there is no telemetry", false},
    {"-jar", NULL, "-jar: ignored, this is a native binary", true},
};

struct flags {
    int argc, at;
    char *const *argv;
};

static const char *value_behind(struct flags *f)
{
    return f->at + 1 < f->argc ? f->argv[++f->at] : NULL;
}

static void note(struct server_options *to, const char *text)
{
    if (to->n_notes < OPTION_NOTES_MAX) to->notes[to->n_notes++] = text;
}

static sheaf_rc take_foreign(struct flags *f, const struct foreign *w, struct server_options *to,
                             sheaf_error *err)
{
    const char *value = w->has_value ? value_behind(f) : "on";
    if (!value) return err_validation(err, "%s needs a value", w->flag);
    if (w->note) note(to, w->note);
    if (!w->as) return SHEAF_OK;
    struct place place = {.source = SOURCE_FLAG, .flag = w->flag};
    return assign(to, find(w->as, strlen(w->as)), value, &place, err);
}

static sheaf_rc take_flag(struct flags *f, struct server_options *to, sheaf_error *err)
{
    const char *flag = f->argv[f->at], *equals = strchr(flag, '=');
    size_t n = equals ? (size_t)(equals - flag) : strlen(flag);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strcmp(flag, foreign[i].flag) == 0) return take_foreign(f, &foreign[i], to, err);
    if (strncmp(flag, "-Djava.", 7) == 0) return SHEAF_OK;
    if (flag[0] != '-')
        return err_validation(err, "'%.60s' is no option; they begin with --", flag);
    const struct option *o = n > 2 && flag[1] == '-' ? find(flag + 2, n - 2) : NULL;
    if (!o) return unknown_flag(flag, n, err);
    const char *value = equals ? equals + 1 : o->kind == OPTION_FLAG ? "on" : value_behind(f);
    if (!value) return err_validation(err, "%s needs a value: --%s %s", flag, o->name, o->arg);
    char name[64];
    snprintf(name, sizeof name, "--%s", o->name);
    struct place place = {.source = SOURCE_FLAG, .flag = name};
    return assign(to, o, value, &place, err);
}

static sheaf_rc read_flags(int argc, char *const argv[], struct server_options *to,
                           sheaf_error *err)
{
    struct flags f = {.argc = argc, .argv = argv};
    to->n_notes = 0;
    for (; f.at < argc; f.at++) TRY(take_flag(&f, to, err));
    return SHEAF_OK;
}

/* ---- all of it ---- */

bool options_is_loopback(const char *host)
{
    return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 ||
           strcmp(host, "localhost") == 0;
}

bool options_is_region(span text)
{
    const char *p = text.p;
    if (text.n == 0 || text.n > 32) return false;
    for (size_t i = 0; i < text.n; i++)
        if (!(p[i] == '-' || (p[i] >= 'a' && p[i] <= 'z') || (p[i] >= '0' && p[i] <= '9')))
            return false;
    return true;
}

/* Of --data and --memory the one that was said closer to the user counts. */
static sheaf_rc check_data(struct server_options *o, sheaf_error *err)
{
    uint8_t data = o->source[OPTION_ID_data], memory = o->source[OPTION_ID_memory];
    if (!o->memory || data < memory) return SHEAF_OK;
    if (data == memory)
        return err_validation(err, "--memory keeps nothing, --data %s keeps everything: choose one",
                              o->data);
    o->memory = false;
    return SHEAF_OK;
}

static sheaf_rc check_together(struct server_options *o, sheaf_error *err)
{
    TRY(check_data(o, err));
    if (!options_is_region(span_cstr(o->region)))
        return err_validation(err,
                              "--region is '%.60s'; a region is up to 32 of a-z, 0-9 and -, such "
                              "as eu-west-1",
                              o->region);
    if (!*o->tls_cert != !*o->tls_key)
        return err_validation(err, "--tls-cert and --tls-key go together; %s is missing",
                              *o->tls_cert ? "--tls-key" : "--tls-cert");
    if (!*o->auth && !o->insecure && !options_is_loopback(o->host))
        return err_validation(
            err,
            "refusing to listen on %s without authentication: whoever reaches this machine could "
            "read and change everything. Give --auth FILE, or --insecure if the network is yours "
            "alone, or leave --host at 127.0.0.1",
            o->host);
    return SHEAF_OK;
}

sheaf_rc options_read(struct arena *arena, int argc, char *const argv[], char *const envp[],
                      struct server_options *out, sheaf_error *err)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < OPTIONS_N; i++) {
        struct place place = {.source = SOURCE_DEFAULT};
        TRY(assign(out, &options[i], options[i].preset, &place, err));
    }
    /* Flags and environment are read twice: first to find the file, then to stand above it. */
    TRY(read_environment(envp, out, err));
    TRY(read_flags(argc, argv, out, err));
    if (*out->config) {
        TRY(read_file(arena, out->config, out, err));
        TRY(read_environment(envp, out, err));
        TRY(read_flags(argc, argv, out, err));
    }
    return check_together(out, err);
}
