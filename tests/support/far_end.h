// SPDX-License-Identifier: MIT
// far_end.h: a peer of a data channel in another process, since usrsctp runs once in a process. It
// connects as a browser does and sends packets back, with the path that they came by in front: 1
// for the channel, 0 for the WebSocket.
#ifndef FOLIOT_TESTS_RTC_FAR_END_H
#define FOLIOT_TESTS_RTC_FAR_END_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "peer.h"

#define FAR_PATH_BYTES 1472 // of Ethernet and IPv4
#define FAR_ECHO_BYTES 9    // the path and the first 8 bytes of a packet

typedef struct far_end {
    pid_t child;
    int ports, report; // pipes to it and from it
} far_end;

// The state that `work` sees in each turn of the process. Turns are at most 10 ms apart.
typedef struct far_turn {
    rtc_peer *peer;
    uint16_t channel_port;
    int report; // its end of the pipe
    char order; // the first byte of a reliable packet since the last turn; 0: none
    uint64_t now_ns;
} far_turn;

typedef void far_work(const far_turn *turn);

// Starts the process, before the test has a server; it waits for the ports. `work`: called in each
// turn; NULL: nothing more is done. Two orders work always: "p700" drops the datagrams of the
// channel that have more than 700 bytes, and "m" moves the peer to another port.
far_end far_end_start(far_work *work);
// `path_bytes`: larger datagrams are lost from the beginning.
void far_end_connect(const far_end *f, uint16_t port, uint16_t channel_port, uint16_t path_bytes);
void far_end_stop(const far_end *f);

#endif
