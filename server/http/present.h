// SPDX-License-Identifier: MIT
// present.h: whether libwebsockets is there to build the service with. `make HTTP=0` leaves it out.
#ifndef FOLIOT_SERVER_HTTP_PRESENT_H
#define FOLIOT_SERVER_HTTP_PRESENT_H

#if !defined FOLIOT_HTTP_OFF && __has_include(<libwebsockets.h>)
#define FOLIOT__HTTP_PRESENT 1
#else
#define FOLIOT__HTTP_PRESENT 0
#endif

#endif
