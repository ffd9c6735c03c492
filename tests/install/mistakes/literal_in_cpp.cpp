// Item literals are C only: in C++ they would dangle without a warning, so there is no such macro.
// error: SHEAF_ITEM
// names: SHEAF_ITEM
#include <sheaf/sheaf.hpp>

sheaf_rc use(sheaf_db *db, struct sheaf_put_item &q);
sheaf_rc use(sheaf_db *db, struct sheaf_put_item &q)
{
#ifdef MISTAKE
    q.item = SHEAF_ITEM({"PK", sheaf_s("CUSTOMER#1")});
#else
    const sheaf::item item{{"PK", sheaf_s("CUSTOMER#1")}};
    q.item = item;
#endif
    return sheaf_put_item(db, &q, nullptr);
}
