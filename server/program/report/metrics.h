// SPDX-License-Identifier: MIT
// metrics.h: the server's figures as Prometheus reads them. The loop's thread copies them, at most
// once a second; any other thread prints the copy. So no scrape delays a tick.
#ifndef FOLIOT_SERVER_METRICS_H
#define FOLIOT_SERVER_METRICS_H

#include <stdint.h>
#include <stdio.h>

#include "foliot/server.h"
#include "foliot/transport.h"
#include "http/http.h"
#include "web/web.h"

#define FOLIOT__METRICS_BOUNDS 12 // of a histogram

typedef struct foliot__histogram {
    uint64_t counts[FOLIOT__METRICS_BOUNDS + 1]; // at most each bound; all
    double sum;                                  // seconds
} foliot__histogram;

typedef struct foliot__metrics {
    uint64_t copied_ns;
    foliot_server_counters server;
    foliot_transport_counters transport;
    foliot_server_presence presence;
    foliot__histogram duration, lateness; // of ticks
    uint32_t sessions;                    // that have not ended
    bool draining;
    bool has_web; // there are pages, and what they count
    foliot__web_counters web;
    double copy_s, answer_s; // processor time of the loop for this copy, and of the HTTP thread for
                             // the last answer with one
} foliot__metrics;

// Processor time of this thread.
uint64_t foliot__metrics_thread_ns(void);
// A step took so long.
void foliot__histogram_add(foliot__histogram *histogram, double seconds);
// Everything but `duration`, `sessions`, `draining`, `web` and processor times.
void foliot__metrics_copy(foliot__metrics *metrics, const foliot_server *server,
                          const foliot_transport *transport, uint64_t now_ns);
// Text format 0.0.4.
void foliot__metrics_print(const foliot__metrics *metrics, const foliot__http_counters *http,
                           FILE *out);

#endif
