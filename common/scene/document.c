// SPDX-License-Identifier: MIT
// document.c: builds a tree of nodes from libyaml's events, in the reading's arena. The tree is
// never deeper than DEPTH_MAX.
#include "scene/document.h"

#include <string.h>
#include <yaml.h>

#include "base/text.h"

#define DEPTH_MAX 16 // a scene needs 6

typedef struct builder {
    foliot__reading *reading;
    foliot__node *open[DEPTH_MAX];  // the sequences and mappings around the next node
    foliot__node **tail[DEPTH_MAX]; // where the next child of each goes
    const char *key[DEPTH_MAX];     // the last key of each mapping
    unsigned depth;
    foliot__node *top;
    unsigned documents;
} builder;

static foliot__text_place place_of(yaml_mark_t mark)
{
    return (foliot__text_place){(uint32_t)mark.line + 1, (uint32_t)mark.column + 1};
}

// With the path to the node that is being added.
static void refuse_node(builder *b, yaml_mark_t mark, const char *sentence)
{
    foliot__path steps[DEPTH_MAX];
    const foliot__path *up = NULL;
    for (unsigned d = 0; d < b->depth; d++) {
        bool mapping = b->open[d]->kind == FOLIOT__MAPPING;
        bool inner = d + 1 < b->depth; // the path goes through its last child; else to its next one
        if (mapping && b->open[d]->count % 2 == 0 && !inner)
            continue;
        uint32_t index = b->open[d]->count - (inner ? 1 : 0);
        steps[d] = (foliot__path){up, mapping ? b->key[d] : NULL, index};
        up = &steps[d];
    }
    foliot__fault(b->reading, FOLIOT_STATUS_INVALID, place_of(mark), up, "%s", sentence);
}

static bool expects_key(const builder *b)
{
    const foliot__node *parent = b->depth ? b->open[b->depth - 1] : NULL;
    return parent && parent->kind == FOLIOT__MAPPING && parent->count % 2 == 0;
}

static foliot__node *add_node(builder *b, foliot__node_kind kind, yaml_mark_t mark)
{
    if (kind != FOLIOT__SCALAR && expects_key(b)) {
        refuse_node(b, mark, "a key must be a word");
        return NULL;
    }
    foliot__node *node = foliot__reading_allocate(b->reading, sizeof *node);
    if (!node)
        return NULL;
    memset(node, 0, sizeof *node);
    node->kind = (uint8_t)kind;
    node->place = place_of(mark);
    if (b->depth == 0) {
        b->top = node;
        return node;
    }
    b->open[b->depth - 1]->count++;
    *b->tail[b->depth - 1] = node;
    b->tail[b->depth - 1] = &node->next;
    return node;
}

static void open_node(builder *b, foliot__node_kind kind, yaml_mark_t mark)
{
    if (b->depth == DEPTH_MAX) {
        refuse_node(b, mark, "is nested deeper than any scene");
        return;
    }
    foliot__node *node = add_node(b, kind, mark);
    if (!node)
        return;
    b->open[b->depth] = node;
    b->tail[b->depth] = &node->as.first;
    b->depth++;
}

static void check_decorations(builder *b, const yaml_event_t *event, const yaml_char_t *anchor,
                              const yaml_char_t *tag)
{
    if (anchor)
        refuse_node(b, event->start_mark, "anchors (&) are not allowed in a scene");
    if (tag)
        refuse_node(b, event->start_mark, "tags (!) are not allowed in a scene");
}

static void apply_event(builder *b, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (b->documents++)
            refuse_node(b, event->start_mark,
                        "a file holds one scene: a second document starts here");
        const yaml_tag_directive_t *tags = event->data.document_start.tag_directives.start;
        if (event->data.document_start.version_directive ||
            tags != event->data.document_start.tag_directives.end)
            refuse_node(b, event->start_mark, "directives (%) are not allowed in a scene");
        break;
    case YAML_ALIAS_EVENT:
        refuse_node(b, event->start_mark, "aliases (*) are not allowed in a scene");
        break;
    case YAML_SCALAR_EVENT:
        check_decorations(b, event, event->data.scalar.anchor, event->data.scalar.tag);
        const char *text = (const char *)event->data.scalar.value;
        size_t length = event->data.scalar.length;
        if (memchr(text, 0, length)) {
            refuse_node(b, event->start_mark, "text must not contain a zero byte");
        } else {
            bool key = expects_key(b);
            foliot__node *node = add_node(b, FOLIOT__SCALAR, event->start_mark);
            if (node) {
                node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
                node->as.text = foliot__reading_copy_text(b->reading, text, length);
                if (key)
                    b->key[b->depth - 1] = node->as.text;
            }
        }
        break;
    case YAML_SEQUENCE_START_EVENT:
        check_decorations(b, event, event->data.sequence_start.anchor,
                          event->data.sequence_start.tag);
        open_node(b, FOLIOT__SEQUENCE, event->start_mark);
        break;
    case YAML_MAPPING_START_EVENT:
        check_decorations(b, event, event->data.mapping_start.anchor,
                          event->data.mapping_start.tag);
        open_node(b, FOLIOT__MAPPING, event->start_mark);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        b->depth--;
        break;
    default:
        break;
    }
}

// libyaml's reader reports a byte offset only. Columns count characters, as libyaml's marks do.
static foliot__text_place place_at(const char *text, size_t length, size_t offset)
{
    foliot__text_place place = {1, 1};
    for (size_t i = 0; i < offset && i < length; i++) {
        if (text[i] == '\n') {
            place.line++;
            place.column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

// libyaml reports the byte that should continue a character. The place is the start of that
// character.
static size_t character_start(const char *text, size_t length, size_t offset)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t back = 1; back <= 3 && back <= offset && offset <= length; back++) {
        unsigned char lead = bytes[offset - back];
        size_t width = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
        if (width > back)
            return offset - back;
        if (width > 1 || lead < 0x80)
            break;
    }
    return offset;
}

static void build_tree(builder *b, yaml_parser_t *parser, const char *text, size_t length)
{
    bool ended = false;
    while (!ended && b->reading->status == FOLIOT_STATUS_OK) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            foliot__text_place place = place_of(parser->problem_mark);
            if (parser->error == YAML_MEMORY_ERROR) {
                foliot__fault(b->reading, FOLIOT_STATUS_MEMORY, place, NULL,
                              "no memory to read the scene");
            } else {
                if (parser->error == YAML_READER_ERROR)
                    place = place_at(text, length,
                                     character_start(text, length, parser->problem_offset));
                const char *context = parser->context ? parser->context : "";
                foliot__fault(b->reading, FOLIOT_STATUS_INVALID, place, NULL,
                              "this is not YAML: %s%s%s", context, *context ? ", " : "",
                              parser->problem ? parser->problem : "unknown problem");
            }
            return;
        }
        ended = event.type == YAML_STREAM_END_EVENT;
        apply_event(b, &event);
        yaml_event_delete(&event);
    }
}

foliot__node *foliot__document_of(foliot__reading *reading, const char *text, size_t length)
{
    builder b = {.reading = reading};
    yaml_parser_t parser;
    size_t mark = foliot__text_mark(text, length); // of a text that is not a file's
    text += mark;
    length -= mark;
    if (!yaml_parser_initialize(&parser)) {
        foliot__fault(reading, FOLIOT_STATUS_MEMORY, (foliot__text_place){1, 1}, NULL,
                      "no memory to read the scene");
        return NULL;
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    build_tree(&b, &parser, text, length);
    yaml_parser_delete(&parser);
    if (reading->status == FOLIOT_STATUS_OK && !b.top)
        foliot__fault(reading, FOLIOT_STATUS_INVALID, (foliot__text_place){1, 1}, NULL,
                      "the file is empty: a scene starts with `foliot: 1`");
    return reading->status == FOLIOT_STATUS_OK ? b.top : NULL;
}

const foliot__node *foliot__value_of(const foliot__node *mapping, const char *key)
{
    if (mapping->kind != FOLIOT__MAPPING)
        return NULL;
    for (const foliot__node *at = mapping->as.first; at; at = at->next->next)
        if (strcmp(at->as.text, key) == 0)
            return at->next;
    return NULL;
}
