#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# draw_game.py BUILD RECORDING FIRST LAST OUT.png: draws the ticks FIRST to LAST of a recording of games/katamari as an
# animated PNG. foliot-replay gives the poses and the tags; a painter's algorithm fills flat faces. A frame holds only
# what changed since the one before it. Needs nothing but Python.
import csv
import json
import math
import struct
import subprocess
import sys
import zlib

WIDTH, HEIGHT = 960, 480
EVERY = 4  # ticks between two frames; 15 frames a second
EYE, TARGET, ZOOM = (13, -28, 20), (-0.9, -3.0, 0), 1.55
LIGHT = (0.42, -0.24, 0.875)
HALF = {"cube": 0.2, "player": 0.75}
GREY, FLOOR, BORDER, SHADOW = (184, 188, 194), (238, 236, 231), (196, 190, 182), (206, 202, 195)
SKY = (255, 255, 255)
TEAMS = [(222, 82, 70), (52, 122, 220), (236, 170, 40), (60, 164, 92), (150, 90, 200)]
SHADES = 6
CORNERS = [(x, y, z) for z in (1, -1) for y in (-1, 1) for x in (-1, 1)]
AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
# A normal and its four corners, around the face.
FACES = [(normal, [[i for i, corner in enumerate(CORNERS) if sum(a * b for a, b in zip(normal, corner)) == 1][at]
                   for at in (0, 1, 3, 2)])
         for normal in AXES + tuple(tuple(-part for part in axis) for axis in AXES)]



def make_palette():
    """Entry 0 is transparent: as in the frame before."""
    colours = [SKY, SKY, FLOOR, BORDER, SHADOW]
    for base in [GREY] + TEAMS:
        colours += [tuple(int(part * (0.42 + 0.58 * shade / (SHADES - 1))) for part in base) for shade in range(SHADES)]
    return colours


def paint_of(team, light):
    return 5 + team * SHADES + max(0, min(SHADES - 1, round((0.5 + 0.5 * light) * (SHADES - 1))))


def make_camera():
    ahead = [t - e for t, e in zip(TARGET, EYE)]
    length = math.sqrt(sum(a * a for a in ahead))
    ahead = [a / length for a in ahead]
    flat = math.hypot(ahead[0], ahead[1])
    right = (ahead[1] / flat, -ahead[0] / flat, 0)
    up = (-ahead[2] * ahead[0] / flat, -ahead[2] * ahead[1] / flat, flat)
    scale = ZOOM * HEIGHT

    def project(x, y, z):
        x, y, z = x - EYE[0], y - EYE[1], z - EYE[2]
        depth = max(0.1, x * ahead[0] + y * ahead[1] + z * ahead[2])
        return (WIDTH / 2 + scale * (x * right[0] + y * right[1]) / depth,
                HEIGHT / 2 - scale * (x * up[0] + y * up[1] + z * up[2]) / depth, depth)
    return project


def fill(rows, points, paint):
    """A convex polygon, row by row."""
    top, bottom = min(y for _, y in points), max(y for _, y in points)
    for row in range(max(0, math.ceil(top - 0.5)), min(HEIGHT - 1, math.floor(bottom - 0.5)) + 1):
        at, left, right = row + 0.5, WIDTH, 0
        for (x0, y0), (x1, y1) in zip(points, points[1:] + points[:1]):
            if (y0 <= at) != (y1 <= at):
                x = x0 + (x1 - x0) * (at - y0) / (y1 - y0)
                left, right = min(left, x), max(right, x)
        first, end = max(0, round(left)), min(WIDTH, round(right))
        if first < end:
            rows[row][first:end] = bytes([paint]) * (end - first)


def turn(w, x, y, z, v):
    """A vector in the axes of the world: v + 2 w (q x v) + 2 q x (q x v)."""
    cross = (y * v[2] - z * v[1], z * v[0] - x * v[2], x * v[1] - y * v[0])
    twice = (y * cross[2] - z * cross[1], z * cross[0] - x * cross[2], x * cross[1] - y * cross[0])
    return [a + 2 * (w * b + c) for a, b, c in zip(v, cross, twice)]


def draw_frame(project, bodies):
    rows = [bytearray([1]) * WIDTH for _ in range(HEIGHT)]
    fill(rows, [project(x, y, 0)[:2] for x, y in ((-16.4, -16.4), (16.4, -16.4), (16.4, 16.4), (-16.4, 16.4))], 3)
    fill(rows, [project(x, y, 0)[:2] for x, y in ((-16, -16), (16, -16), (16, 16), (-16, 16))], 2)
    faces = []
    for half, team, place, pose in bodies:
        axes = [turn(*pose, axis) for axis in AXES]
        corners = [[p + half * sum(c[i] * axes[i][k] for i in range(3)) for k, p in enumerate(place)] for c in CORNERS]
        if place[2] < 3:
            feet = [project(c[0] - c[2] * LIGHT[0] / LIGHT[2], c[1] - c[2] * LIGHT[1] / LIGHT[2], 0)[:2] for c in corners]
            fill(rows, hull(feet), 4)
        seen = [project(*c) for c in corners]
        for normal, four in FACES:
            n = turn(*pose, normal)
            middle = [p + half * a for p, a in zip(place, n)]
            if sum(a * (e - m) for a, e, m in zip(n, EYE, middle)) > 0:
                light = sum(a * b for a, b in zip(n, LIGHT))
                depth = project(*place)[2] + sum(seen[i][2] for i in four) / 2
                faces.append((depth, [seen[i][:2] for i in four], paint_of(team, light)))
    for _, points, paint in sorted(faces, key=lambda face: -face[0]):
        fill(rows, points, paint)
    return [bytes(row) for row in rows]


def hull(points):
    """The convex hull, by Andrew's monotone chain."""
    def chain(ordered):
        out = []
        for p in ordered:
            while len(out) > 1 and ((out[-1][0] - out[-2][0]) * (p[1] - out[-2][1]) <=
                                    (out[-1][1] - out[-2][1]) * (p[0] - out[-2][0])):
                out.pop()
            out.append(p)
        return out[:-1]
    ordered = sorted(points)
    return chain(ordered) + chain(ordered[::-1])


def read_bodies(build, recording, first, last):
    """Yields for every frame the cubes and the players: half size, team, place, orientation."""
    replay = f"{build}/foliot-replay"
    commands = subprocess.run([replay, "export", recording, "--what", "commands"], check=True, capture_output=True).stdout
    tags = [(c["tick"], c["body"][0], c["tag"]) for c in map(json.loads, commands.splitlines())
            if c["command"] == "set_body" and "tag" in c]
    table = subprocess.Popen([replay, "export", recording, "--csv", "--every", str(EVERY)], stdout=subprocess.PIPE, text=True)
    team, tick, bodies = {}, None, []
    for row in csv.DictReader(table.stdout):
        if int(row["tick"]) != tick:
            if bodies and first <= tick <= last:
                yield bodies
            tick, bodies = int(row["tick"]), []
            while tags and tags[0][0] < tick:
                _, body, tag = tags.pop(0)
                team[body] = tag
        body = int(row["body"])
        kind = "cube" if row["name"].startswith("cube") else "player" if row["name"] == "" else None
        if kind and first <= tick <= last:
            if kind == "player" and body not in team:
                team[body] = 1 + sum(1 for other in team if other >= 905)
            bodies.append((HALF[kind], min(team.get(body, 0), len(TEAMS)), [float(row[f"position.{a}"]) for a in "xyz"],
                           [float(row[f"orientation.{a}"]) for a in "wxyz"]))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def pack_rows(rows):
    return zlib.compress(b"".join(b"\0" + row for row in rows), 9)


def write_png(path, frames):
    colours = make_palette()
    out = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0)),
           chunk(b"acTL", struct.pack(">II", len(frames), 0)),
           chunk(b"PLTE", b"".join(bytes(colour) for colour in colours)), chunk(b"tRNS", b"\0")]
    sequence, before = 0, None
    for rows in frames:
        top, bottom = 0, HEIGHT
        if before:
            differ = [y for y in range(HEIGHT) if rows[y] != before[y]] or [0]
            top, bottom = differ[0], differ[-1] + 1
            packed = pack_rows([bytes(WIDTH) if rows[y] == before[y] else
                                bytes(0 if a == b else a for a, b in zip(rows[y], before[y])) for y in range(top, bottom)])
        else:
            packed = pack_rows(rows)
        out.append(chunk(b"fcTL", struct.pack(">IIIIIHHBB", sequence, WIDTH, bottom - top, 0, top, EVERY, 60, 0,
                                              1 if before else 0)))
        sequence += 1
        if before:
            out.append(chunk(b"fdAT", struct.pack(">I", sequence) + packed))
            sequence += 1
        else:
            out.append(chunk(b"IDAT", packed))
        before = rows
    out.append(chunk(b"IEND", b""))
    with open(path, "wb") as file:
        file.write(b"".join(out))


def main():
    build, recording, first, last, path = sys.argv[1:]
    project = make_camera()
    write_png(path, [draw_frame(project, bodies) for bodies in read_bodies(build, recording, int(first), int(last))])


main()
