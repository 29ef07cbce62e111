// SPDX-License-Identifier: MIT
// browser.c: see browser.h.
#include "app.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "program/options/arguments.h"
#include "base/exit_code.h"
#include "program/report/report.h"
#include "http/http.h"

static int fail(int code, const char *problem)
{
    fprintf(stderr, "foliot-server: --web: %s\n", problem);
    return code;
}

// The address of the data channels, and the one that browsers use.
static int plan_channels(foliot__app *a, foliot__web_config *config)
{
    const char *text = a->choices->web.channels;
    foliot_token_address public_one;
    config->channels_off = text && strcmp(text, "off") == 0;
    if (text && !config->channels_off) {
        config->channels_address = a->browsers.channels_address;
        if (!foliot__http_listen_parse(text, a->browsers.channels_address, &config->channels_port))
            return fail(FOLIOT__EXIT_USAGE,
                        "--webrtc expects [ADDRESS:]PORT, such as 8080 or 0.0.0.0:8080, or off");
        if (!strchr(text, ':'))
            snprintf(a->browsers.channels_address, sizeof a->browsers.channels_address, "%s",
                     a->browsers.address);
    }
    if (a->choices->network.public_addresses.count == 0)
        return 0;
    if (foliot_token_address_read(a->choices->network.public_addresses.items[0], 0, &public_one) !=
        FOLIOT_STATUS_OK)
        return fail(FOLIOT__EXIT_USAGE, "--public-address expects ADDRESS[:PORT]");
    inet_ntop(AF_INET6, public_one.ip, a->browsers.public_address,
              sizeof a->browsers.public_address);
    config->public_address = a->browsers.public_address;
    return 0;
}

int foliot__browser_plan(foliot__app *a, foliot_transport_config *udp)
{
    char problem[256];
    foliot__web_config config = {.address = a->browsers.address,
                                 .mtu = (uint32_t)a->choices->network.mtu,
                                 .hosts = a->choices->web.hosts.items,
                                 .host_count = a->choices->web.hosts.count,
                                 .peers_per_address_max = udp->peers_per_address_max};
    if (!a->choices->web.page)
        return 0;
    if (!foliot__http_listen_parse(a->choices->web.page, a->browsers.address, &config.port))
        return fail(FOLIOT__EXIT_USAGE,
                    "it must be [ADDRESS:]PORT, such as 8080 or 0.0.0.0:8080 or [::1]:8080");
    if (!foliot__http_is_loopback(a->browsers.address) && !a->choices->access.insecure &&
        !a->choices->access.key && !a->choices->access.password)
        return fail(FOLIOT__EXIT_USAGE,
                    "an address beyond this machine lets everybody join from a browser: use --key "
                    "FILE or --password FILE, or permit it with --insecure");
    uint32_t most = FOLIOT_PEERS_MAX / (1 + foliot__bind_count()); // all places are for any kind
    udp->peers_max = udp->peers_max < most ? udp->peers_max : most;
    config.peers_max = udp->peers_max;
    int code = plan_channels(a, &config);
    if (code != 0)
        return code;
    a->browsers.web = foliot__web_create(&config, &a->browsers.transport, problem, sizeof problem);
    return a->browsers.web ? 0 : fail(FOLIOT__EXIT_AGAIN, problem);
}

int foliot__browser_open(foliot__app *a)
{
    foliot_transport *both;
    if (!a->browsers.web)
        return 0;
    foliot__web_set_gate(a->browsers.web, a->transport);
    foliot_status status = foliot_transport_create_both(a->transport, a->browsers.transport, &both);
    if (status != FOLIOT_STATUS_OK)
        return fail(FOLIOT__EXIT_AGAIN, foliot_status_get_text(status));
    a->browsers.transport = NULL;
    a->transport = both;
    return 0;
}

int foliot__browser_start(foliot__app *a)
{
    char problem[256];
    const char *why;
    if (!a->browsers.web)
        return 0;
    if (foliot__web_start(a->browsers.web, problem, sizeof problem)) {
        if (foliot__web_get_channel_port(a->browsers.web, &why) || !*why)
            return 0;
        if (a->choices->web.channels) // requested channels are open, or the start fails
            return fail(FOLIOT__EXIT_AGAIN, why);
        fprintf(stderr, "foliot-server: --web: no data channels, WebSockets carry all: %s\n", why);
        return 0;
    }
    return fail(FOLIOT__EXIT_AGAIN, problem);
}

void foliot__browser_announce(const foliot__app *a)
{
    if (!a->browsers.web)
        return;
    foliot__web_print_link(a->browsers.address, foliot__web_get_port(a->browsers.web));
    fflush(stdout);
    if (!foliot__http_is_loopback(a->browsers.address))
        fprintf(stderr,
                "foliot-server: --web: the traffic of browsers is not encrypted: use a proxy with "
                "TLS (docs/BROWSER.md)%s\n",
                a->choices->access.password
                    ? "; without one, browsers cannot join, because others could read the password"
                : a->choices->access.key
                    ? "; without one, others on the network can take over a link"
                    : "");
}

void foliot__browser_flush(foliot__app *a)
{
    char text[256];
    if (!a->browsers.web)
        return;
    foliot__web_flush(a->browsers.web);
    while (foliot__web_poll_note(a->browsers.web, text, sizeof text))
        foliot__log_note("browsers", text);
}

void foliot__browser_stop(foliot__app *a)
{
    foliot__web_destroy(a->browsers.web);
    foliot_transport_destroy(a->browsers.transport);
    a->browsers.web = NULL;
    a->browsers.transport = NULL;
}
