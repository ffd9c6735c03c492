// Reads JSON with simdjson, on demand: the yardstick beside our reader. Visits every member and
// element and adds up the lengths of the texts; it builds nothing.
#include "common/simdjson.h"

#include <simdjson.h>

namespace od = simdjson::ondemand;

static uint64_t walk(od::value v)
{
    uint64_t sum = 0;
    switch (v.type()) {
    case od::json_type::object:
        for (auto member : v.get_object()) {
            std::string_view name = member.unescaped_key();
            sum += name.size() + walk(member.value());
        }
        return sum;
    case od::json_type::array:
        for (auto element : v.get_array()) sum += walk(element.value());
        return sum;
    case od::json_type::string: return std::string_view(v.get_string()).size();
    case od::json_type::boolean: return bool(v.get_bool());
    default: return 1;
    }
}

struct simd_reader {
    od::parser parser;
    std::vector<char> room;
};

simd_reader *simd_reader_new(void) { return new simd_reader; }

void simd_reader_free(simd_reader *r) { delete r; }

uint64_t simd_reader_walk(simd_reader *r, const void *p, size_t n)
{
    // The library reads beyond the end of its input, so it wants a copy with room behind it.
    if (r->room.size() < n + simdjson::SIMDJSON_PADDING) r->room.resize(n + simdjson::SIMDJSON_PADDING);
    memcpy(r->room.data(), p, n);
    od::document doc = r->parser.iterate(r->room.data(), n, r->room.size());
    return walk(doc.get_value());
}
