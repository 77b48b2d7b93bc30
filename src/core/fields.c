#include "core/fields.h"

#include <stdio.h>

bool field_complain(field_report *report, const char *at, const char *format, ...) {
    va_list list;
    va_start(list, format);
    report->at = at;
    vsnprintf(report->message, sizeof report->message, format, list);
    va_end(list);
    return false;
}
