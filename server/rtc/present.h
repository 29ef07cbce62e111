// SPDX-License-Identifier: MIT
// present.h: whether OpenSSL and usrsctp are available for data channels. `make WEBRTC=0` omits
// them.
#ifndef FOLIOT_SERVER_RTC_PRESENT_H
#define FOLIOT_SERVER_RTC_PRESENT_H

#if !defined FOLIOT_WEBRTC_OFF && __has_include(<openssl/ssl.h>) && __has_include(<usrsctp.h>)
#define FOLIOT__RTC_PRESENT 1
#else
#define FOLIOT__RTC_PRESENT 0
#endif

#endif
