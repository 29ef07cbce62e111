// SPDX-License-Identifier: MIT
// assert.h: programming errors end the program, in release builds too. One condition each. Never
// for what a user, a file or the network can cause.
#ifndef FOLIOT_BASE_ASSERT_H
#define FOLIOT_BASE_ASSERT_H

#define FOLIOT_ASSERT(condition)                                                                   \
    ((condition) ? (void)0 : foliot__assert_failed(#condition, __FILE__, __LINE__))

_Noreturn void foliot__assert_failed(const char *condition, const char *file, int line);

#endif
