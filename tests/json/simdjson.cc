// Turns a document into its events with simdjson's DOM, which checks all of it.
#include "json/simdjson.h"

#include <simdjson.h>
#include <string>

namespace dom = simdjson::dom;

static void put_text(std::string &out, std::string_view text)
{
    out += 's' + std::to_string(text.size()) + ':';
    out += text;
}

static void put(std::string &out, dom::element e)
{
    char number[64];
    switch (e.type()) {
    case dom::element_type::OBJECT:
        out += '{';
        for (auto field : dom::object(e)) {
            put_text(out, field.key);
            put(out, field.value);
        }
        out += '}';
        break;
    case dom::element_type::ARRAY:
        out += '[';
        for (auto element : dom::array(e)) put(out, element);
        out += ']';
        break;
    case dom::element_type::STRING: put_text(out, std::string_view(e)); break;
    case dom::element_type::BOOL: out += bool(e) ? 't' : 'f'; break;
    case dom::element_type::NULL_VALUE: out += 'n'; break;
    case dom::element_type::INT64: out += 'd' + std::to_string(int64_t(e)) + ';'; break;
    case dom::element_type::UINT64: out += 'd' + std::to_string(uint64_t(e)) + ';'; break;
    case dom::element_type::DOUBLE:
        snprintf(number, sizeof number, "x%a;", double(e));
        out += number;
        break;
    }
}

enum simd_verdict simd_events(const void *p, size_t n, char *out, size_t cap, size_t *n_out)
{
    static dom::parser parser;
    *n_out = 0;
    dom::element root;
    auto error = parser.parse(simdjson::padded_string(static_cast<const char *>(p), n)).get(root);
    if (error == simdjson::NUMBER_ERROR) return SIMD_NUMBER;
    if (error) return SIMD_REFUSED;
    std::string events;
    put(events, root);
    if (events.size() > cap) return SIMD_NO_ROOM;
    memcpy(out, events.data(), events.size());
    *n_out = events.size();
    return SIMD_TAKEN;
}
