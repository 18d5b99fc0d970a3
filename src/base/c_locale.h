/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers with decimal points, whatever the locale of the program: between begin and end this thread reads and prints
 * them as in C. In a locale with decimal commas strtod reads "0.5" as 0.
 */
#ifndef DT_BASE_C_LOCALE_H
#define DT_BASE_C_LOCALE_H

#include <locale.h>
#include <stdlib.h>

typedef struct dt__c_locale {
    locale_t own, before; /* own 0: out of memory, and the locale stays */
} dt__c_locale;

static inline dt__c_locale dt__c_locale_begin(void) {
    const locale_t own = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    return (dt__c_locale){own, own ? uselocale(own) : own};
}

static inline void dt__c_locale_end(const dt__c_locale *self) {
    if (!self->own)
        return;
    (void)uselocale(self->before);
    freelocale(self->own);
}

/* strtod with a decimal point. */
static inline double dt__real_read(const char *text, char **end) {
    const dt__c_locale c = dt__c_locale_begin();
    const double value = strtod(text, end);
    dt__c_locale_end(&c);
    return value;
}

#endif
