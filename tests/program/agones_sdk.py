#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# agones_sdk.py PORT [--port GAMEPORT] [--period S]: stands in for the SDK server of Agones, as far as a game server uses it:
# state, health, counters and the watch, with the answers, error codes and quirks of the real one (v1.49.0). Chunks of the
# watch are cut anywhere and events repeat. Writes what it is asked to stdout, one line a request. POST /test/allocate is
# not the SDK's: it does what Agones does for an allocation with the annotations in its body.
import argparse, json, socketserver, sys, threading, time
from http.server import BaseHTTPRequestHandler

options = argparse.ArgumentParser()
options.add_argument("sdk", type=int)
options.add_argument("--port", type=int, default=7777)
options.add_argument("--address", default="127.0.0.1")
options.add_argument("--period", type=int, default=1)
options.add_argument("--counter", type=int, default=2, help="-1: none")
given = options.parse_args()
annotations = {"example.org/" + "k" * 63: "long " * 2000}
state, count, changed = "Scheduled", given.counter, threading.Condition()

def game_server():
    return {"object_meta": {"name": "local", "namespace": "default", "uid": "1234", "resource_version": "v1", "generation": "1",
                            "creation_timestamp": "1795246775", "deletion_timestamp": "0", "annotations": annotations, "labels": {"islocal": "true"}},
            "spec": {"health": {"disabled": False, "period_seconds": given.period, "failure_threshold": 5, "initial_delay_seconds": 10}},
            "status": {"state": state, "address": given.address, "addresses": [], "ports": [{"name": "default", "port": given.port}],
                       "players": None, "counters": {"sessions": {"count": str(count), "capacity": "10"}} if given.counter >= 0 else None, "lists": {}}}

class Sdk(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *unused):
        pass

    def answer(self, code, value):
        body = b"" if value is None else json.dumps(value, separators=(",", ":")).encode()
        self.send_response(code)
        if value is not None:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def fail(self, code, number, why):
        self.answer(code, {"code": number, "message": why, "details": []})

    def body(self):
        text = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        print("%.2f" % time.time(), self.command, self.path, text, flush=True)
        return text

    def move(self, to):
        global state
        with changed:
            state = to
            changed.notify_all()
        self.answer(200, {})

    def do_POST(self):
        text = self.body()
        if self.path == "/health":
            self.answer(*((200, {}) if text else (400, None)))
        elif text and not text.startswith("{"):
            self.fail(400, 3, "invalid character")
        elif self.path == "/test/allocate":
            annotations.update(json.loads(text), **{"agones.dev/last-allocated": str(time.time())})
            self.move("Allocated")
        elif self.path in ("/ready", "/allocate", "/shutdown"):
            self.move({"/ready": "Ready", "/allocate": "Allocated", "/shutdown": "Shutdown"}[self.path])
        else:
            self.fail(404, 5, "Not Found")

    def do_PUT(self):
        wanted = json.loads(self.body())
        if self.path not in ("/metadata/annotation", "/metadata/label"):
            return self.fail(404, 5, "Not Found")
        with changed:
            annotations["agones.dev/sdk-" + wanted["key"]] = wanted["value"]
            changed.notify_all()
        self.answer(200, {})

    def do_PATCH(self):
        global count
        text = self.body()
        if self.path != "/v1beta1/counters/sessions" or given.counter < 0:
            return self.fail(500, 2, "not found. Counter not found")
        wanted = count + int(json.loads(text).get("countDiff", "0"))
        if not 0 <= wanted <= 10:
            return self.fail(500, 2, "out of range. Count must be within range [0,Capacity].")
        count = wanted
        self.answer(200, {"name": "sessions", "count": str(count), "capacity": "10"})

    def do_GET(self):
        self.body()
        if self.path == "/gameserver":
            return self.answer(200, game_server())
        if self.path != "/watch/gameserver":
            return self.fail(404, 5, "Not Found")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for turn in range(12): # then the stream ends, as streams do
                line = (json.dumps({"result": game_server()}) + "\n").encode() * (1 + turn % 2)
                while line: # borders anywhere
                    piece, line = line[:97 + 13 * turn], line[97 + 13 * turn:]
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                    self.wfile.flush()
                    time.sleep(0.002)
                with changed:
                    changed.wait(0.5)
        except OSError:
            pass
        self.close_connection = True

class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    allow_reuse_address, daemon_threads = True, True

Server(("127.0.0.1", given.sdk), Sdk).serve_forever()
