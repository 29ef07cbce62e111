// SPDX-License-Identifier: MIT
// assert.h: programming errors end the program, in release builds too. One condition each. Never
// for what a user, a file or the network can cause.
#ifndef FOLIOT_BASE_ASSERT_H
#define FOLIOT_BASE_ASSERT_H

// The text of a failed condition. The page defines it as empty to save bytes: file and line remain.
#ifndef FOLIOT_ASSERT_TEXT
#define FOLIOT_ASSERT_TEXT(condition) #condition
#endif

#define FOLIOT_ASSERT(condition)                                                                   \
    ((condition) ? (void)0                                                                         \
                 : foliot__assert_failed(FOLIOT_ASSERT_TEXT(condition), __FILE__, __LINE__))

_Noreturn void foliot__assert_failed(const char *condition, const char *file, int line);

#endif
