// SPDX-License-Identifier: MIT
// selftest.c: prints "OK" or the first part of the fingerprint that is wrong. For test_alarms.sh.
#include <stdio.h>

#include "foliot/foliot.h"

int main(void)
{
    const char *part = "OK";
    return puts(foliot_self_test(&part) == FOLIOT_STATUS_OK ? "OK" : part) < 0;
}
