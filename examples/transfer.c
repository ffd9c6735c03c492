/* Money moves in one transaction or not at all: conditions, cancellation reasons, and a reading of
 * both accounts at one moment. */
#define SHEAF_SHORT_NAMES
#include <sheaf/sheaf.h>

static sheaf_error err;

/* An account is a collection of one item here; its history would lie beside it. */
#define ACCOUNT(id) SHEAF_ITEM({"PK", S(id)}, {"SK", S("BALANCE")})

static sheaf_rc open_account(sheaf_db *db, const char *id, int64_t balance)
{
    return sheaf_put_item(db, &(struct sheaf_put_item){.table = "bank", .error = &err,
        .item = SHEAF_ITEM({"PK", S(id)}, {"SK", S("BALANCE")}, {"balance", sheaf_int(balance)}),
        .condition_expression = "attribute_not_exists(PK)"}, NULL);
}

static sheaf_rc transfer(sheaf_db *db, const char *from, const char *to, int64_t amount)
{
    const sheaf_item *values = SHEAF_ITEM({":n", sheaf_int(amount)});
    struct sheaf_transact_write actions[] = {
        {.table = "bank", .key = ACCOUNT(from), .expression_attribute_values = values,
         .update_expression = "SET balance = balance - :n",
         .condition_expression = "balance >= :n", .return_old_on_condition_failure = true},
        {.table = "bank", .key = ACCOUNT(to), .expression_attribute_values = values,
         .update_expression = "SET balance = balance + :n",
         .condition_expression = "attribute_exists(PK)"}};
    sheaf_result *why;
    sheaf_rc rc = sheaf_transact_write_items(db, &(struct sheaf_transact_write_items){
        .actions = actions, .n_actions = 2, .error = &err}, &why);
    for (size_t i = 0; i < sheaf_result_reason_count(why); i++) {
        const struct sheaf_reason *reason = sheaf_result_reason(why, i);
        printf("  action %zu: %s", i, reason->code);
        if (reason->item) printf(", balance is %s", sheaf_item_n(reason->item, "balance"));
        putchar('\n');
    }
    sheaf_result_free(why);
    return rc;
}

static sheaf_rc print_both(sheaf_db *db)
{
    struct sheaf_transact_get gets[] = {{.table = "bank", .key = ACCOUNT("ada")},
                                        {.table = "bank", .key = ACCOUNT("bob")}};
    sheaf_result *both;
    sheaf_rc rc = sheaf_transact_get_items(db, &(struct sheaf_transact_get_items){
        .gets = gets, .n_gets = 2, .error = &err}, &both);
    SHEAF_EACH (both, item)
        printf("%s has %s\n", sheaf_item_s(item, "PK"), sheaf_item_n(item, "balance"));
    sheaf_result_free(both);
    return rc;
}

int main(void)
{
    sheaf_db *db;
    if (sheaf_open(":memory:", NULL, &db, &err) != SHEAF_OK) return sheaf_die(&err);
    struct sheaf_create_table bank = {.table = "bank", .error = &err,
        .partition_key = {"PK", SHEAF_S}, .sort_key = {"SK", SHEAF_S}};
    if (sheaf_create_table(db, &bank, NULL) || open_account(db, "ada", 100) ||
        open_account(db, "bob", 5))
        return sheaf_die(&err);
    for (int64_t amount = 70; amount <= 80; amount += 10) { /* the second one is too much */
        sheaf_rc rc = transfer(db, "ada", "bob", amount);
        printf("transfer of %d: %s\n", (int)amount, rc ? sheaf_rc_exception(rc) : "done");
    }
    if (print_both(db)) return sheaf_die(&err);
    sheaf_close(db);
}
