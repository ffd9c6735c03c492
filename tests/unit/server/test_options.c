/* Options: where values come from, which one wins, and what a mistake is told. */
#include "support/support.h"

#include "server/options.h"

#include <unistd.h>

struct read {
    struct arena arena;
    struct server_options o;
    sheaf_error err;
    sheaf_rc rc;
};

/* "--port 1 --memory" and "SHEAF_PORT=2 A=b", split at spaces. */
static void read_all(struct read *r, const char *flags, const char *environment)
{
    static char texts[2][1024];
    char *words[2][32];
    int n[2] = {0, 0};
    const char *from[2] = {flags, environment};
    for (int k = 0; k < 2; k++) {
        snprintf(texts[k], sizeof texts[k], "%s", from[k]);
        char *save;
        for (char *w = strtok_r(texts[k], " ", &save); w; w = strtok_r(NULL, " ", &save))
            words[k][n[k]++] = w;
        words[k][n[k]] = NULL;
    }
    arena_init(&r->arena, 1 << 20);
    r->rc = options_read(&r->arena, n[0], words[0], words[1], &r->o, &r->err);
}

static void end(struct read *r) { arena_deinit(&r->arena); }

static void write_file(char path[64], const char *text)
{
    strcpy(path, "/tmp/sheaf_options_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void test_options__defaults_are_those_of_the_table(void **state)
{
    (void)state;
    struct read r;
    read_all(&r, "", "");
    assert_ok(r.rc);
    assert_string_equal(r.o.host, "127.0.0.1");
    assert_int_equal(r.o.port, 8000);
    assert_string_equal(r.o.data, "./sheaf-data");
    assert_string_equal(r.o.durability, "sync");
    assert_int_equal(r.o.cache, 128 << 20);
    assert_false(r.o.memory);
    for (int i = 0; i < OPTIONS_N; i++) assert_int_equal(r.o.source[i], SOURCE_DEFAULT);
    end(&r);
}

static void test_options__flags_take_values_behind_a_space_or_an_equals(void **state)
{
    (void)state;
    struct read r;
    read_all(&r, "--port=9 --host ::1 --memory --throttle=off --memory-budget 1G", "");
    assert_ok(r.rc);
    assert_int_equal(r.o.port, 9);
    assert_string_equal(r.o.host, "::1");
    assert_true(r.o.memory);
    assert_false(r.o.throttle);
    assert_int_equal(r.o.memory_budget, UINT64_C(1) << 30);
    end(&r);
}

static void test_options__flags_win_over_environment_over_file_over_default(void **state)
{
    (void)state;
    char path[64], flags[256];
    write_file(path, "# a comment\n[serve]\nport = 1\nregion = from-file\nhost = 127.0.0.3\n");
    struct read r;
    snprintf(flags, sizeof flags, "--config %s --port 3", path);
    read_all(&r, flags, "SHEAF_PORT=2 SHEAF_REGION=from-environment");
    assert_ok(r.rc);
    assert_int_equal(r.o.port, 3);
    assert_string_equal(r.o.region, "from-environment");
    assert_string_equal(r.o.host, "127.0.0.3");
    assert_string_equal(r.o.durability, "sync");
    assert_int_equal(r.o.source[OPTION_ID_port], SOURCE_FLAG);
    assert_int_equal(r.o.source[OPTION_ID_region], SOURCE_ENVIRONMENT);
    assert_int_equal(r.o.source[OPTION_ID_host], SOURCE_FILE);
    end(&r);
    snprintf(flags, sizeof flags, "SHEAF_CONFIG=%s", path);
    read_all(&r, "", flags);
    assert_ok(r.rc);
    assert_int_equal(r.o.port, 1);
    end(&r);
    unlink(path);
}

static void test_options__what_is_said_closest_decides_between_memory_and_data(void **state)
{
    (void)state;
    struct read r;
    read_all(&r, "--memory", "SHEAF_DATA=/data");
    assert_ok(r.rc);
    assert_true(r.o.memory);
    end(&r);
    read_all(&r, "--data /x", "SHEAF_MEMORY=on");
    assert_ok(r.rc);
    assert_false(r.o.memory);
    assert_string_equal(r.o.data, "/x");
    end(&r);
}

static void test_options__dynamodb_locals_flags_work(void **state)
{
    (void)state;
    struct read r;
    read_all(&r, "-inMemory -sharedDb -port 18000 -delayTransientStatuses", "");
    assert_ok(r.rc);
    assert_true(r.o.memory);
    assert_int_equal(r.o.port, 18000);
    assert_int_equal(r.o.n_notes, 2);
    end(&r);
    read_all(&r,
             "-Djava.library.path=./lib -jar DynamoDBLocal.jar -dbPath /data -cors "
             "http://a -optimizeDbBeforeStartup -disableTelemetry",
             "");
    assert_ok(r.rc);
    assert_string_equal(r.o.data, "/data");
    assert_string_equal(r.o.cors, "http://a");
    assert_int_equal(r.o.n_notes, 3);
    end(&r);
}

static void test_options__a_mistake_is_named_with_what_to_do(void **state)
{
    (void)state;
    static const struct {
        const char *flags, *environment, *message;
    } rows[] = {
        {"--prot 1", "",
         "there is no option --prot; did you mean --port?; `sheaf help serve` lists them all"},
        {"--gsi_lag_ms 1 --xyzzyx", "",
         "there is no option --xyzzyx; `sheaf help serve` lists them all"},
        {"-inmemory", "",
         "there is no option -inmemory; did you mean --memory?; `sheaf help serve` lists them all"},
        {"--port", "", "--port needs a value: --port N"},
        {"--port x", "", "--port is 'x'; it takes a number from 0 to 65535"},
        {"--port 65536", "", "--port is '65536'; it takes a number from 0 to 65535"},
        {"--port -1", "", "--port is '-1'; it takes a number from 0 to 65535"},
        {"", "SHEAF_PORT=x",
         "the environment's SHEAF_PORT is 'x'; it takes a number from 0 to 65535"},
        {"--durability never", "", "--durability is 'never'; it takes one of sync|relaxed"},
        {"--durability syn", "", "--durability is 'syn'; it takes one of sync|relaxed"},
        {"--memory=maybe", "", "--memory is 'maybe'; it takes on or off"},
        {"--memory --data x", "", "--memory keeps nothing, --data x keeps everything: choose one"},
        {"--tls-cert x", "", "--tls-cert and --tls-key go together; --tls-key is missing"},
        {"serve", "", "'serve' is no option; they begin with --"},
        {"--cache 1Q", "",
         "--cache is '1Q'; it takes a number from 1048576 to 17592186044416 (K, M and G may "
         "follow)"},
        {"--auth= --memory", "", "--auth is empty; it takes FILE"},
        {"--auth keys.ini --auth=", "", "--auth is empty; it takes FILE"},
        {"--data=", "", "--data is empty; it takes DIR"},
        {"--port=", "", "--port is empty; it takes a number from 0 to 65535"},
        {"", "SHEAF_AUTH=", "the environment's SHEAF_AUTH is empty; it takes FILE"},
        {"", "SHEAF_CONFIG=", "the environment's SHEAF_CONFIG is empty; it takes FILE"},
        {"", "SHEAF_INSECURE=", "the environment's SHEAF_INSECURE is empty; it takes on or off"},
        {"--region EU", "",
         "--region is 'EU'; a region is up to 32 of a-z, 0-9 and -, such as eu-west-1"},
        {"", "SHEAF_REGION=abcdefghijklmnopqrstuvwxyz-1234567",
         "--region is 'abcdefghijklmnopqrstuvwxyz-1234567'; a region is up to 32 of a-z, 0-9 and "
         "-, such as eu-west-1"},
        {"--config /nonexistent/x.ini", "",
         "cannot read /nonexistent/x.ini: No such file or directory"},
        {"--host 0.0.0.0", "",
         "refusing to listen on 0.0.0.0 without authentication: whoever reaches this machine could "
         "read and change everything. Give --auth FILE, or --insecure if the network is yours "
         "alone, or leave --host at 127.0.0.1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct read r;
        read_all(&r, rows[i].flags, rows[i].environment);
        assert_rc(r.rc, SHEAF_VALIDATION);
        assert_string_equal(r.err.message, rows[i].message);
        end(&r);
    }
}

static void test_options__an_empty_word_is_no_value(void **state)
{
    (void)state;
    struct arena arena;
    struct server_options o;
    sheaf_error err;
    char *const flags[] = {"--auth", ""}, *const none[] = {NULL};
    arena_init(&arena, 1 << 20);
    assert_rc(options_read(&arena, 2, flags, none, &o, &err), SHEAF_VALIDATION);
    assert_string_equal(err.message, "--auth is empty; it takes FILE");
    arena_deinit(&arena);
}

static void test_options__a_mistake_in_the_file_is_told_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message; /* behind the path */
    } rows[] = {
        {"[serve]\nport = 1\nprot = 2\n", ":3: there is no option 'prot'; did you mean 'port'?"},
        {"port = x\n", ":1: port is 'x'; it takes a number from 0 to 65535"},
        {"[serve]\nauth =\n", ":2: auth is empty; it takes FILE"},
        {"port = 1\nport = 2\n", ":2: port was said before"},
        {"[table]\nport = 1\n",
         ":2: there is no section [table]; options stand in [serve] or before any"},
        {"\nnonsense\n", ":2: this is neither a [section] nor \"name = value\""},
        {"config = y\n", ":1: a file cannot name another file"},
        {"# a line of more than two hundred bytes ............................................."
         "........................................................................................."
         "..."
         "..............................................\n",
         ":1: the line is longer than 198 bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[64], flags[80];
        struct read r;
        write_file(path, rows[i].text);
        snprintf(flags, sizeof flags, "--config %s", path);
        read_all(&r, flags, "");
        assert_rc(r.rc, SHEAF_VALIDATION);
        assert_memory_equal(r.err.message, path, strlen(path));
        assert_string_equal(r.err.message + strlen(path), rows[i].message);
        end(&r);
        unlink(path);
    }
}

static void test_options__loopback_needs_no_authentication_and_insecure_may_do_without(void **state)
{
    (void)state;
    static const char *const fine[] = {
        "--host 127.0.0.1", "--host 127.8.8.8",          "--host ::1",
        "--host localhost", "--host 0.0.0.0 --insecure", "--host 0.0.0.0 --auth f"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        struct read r;
        read_all(&r, fine[i], "");
        assert_ok(r.rc);
        end(&r);
    }
}

static void test_options__help_names_every_option_with_its_default(void **state)
{
    (void)state;
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    options_help(f);
    fclose(f);
    for (uint32_t i = 0; i < OPTIONS_N; i++) {
        char flag[64];
        snprintf(flag, sizeof flag, "  --%s", option_at(i)->name);
        assert_non_null(strstr(text, flag));
    }
    assert_non_null(strstr(text, "(default 8000)"));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 100);
    assert_null(strstr(text, " \n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options__defaults_are_those_of_the_table),
        cmocka_unit_test(test_options__flags_take_values_behind_a_space_or_an_equals),
        cmocka_unit_test(test_options__flags_win_over_environment_over_file_over_default),
        cmocka_unit_test(test_options__what_is_said_closest_decides_between_memory_and_data),
        cmocka_unit_test(test_options__dynamodb_locals_flags_work),
        cmocka_unit_test(test_options__a_mistake_is_named_with_what_to_do),
        cmocka_unit_test(test_options__an_empty_word_is_no_value),
        cmocka_unit_test(test_options__a_mistake_in_the_file_is_told_with_its_line),
        cmocka_unit_test(
            test_options__loopback_needs_no_authentication_and_insecure_may_do_without),
        cmocka_unit_test(test_options__help_names_every_option_with_its_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
