/* The same from C++. */
#include <iostream>
#include <memory>
#include <sheaf/error.h>
#include <sheaf/sys/engine.h>

using engine = std::unique_ptr<sheaf_engine, decltype(&sheaf_engine_close)>;

static engine opened(sheaf_rc rc, sheaf_engine *e, const sheaf_error &err)
{
    if (rc != SHEAF_OK) std::cout << err.exception << ": " << err.message << '\n';
    return engine(e, &sheaf_engine_close);
}

int main(int argc, char **argv)
{
    sheaf_error err{};
    sheaf_engine *e = nullptr;
    sheaf_rc rc = sheaf_engine_open_mem(nullptr, &e, &err);
    engine mem = opened(rc, e, err);
    rc = sheaf_engine_open_rocks(argc > 1 ? argv[1] : "", nullptr, &e, &err);
    engine rocks = opened(rc, e, err);
    if (!mem || !rocks) return 1;
    std::cout << mem->ops->name << ' ' << rocks->ops->name << '\n';
}
