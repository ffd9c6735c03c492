// A temporary item would be gone when the call reads it.
// error: use (of|a) deleted function
// names: operator const sheaf_item
#include <sheaf/sheaf.hpp>

void use(struct sheaf_put_item &q);
void use(struct sheaf_put_item &q)
{
#ifdef MISTAKE
    q.item = sheaf::item{{"PK", sheaf_s("CUSTOMER#1")}};
#else
    static const sheaf::item owned{{"PK", sheaf_s("CUSTOMER#1")}};
    q.item = owned;
#endif
}
