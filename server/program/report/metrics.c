// SPDX-License-Identifier: MIT
// metrics.c: see metrics.h. Names: foliot_, the counter's own name, _total.
#include "report.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "foliot/foliot.h"

static const double bounds[FOLIOT__METRICS_BOUNDS] = {
    0.00001, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.033, 0.1};

uint64_t foliot__metrics_thread_ns(void)
{
    return foliot__clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void foliot__histogram_add(foliot__histogram *histogram, double seconds)
{
    for (uint32_t i = 0; i < FOLIOT__METRICS_BOUNDS; i++)
        histogram->counts[i] += seconds <= bounds[i];
    histogram->counts[FOLIOT__METRICS_BOUNDS]++;
    histogram->sum += seconds;
}

void foliot__metrics_copy(foliot__metrics *metrics, const foliot_server *server,
                          const foliot_transport *transport, uint64_t now_ns)
{
    metrics->copied_ns = now_ns;
    metrics->server = *foliot_server_get_counters(server);
    metrics->transport = *foliot_transport_get_counters(transport);
    metrics->presence = foliot_server_get_presence(server);
    for (uint32_t i = 0; i < FOLIOT__METRICS_BOUNDS; i++)
        metrics->lateness.counts[i] =
            foliot_server_get_lateness_count(server, bounds[i] * 1e6, NULL);
    metrics->lateness.counts[FOLIOT__METRICS_BOUNDS] =
        foliot_server_get_lateness_count(server, INFINITY, &metrics->lateness.sum);
    metrics->lateness.sum *= 1e-6; // of microseconds
}

static void print_head(FILE *out, const char *name, const char *kind, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
}

static void print_counter(FILE *out, const char *part, const char *name, uint64_t value,
                          const char *help)
{
    char full[128];
    snprintf(full, sizeof full, "foliot_%s%s_total", part, name);
    print_head(out, full, "counter", help);
    fprintf(out, "%s %" PRIu64 "\n", full, value);
}

static void print_gauge(FILE *out, const char *name, double value, const char *help)
{
    print_head(out, name, "gauge", help);
    fprintf(out, "%s %.17g\n", name, value);
}

static void print_histogram(FILE *out, const char *name, const foliot__histogram *h,
                            const char *help)
{
    print_head(out, name, "histogram", help);
    for (uint32_t i = 0; i < FOLIOT__METRICS_BOUNDS; i++)
        fprintf(out, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", name, bounds[i], h->counts[i]);
    fprintf(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, h->counts[FOLIOT__METRICS_BOUNDS]);
    fprintf(out, "%s_sum %.9g\n", name, h->sum);
    fprintf(out, "%s_count %" PRIu64 "\n", name, h->counts[FOLIOT__METRICS_BOUNDS]);
}

static uint32_t open_files(void)
{
    uint32_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count > 3 ? count - 3 : 0; // ".", ".." and the folder itself
}

static double resident_bytes(void)
{
    unsigned long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%lu %lu", &size, &resident) != 2)
        resident = 0;
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

// The counters of the pages and of their data channels.
static void print_web(FILE *out, const foliot__web_counters *web)
{
#define PRINT_HTTP(name, help) print_counter(out, "web_", #name, web->http.name, help);
#define PRINT_CHANNELS(name, help) print_counter(out, "channels_", #name, web->channels.name, help);
    FOLIOT__HTTP_COUNTERS(PRINT_HTTP)
    FOLIOT__RTC_COUNTERS(PRINT_CHANNELS)
#undef PRINT_HTTP
#undef PRINT_CHANNELS
    print_gauge(out, "foliot_web_connections", (double)web->http.connections_now,
                "Open connections of browsers.");
    print_gauge(out, "foliot_web_sockets", (double)web->http.sockets_now,
                "Open WebSockets of browsers.");
}

void foliot__metrics_print(const foliot__metrics *m, const foliot__http_counters *http, FILE *out)
{
    print_head(out, "foliot_build_info", "gauge", "1; the label is the version of this build.");
    fprintf(out, "foliot_build_info{version=\"%s\"} 1\n", FOLIOT_VERSION);
#define PRINT_SERVER(name, help) print_counter(out, "", #name, m->server.name, help);
#define PRINT_TRANSPORT(name, help)                                                                \
    print_counter(out, "transport_", #name, m->transport.name, help);
#define PRINT_HTTP(name, help) print_counter(out, "http_", #name, http->name, help);
    FOLIOT_SERVER_COUNTERS(PRINT_SERVER)
    FOLIOT_TRANSPORT_COUNTERS(PRINT_TRANSPORT)
    FOLIOT__HTTP_COUNTERS(PRINT_HTTP)
#undef PRINT_SERVER
#undef PRINT_TRANSPORT
#undef PRINT_HTTP
    print_gauge(out, "foliot_http_connections", (double)http->connections_now,
                "Open connections of the HTTP service.");
    print_gauge(out, "foliot_http_sockets", (double)http->sockets_now, "Open WebSockets.");
    if (m->has_web)
        print_web(out, &m->web);
    print_gauge(out, "foliot_sessions", m->sessions, "Sessions that have not ended.");
    print_gauge(out, "foliot_peers", m->presence.peers, "Connections of clients.");
    print_gauge(out, "foliot_players", m->presence.players,
                "Players of all sessions, kept slots included.");
    print_gauge(out, "foliot_players_absent", m->presence.absent,
                "Players whose slot is kept while their connection is gone.");
    print_gauge(out, "foliot_inputs_waiting", m->presence.inputs, "Inputs that wait for a tick.");
    print_gauge(out, "foliot_draining", m->draining, "1 while the server admits nobody.");
    print_gauge(out, "foliot_metrics_copy_seconds", m->copy_s,
                "Processor time of the loop for the last copy of these figures.");
    print_gauge(out, "foliot_metrics_answer_seconds", m->answer_s,
                "Processor time of the HTTP thread for the last answer like this one.");
    print_histogram(out, "foliot_tick_duration_seconds", &m->duration,
                    "Time that the step of a tick took, rules and recording included.");
    print_histogram(out, "foliot_tick_lateness_seconds", &m->lateness,
                    "Time from a tick's deadline until it was closed.");
    // Names that every Prometheus client library has.
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    print_head(out, "process_cpu_seconds_total", "counter", "Processor time, user and system.");
    fprintf(out, "process_cpu_seconds_total %.6f\n", seconds);
    print_gauge(out, "process_resident_memory_bytes", resident_bytes(), "Resident memory.");
    print_gauge(out, "process_open_fds", open_files(), "Open file descriptors.");
}
