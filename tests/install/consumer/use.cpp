/* The same from C++. */
#include <iostream>
#include <memory>
#include <sheaf/sheaf.hpp>
#include <sheaf/sys/engine.h>
#include <stdexcept>
#include <string>

using engine = std::unique_ptr<sheaf_engine, decltype(&sheaf_engine_close)>;

static sheaf_error err;

static void must(sheaf_rc rc)
{
    if (rc != SHEAF_OK) throw std::runtime_error(std::string(err.exception) + ": " + err.message);
}

static void use_engines(const char *directory)
{
    sheaf_engine *e = nullptr;
    must(sheaf_engine_open_mem(nullptr, &e, &err));
    engine mem(e, &sheaf_engine_close);
    must(sheaf_engine_open_rocks(directory, nullptr, &e, &err));
    engine rocks(e, &sheaf_engine_close);
    std::cout << mem->ops->name << ' ' << rocks->ops->name << ' ';
}

static void copy_nothing()
{
    bool was_refused = false;
    try {
        sheaf::item none(static_cast<const sheaf_item *>(nullptr));
    } catch (const std::invalid_argument &) {
        was_refused = true;
    }
    if (!was_refused) throw std::runtime_error("an item of nothing");
}

static void use_items(sheaf_db *db)
{
    copy_nothing();
    struct sheaf_create_table shop = {};
    shop.table = "shop";
    shop.partition_key.name = "PK";
    shop.sort_key.name = "SK";
    shop.partition_key.type = shop.sort_key.type = SHEAF_S;
    shop.error = &err;
    must(sheaf_create_table(db, &shop, nullptr));

    sheaf::item order{{"PK", sheaf_s("C#1")}, {"SK", sheaf_s("A")}};
    order.set("n", sheaf_n("1.50"));
    struct sheaf_put_item put = {};
    put.table = "shop";
    put.item = order;
    put.error = &err;
    must(sheaf_put_item(db, &put, nullptr));

    const sheaf::item values{{":pk", sheaf_s("C#1")}};
    struct sheaf_query query = {};
    query.table = "shop";
    query.key_condition_expression = "PK = :pk";
    query.expression_attribute_values = values;
    query.error = &err;
    sheaf_result *page = nullptr;
    must(sheaf_query(db, &query, &page));
    sheaf::result owner(page);
    SHEAF_EACH(page, item)
    std::cout << sheaf_item_s(item, "SK") << ' ' << sheaf_item_n(item, "n") << '\n';
}

int main(int argc, char **argv)
{
    try {
        use_engines(argc > 1 ? argv[1] : "");
        sheaf_db *db = nullptr;
        must(sheaf_open(":memory:", nullptr, &db, &err));
        sheaf::db owner(db);
        use_items(db);
    } catch (const std::exception &e) {
        std::cout << e.what() << '\n';
        return 1;
    }
}
