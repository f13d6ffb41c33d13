#pragma once
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utext.h>
#include <unicode/utrans.h>

// ICU renames its functions by macro (ubrk_open is ubrk_open_72), which Swift does not see, and the number changes with
// every release: these wrappers have one name for all of them.

static inline UBreakIterator *cicu_break_open(UBreakIteratorType type, const char *locale, UErrorCode *status) {
    return ubrk_open(type, locale, NULL, 0, status);
}
static inline void cicu_break_close(UBreakIterator *iterator) { ubrk_close(iterator); }

/// Sets UTF-8 text, which must stay where it is until the next call. `length` is in bytes, and so are the boundaries.
static inline void cicu_break_set_utf8(
    UBreakIterator *iterator, const char *text, int64_t length, UErrorCode *status
) {
    UText open = UTEXT_INITIALIZER;
    utext_openUTF8(&open, text, length, status);
    if (U_SUCCESS(*status)) ubrk_setUText(iterator, &open, status);
    utext_close(&open);
}
static inline int32_t cicu_break_next(UBreakIterator *iterator) { return ubrk_next(iterator); }
static inline int32_t cicu_break_rule_status(UBreakIterator *iterator) { return ubrk_getRuleStatus(iterator); }

/// NFKC, case folding, and without the characters that show nothing (soft hyphen, zero-width space and the like).
static inline int32_t cicu_fold(
    const UChar *source, int32_t length, UChar *target, int32_t capacity, UErrorCode *status
) {
    const UNormalizer2 *form = unorm2_getNFKCCasefoldInstance(status);
    return unorm2_normalize(form, source, length, target, capacity, status);
}
/// NFKC without case folding.
static inline int32_t cicu_compatibility_form(
    const UChar *source, int32_t length, UChar *target, int32_t capacity, UErrorCode *status
) {
    const UNormalizer2 *form = unorm2_getNFKCInstance(status);
    return unorm2_normalize(form, source, length, target, capacity, status);
}

static inline UTransliterator *cicu_transliterator_open(const UChar *id, int32_t length, UErrorCode *status) {
    return utrans_openU(id, length, UTRANS_FORWARD, NULL, 0, NULL, status);
}
static inline void cicu_transliterator_close(UTransliterator *transliterator) { utrans_close(transliterator); }
/// Rewrites `text` in place; its new length is returned.
static inline int32_t cicu_transliterate(
    const UTransliterator *transliterator, UChar *text, int32_t length, int32_t capacity, UErrorCode *status
) {
    int32_t limit = length;
    utrans_transUChars(transliterator, text, &length, capacity, 0, &limit, status);
    return length;
}

static inline bool cicu_is_letter(int32_t scalar) { return u_isalpha(scalar); }
static inline bool cicu_is_lower(int32_t scalar) { return u_isULowercase(scalar); }
static inline bool cicu_is_upper(int32_t scalar) { return u_isUUppercase(scalar); }
