#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# handshake_reader.py PORT [TOKEN-FILE [KEY-FILE]]: joins a server at 127.0.0.1 as a spectator, up to its welcome, over
# a connection with keys. Written from docs/reference/protocol.md, section 1, alone, with nothing but Python's own hashes:
# X25519, ChaCha20-Poly1305 and HChaCha20 are written out here. With the key it also opens the token as a server does.
import base64
import hashlib
import os
import socket
import struct
import sys
import time

P = 2**255 - 19


def x25519(secret, point):  # RFC 7748, section 5
    k = bytearray(secret)
    k[0] &= 248
    k[31] = k[31] & 127 | 64
    k = int.from_bytes(k, "little")
    x1 = int.from_bytes(point, "little") & (2**255 - 1)
    x2, z2, x3, z3, swap = 1, 0, x1, 1, 0
    for t in reversed(range(255)):
        bit = k >> t & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a, b * b, d * a, c * b
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % P, x1 * (da - cb) ** 2 % P
        x2, z2 = aa * bb % P, e * (aa + 121665 * e) % P
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def rounds(s):
    def quarter(a, b, c, d):
        for first, second, third, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[first] = (s[first] + s[second]) & 0xFFFFFFFF
            v = s[third] ^ s[first]
            s[third] = (v << by | v >> 32 - by) & 0xFFFFFFFF

    for _ in range(10):
        for q in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)):
            quarter(*q)
        for q in ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
            quarter(*q)
    return s


CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")


def block(key, counter, nonce):  # RFC 8439, section 2.3
    start = list(CONSTANTS + struct.unpack("<8I", key) + (counter,) + struct.unpack("<3I", nonce))
    mixed = rounds(list(start))
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(start, mixed)))


def hchacha20(key, nonce):
    s = rounds(list(CONSTANTS + struct.unpack("<8I", key) + struct.unpack("<4I", nonce)))
    return struct.pack("<8I", *(s[0:4] + s[12:16]))


def stream(key, nonce, data):
    out = bytearray()
    for i in range(0, len(data), 64):
        out += bytes(a ^ b for a, b in zip(data[i:i + 64], block(key, 1 + i // 64, nonce)))
    return bytes(out)


def tag_of(key, nonce, head, sealed):
    one_time = block(key, 0, nonce)[:32]
    r = int.from_bytes(one_time[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    text = b""
    for part in (head, sealed):
        text += part + bytes(-len(part) % 16)
    text += struct.pack("<QQ", len(head), len(sealed))
    a = 0
    for i in range(0, len(text), 16):
        a = (a + int.from_bytes(text[i:i + 16] + b"\1", "little")) * r % (2**130 - 5)
    return ((a + int.from_bytes(one_time[16:], "little")) & (2**128 - 1)).to_bytes(16, "little")


def seal(key, nonce, head, plain):
    sealed = stream(key, nonce, plain)
    return sealed + tag_of(key, nonce, head, sealed)


def unseal(key, nonce, head, sealed):
    sealed, tag = sealed[:-16], sealed[-16:]
    if tag_of(key, nonce, head, sealed) != tag:
        raise SystemExit("not ok: a tag is wrong")
    return stream(key, nonce, sealed)


def check(what, good):
    if not good:
        raise SystemExit("not ok: " + what)


def read_token(file):
    text = open(file).read().strip()
    check("the token's mark", text.startswith("foliot-token-1."))
    text = text[len("foliot-token-1."):]
    token = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    check("877 bytes of a token", len(token) == 877)
    return token


def check_token(token, key):
    sealed, nonce = token[281:], token[281:305]
    plain = unseal(hchacha20(key, nonce[:16]), bytes(4) + nonce[16:], b"foliot token 1", sealed[24:])
    check("556 bytes", len(plain) == 556)
    client, created, expires, role = struct.unpack("<QQQB", plain[:25])
    check("expiry inside and outside", token[:8] == plain[16:24] and created < expires)
    check("addresses inside and outside", token[8:153] == plain[25:170])
    check("session inside and outside", token[153:217] == plain[170:234])
    check("secret inside and outside", token[217:281] == plain[492:])
    user = plain[236:236 + struct.unpack("<H", plain[234:236])[0]]
    print("token: client %d role %d user %s" % (client, role, user.decode()))


def hello():
    def text(s):
        return bytes([0xA0 | len(s)]) + s.encode()

    zeros = b"\xc4\x10" + bytes(16)
    #      hello  1   session    name             spectates
    return (b"\x9c\x01\x01" + text("") + text("reader") + b"\x01" + zeros + zeros + text("reader") + b"\x00" +
            text("") + b"\x00" + b"\x01")


def main():
    port = int(sys.argv[1])
    token = read_token(sys.argv[2]) if len(sys.argv) > 2 else None
    if len(sys.argv) > 3:
        check_token(token, bytes.fromhex(open(sys.argv[3]).read().strip()))
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(0.25)
    s.connect(("127.0.0.1", port))
    connection = os.urandom(4)
    end = time.time() + 60

    def receive(send):  # what was sent may be lost: it is sent again until something comes
        while time.time() < end:
            try:
                return s.recv(2000)
            except TimeoutError:
                send()
        raise SystemExit("not ok: no answer")

    def ask():
        s.send(b"foliot?k" + connection + bytes(52))

    ask()
    answer = receive(ask)
    check("the answer's form", len(answer) == 53 and answer[:12] == b"foliot!k" + connection)
    kind, share = answer[20], answer[21:]
    check("the kind of keys", kind == (3 if token else 1))
    secret = os.urandom(32)
    said = b"foliot>k" + connection + answer[12:20] + bytes([kind, 0]) + x25519(secret, (9).to_bytes(32, "little"))
    if token:
        said += token[281:]
    root = hashlib.blake2b(b"foliot keys 1" + x25519(secret, share) + (token[217:281] if token else bytes(64)) +
                           bytes(32) + share + said).digest()

    def derive(label, size):
        return hashlib.blake2b(label, digest_size=size, key=root).digest()

    to_server, to_client = derive(b"to server", 32), derive(b"to client", 32)
    opening = said + derive(b"proof", 16)
    packet = hello()
    sent = 0  # datagrams with a hello

    def open_and_greet():
        nonlocal sent
        s.send(opening)
        head = b"\x68" + connection + struct.pack("<I", sent)[:3]
        nonce = bytes(4) + struct.pack("<Q", sent)
        s.send(head + seal(to_server, nonce, head, struct.pack("<H", len(packet)) + packet))
        sent += 1

    open_and_greet()
    while True:
        got = receive(open_and_greet)
        if got.startswith(b"foliot!"):  # to what was sent twice
            continue
        check("a sealed datagram of this connection", got[0] in (0x68, 0x69, 0x6A) and got[1:5] == connection)
        number = got[5:8] + bytes(5)
        plain = unseal(to_client, bytes(4) + number, got[:8], got[8:])
        if got[0] != 0x68:
            continue
        length = struct.unpack("<H", plain[:2])[0]
        message = plain[2:2 + length]
        if message[0] in (0xDC,) and message[3] == 2 or message[1] == 2:  # welcome
            check("the protocol of the welcome", message[4 if message[0] == 0xDC else 2] == 1)
            print("ok: welcomed")
            return
        check("no refusal", message[1] != 3)


main()
