/* Turns the table of options into `sheaf help serve`. */
#include "server/options.h"

enum { HELP_INDENT = 27, HELP_WIDTH = 96 };

/* Words up to the width, further lines under the first. */
static void put_words(FILE *to, const char *text)
{
    size_t column = HELP_INDENT;
    for (bool is_first = true; *text; is_first = false) {
        size_t n = strcspn(text, " ");
        if (!is_first && column + 1 + n > HELP_WIDTH) {
            fprintf(to, "\n%*s", HELP_INDENT, "");
            column = HELP_INDENT;
        } else if (!is_first) {
            fputc(' ', to);
            column++;
        }
        fprintf(to, "%.*s", (int)n, text);
        column += n;
        text += n + (text[n] == ' ');
    }
    fputc('\n', to);
}

static void put_option(FILE *to, const char *name, const char *arg, const char *preset,
                       const char *what)
{
    char text[400];
    bool says_default = *preset && strcmp(preset, "off") != 0;
    snprintf(text, sizeof text, "%s%s%s%s", what, says_default ? " (default " : "",
             says_default ? preset : "", says_default ? ")" : "");
    int n = fprintf(to, "  --%s%s%s", name, *arg ? " " : "", arg);
    if (n >= HELP_INDENT) n = fprintf(to, "\n") - 1;
    fprintf(to, "%*s", HELP_INDENT - n, "");
    put_words(to, text);
}

void options_help(FILE *to)
{
    fputs(
        "sheaf serve: DynamoDB's HTTP API on this machine, for every AWS SDK\n\n"
        "  sheaf serve                          data in ./sheaf-data, on http://127.0.0.1:8000\n"
        "  sheaf serve --memory --port 0        for tests: a free port, nothing on disk\n"
        "  sheaf serve --host 0.0.0.0 --auth keys.ini --tls-cert c.pem --tls-key k.pem\n"
        "                                       for other machines: signed requests over https\n\n"
        "Then, with any credentials and any region:\n\n"
        "  aws dynamodb list-tables --endpoint-url http://127.0.0.1:8000\n\n"
        "When it answers requests it prints a line \"ready http://127.0.0.1:8000\". SIGTERM and\n"
        "SIGINT finish what is under way and end it; a second one ends it at once. SIGHUP reads\n"
        "credentials and certificates again and reopens the access log.\n",
        to);
#define GROUP(title) fputs("\n" title "\n", to);
#define X(kind, member, name, arg, preset, least, most, help)                                      \
    put_option(to, name, arg, preset, help);
    SERVER_OPTIONS(X, GROUP)
#undef X
#undef GROUP
    fputs(
        "\nEvery option may also stand in the environment (SHEAF_PORT=8001, SHEAF_MEMORY=on) or "
        "in\n"
        "the ini file of --config (port = 8001). Flags win over the environment, the environment\n"
        "over the file. DynamoDB Local's flags work too: -inMemory -sharedDb -port N -dbPath "
        "DIR.\n",
        to);
}
