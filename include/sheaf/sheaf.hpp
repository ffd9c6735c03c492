// <sheaf/sheaf.hpp>: what C++ needs beside <sheaf/sheaf.h>: items that own their bytes.
//
// Item literals are a C feature (compound literals); an initializer list in their place would dangle
// without a warning. sheaf::item owns a copy instead and refuses to become a pointer when it is a
// temporary, so that the mistake is an error at compile time:
//
//     sheaf::item order{{"PK", sheaf_s("CUSTOMER#1")}, {"SK", sheaf_s("A")}};
//     struct sheaf_put_item q = {}; q.table = "shop"; q.item = order;
#ifndef SHEAF_SHEAF_HPP
#define SHEAF_SHEAF_HPP

#include <sheaf/sheaf.h>

#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>

namespace sheaf
{

class item
{
  public:
    item() : it_(sheaf_item_new()) { need(it_ != nullptr); }
    item(std::initializer_list<sheaf_attr> attrs) : item()
    {
        for (const sheaf_attr &a : attrs) set(a.name, a.value);
    }
    // A copy of an item borrowed from a result. Throws std::invalid_argument for NULL, as of a
    // result that has no item, or of an item that was moved from.
    explicit item(const sheaf_item *borrowed) : it_(dup(borrowed)) {}
    item(const item &other) : it_(dup(other.it_)) {}
    item(item &&other) noexcept : it_(other.it_) { other.it_ = nullptr; }
    item &operator=(item other) noexcept
    {
        sheaf_item *mine = it_;
        it_ = other.it_;
        other.it_ = mine;
        return *this;
    }
    ~item() { sheaf_item_free(it_); }

    // Throws std::invalid_argument for a value that is none (a set with duplicates, no number, …).
    item &set(const char *name, sheaf_value value)
    {
        sheaf_rc rc = sheaf_item_set(it_, name, value);
        need(rc != SHEAF_NOMEM);
        if (rc != SHEAF_OK) throw std::invalid_argument(name ? name : "name");
        return *this;
    }

    operator const sheaf_item *() const & { return it_; }
    operator const sheaf_item *() const && = delete; // it would dangle

  private:
    static sheaf_item *dup(const sheaf_item *from)
    {
        if (!from) throw std::invalid_argument("item");
        sheaf_item *copy = sheaf_item_dup(from);
        need(copy != nullptr);
        return copy;
    }
    static void need(bool has_memory)
    {
        if (!has_memory) throw std::bad_alloc();
    }
    sheaf_item *it_;
};

struct result_free {
    void operator()(sheaf_result *r) const { sheaf_result_free(r); }
};
using result = std::unique_ptr<sheaf_result, result_free>;

struct db_close {
    void operator()(sheaf_db *db) const { sheaf_close(db); }
};
using db = std::unique_ptr<sheaf_db, db_close>;

} // namespace sheaf

#endif
