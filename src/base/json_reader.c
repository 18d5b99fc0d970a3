/* SPDX-License-Identifier: Apache-2.0
 *
 * The stack of open objects and lists is in the reader, so hostile nesting costs no stack of the process.
 */
#include "base/json_reader.h"

#include "base/c_locale.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 64 };

dt__json_reader dt__json_reader_new(dt__arena *arena, const char *chars, size_t n) {
    return (dt__json_reader){.arena = arena, .start = chars, .at = chars, .end = chars + n};
}

bool dt__json_fail(dt__json_reader *self, const char *format, ...) {
    va_list args;
    if (self->failed)
        return false;
    self->failed = true;
    va_start(args, format);
    int n = vsnprintf(self->error, sizeof self->error, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof self->error)
        (void)snprintf(self->error + n, sizeof self->error - (size_t)n, " (at byte %lld of the JSON)",
                       (long long)(self->at - self->start));
    return false;
}

static void skip_blanks(dt__json_reader *self) {
    while (self->at < self->end && (*self->at == ' ' || *self->at == '\n' || *self->at == '\t' || *self->at == '\r'))
        self->at++;
}

/* The next character after blanks; 0 at the end. */
static char peek(dt__json_reader *self) {
    skip_blanks(self);
    return self->at < self->end ? *self->at : '\0';
}

char dt__json_kind(dt__json_reader *self) {
    char c = peek(self);
    if (c && strchr("{[\"tfn", c))
        return c;
    return (c >= '0' && c <= '9') || c == '-' ? '\0' : '?';
}

static bool fail_expected(dt__json_reader *self, const char *what) {
    char c = peek(self);
    if (self->at == self->end)
        return dt__json_fail(self, "expected %s, got the end of the text", what);
    if (c >= ' ' && c <= '~')
        return dt__json_fail(self, "expected %s, got '%c'", what, c);
    return dt__json_fail(self, "expected %s, got byte 0x%02x", what, (unsigned)(unsigned char)c);
}

static bool take(dt__json_reader *self, char c, const char *what) {
    if (self->failed)
        return false;
    if (peek(self) != c || self->at == self->end)
        return fail_expected(self, what);
    self->at++;
    return true;
}

bool dt__json_enter(dt__json_reader *self, char bracket) {
    if (!take(self, bracket, bracket == '{' ? "an object" : "a list"))
        return false;
    if (self->depth == DT__JSON_MAX_DEPTH)
        return dt__json_fail(self, "nested too deeply: expected at most %d levels", DT__JSON_MAX_DEPTH);
    self->close[self->depth] = bracket == '{' ? '}' : ']';
    self->is_first[self->depth++] = true;
    return true;
}

bool dt__json_next(dt__json_reader *self) {
    if (self->failed || self->depth == 0)
        return false;
    const int d = self->depth - 1;
    if (peek(self) == self->close[d] && self->at < self->end) {
        self->at++;
        self->depth--;
        return false;
    }
    if (!self->is_first[d] && !take(self, ',', self->close[d] == '}' ? "',' or '}'" : "',' or ']'"))
        return false;
    self->is_first[d] = false;
    return true;
}

/* Strings. */

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool take_hex(dt__json_reader *self, unsigned *out) {
    *out = 0;
    for (int i = 0; i < 4; i++) {
        int digit = self->at < self->end ? hex_digit(*self->at) : -1;
        if (digit < 0)
            return dt__json_fail(self, "a string has \\u without four hexadecimal digits");
        *out = *out << 4 | (unsigned)digit;
        self->at++;
    }
    return true;
}

/* The code point after "\u"; two escapes for one above 0xffff. */
static bool take_escaped_point(dt__json_reader *self, unsigned *point) {
    unsigned low;
    if (!take_hex(self, point))
        return false;
    if (*point >= 0xdc00 && *point <= 0xdfff)
        return dt__json_fail(self, "a string has half of a surrogate pair");
    if (*point < 0xd800 || *point > 0xdbff)
        return true;
    if (self->end - self->at < 2 || self->at[0] != '\\' || self->at[1] != 'u')
        return dt__json_fail(self, "a string has half of a surrogate pair");
    self->at += 2;
    if (!take_hex(self, &low))
        return false;
    if (low < 0xdc00 || low > 0xdfff)
        return dt__json_fail(self, "a string has half of a surrogate pair");
    *point = 0x10000 + ((*point - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

static size_t encode(unsigned point, char out[4]) {
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t n = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = n; n > 1 && i-- > 1; point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3f));
    out[0] = (char)(n == 1 ? point : leads[n] | point);
    return n;
}

static bool take_escape(dt__json_reader *self, unsigned *point) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char c = self->at < self->end ? *self->at++ : '\0';
    const char *letter = c ? strchr(letters, c) : NULL;
    if (c == 'u')
        return take_escaped_point(self, point);
    if (!letter)
        return dt__json_fail(self, "a string has an unknown escape");
    *point = (unsigned char)meanings[letter - letters];
    return true;
}

/* Bytes of the UTF-8 character at the reader; 0: it is malformed, overlong or a surrogate. */
static size_t utf8_bytes(const dt__json_reader *self) {
    const unsigned char *s = (const unsigned char *)self->at;
    const size_t left = (size_t)(self->end - self->at);
    const size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    if (n == 0 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

/* Reads the characters after the opening quote, and writes them to out unless it is NULL; *n is their number. */
static bool take_chars(dt__json_reader *self, char *out, size_t *n) {
    for (*n = 0; self->at < self->end && *self->at != '"';) {
        char encoded[4];
        const char *from = self->at;
        size_t bytes = utf8_bytes(self);
        unsigned point;
        if (bytes == 0)
            return dt__json_fail(self, "a string is not UTF-8");
        if ((unsigned char)*self->at < 0x20)
            return dt__json_fail(self, "a string has a control character");
        self->at += bytes;
        if (*from == '\\') {
            if (!take_escape(self, &point))
                return false;
            if (point == 0)
                return dt__json_fail(self, "a string has a NUL");
            bytes = encode(point, encoded);
            from = encoded;
        }
        if (out)
            memcpy(out + *n, from, bytes);
        *n += bytes;
    }
    return take(self, '"', "the end of a string");
}

bool dt__json_take_string(dt__json_reader *self, const char **out) {
    size_t n;
    if (!take(self, '"', "a string"))
        return false;
    const char *start = self->at;
    if (!take_chars(self, NULL, &n))
        return false;
    char *copy = dt__arena_alloc(self->arena, n + 1, 1);
    if (!copy)
        return dt__json_fail(self, "out of memory");
    self->at = start;
    *out = copy;
    return take_chars(self, copy, &n);
}

bool dt__json_next_key(dt__json_reader *self, const char **key) {
    return dt__json_next(self) && dt__json_take_string(self, key) && take(self, ':', "':'");
}

/* Numbers and words. */

static bool is_digit(const dt__json_reader *self) {
    return self->at < self->end && *self->at >= '0' && *self->at <= '9';
}

static bool take_digits(dt__json_reader *self) {
    if (!is_digit(self))
        return fail_expected(self, "a digit");
    while (is_digit(self))
        self->at++;
    return true;
}

/* The characters of a number, as a text; *is_integer: without fraction and exponent. */
static bool take_number(dt__json_reader *self, char text[NUMBER_BYTES], bool *is_integer) {
    if (self->failed)
        return false;
    if (dt__json_kind(self) != '\0')
        return fail_expected(self, "a number");
    const char *start = self->at;
    self->at += *self->at == '-';
    if (self->at < self->end && *self->at == '0') {
        self->at++;
        if (is_digit(self))
            return dt__json_fail(self, "a number begins with 0");
    } else if (!take_digits(self))
        return false;
    *is_integer = !(self->at < self->end && (*self->at == '.' || *self->at == 'e' || *self->at == 'E'));
    if (self->at < self->end && *self->at == '.') {
        self->at++;
        if (!take_digits(self))
            return false;
    }
    if (self->at < self->end && (*self->at == 'e' || *self->at == 'E')) {
        self->at++;
        self->at += self->at < self->end && (*self->at == '+' || *self->at == '-');
        if (!take_digits(self))
            return false;
    }
    if (self->at - start >= NUMBER_BYTES)
        return dt__json_fail(self, "a number has more than %d characters", NUMBER_BYTES - 1);
    memcpy(text, start, (size_t)(self->at - start));
    text[self->at - start] = '\0';
    return true;
}

bool dt__json_take_int(dt__json_reader *self, int64_t *out) {
    char text[NUMBER_BYTES];
    bool is_integer;
    if (!take_number(self, text, &is_integer))
        return false;
    errno = 0;
    long long value = is_integer ? strtoll(text, NULL, 10) : 0;
    if (!is_integer || errno == ERANGE)
        return dt__json_fail(self, "expected an integer of 64 bits, got %s", text);
    *out = value;
    return true;
}

static bool take_word(dt__json_reader *self, const char *word) {
    const size_t n = strlen(word);
    if (self->failed)
        return false;
    skip_blanks(self);
    if ((size_t)(self->end - self->at) < n || memcmp(self->at, word, n) != 0)
        return fail_expected(self, word);
    self->at += n;
    return true;
}

static bool skip_string(dt__json_reader *self) {
    size_t n;
    return take(self, '"', "a string") && take_chars(self, NULL, &n);
}

/* A value without members, or the start of one that has some. */
static bool skip_one(dt__json_reader *self) {
    char text[NUMBER_BYTES];
    bool is_integer;
    switch (dt__json_kind(self)) {
    case '{':
        return dt__json_enter(self, '{');
    case '[':
        return dt__json_enter(self, '[');
    case '"':
        return skip_string(self);
    case 't':
        return take_word(self, "true");
    case 'f':
        return take_word(self, "false");
    case 'n':
        return take_word(self, "null");
    case '\0':
        return take_number(self, text, &is_integer);
    default:
        return fail_expected(self, "a value");
    }
}

bool dt__json_skip(dt__json_reader *self) {
    const int depth = self->depth;
    if (self->failed || !skip_one(self))
        return false;
    while (self->depth > depth) {
        const bool is_object = self->close[self->depth - 1] == '}';
        if (!dt__json_next(self)) {
            if (self->failed)
                return false;
            continue;
        }
        if (is_object && !(skip_string(self) && take(self, ':', "':'")))
            return false;
        if (!skip_one(self))
            return false;
    }
    return true;
}

bool dt__json_end(dt__json_reader *self) {
    if (self->failed)
        return false;
    (void)peek(self);
    return self->at == self->end || dt__json_fail(self, "text follows the value");
}
