// SPDX-License-Identifier: MIT
// lines.js: segments over a picture (joints, springs, contacts; 28 bytes each, in the layout of
// web/page.h), the body under a pixel, and the place of a point on the page. Loaded on demand.

const VERTEX = `#version 300 es
precision highp float;
layout(location=0) in vec3 point;
layout(location=1) in vec4 colour;
uniform mat4 camera;
out vec4 paint;
void main() { gl_Position = camera * vec4(point, 1); gl_PointSize = 5.0; paint = colour; }`;
const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 paint;
out vec4 result;
void main() { result = paint; }`;
const LINE_BYTES = 28;
const FLOATS = 12; // of an instance

export class Lines {
    constructor(painter) {
        this.painter = painter;
        this.build();
        painter.canvas.addEventListener("webglcontextrestored", () => this.build());
    }

    build() {
        const { gl } = this.painter;
        this.program = gl.createProgram();
        for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
            const shader = gl.createShader(kind);
            gl.shaderSource(shader, text);
            gl.compileShader(shader);
            gl.attachShader(this.program, shader);
        }
        gl.linkProgram(this.program);
        this.camera = gl.getUniformLocation(this.program, "camera");
        this.array = gl.createVertexArray();
        this.buffer = gl.createBuffer();
        gl.bindVertexArray(this.array);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
        gl.enableVertexAttribArray(0);
        gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 16, 0);
        gl.enableVertexAttribArray(1);
        gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, 16, 12);
    }

    // Drawn after a picture, over everything, since joints are inside bodies. The first `dotted` of
    // them have dots at their ends.
    draw(bytes, dotted = bytes.length / LINE_BYTES) {
        const { gl, camera } = this.painter, count = bytes.length / LINE_BYTES;
        if (count === 0 || !camera) return;
        const from = new DataView(bytes.buffer, bytes.byteOffset, bytes.length), points = new ArrayBuffer(count * 32), to = new DataView(points);
        for (let i = 0; i < count; i++)
            for (let end = 0; end < 2; end++) {
                for (let k = 0; k < 3; k++) to.setUint32(32 * i + 16 * end + 4 * k, from.getUint32(LINE_BYTES * i + 12 * end + 4 * k));
                to.setUint32(32 * i + 16 * end + 12, from.getUint32(LINE_BYTES * i + 24));
            }
        gl.useProgram(this.program);
        gl.uniformMatrix4fv(this.camera, false, camera);
        gl.bindVertexArray(this.array);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
        gl.bufferData(gl.ARRAY_BUFFER, points, gl.STREAM_DRAW);
        gl.disable(gl.DEPTH_TEST);
        gl.drawArrays(gl.LINES, 0, 2 * count);
        gl.drawArrays(gl.POINTS, 0, 2 * dotted);
        gl.enable(gl.DEPTH_TEST);
    }
}

// The nearest body on the ray through a pixel: its index among the instances, or -1. Boxes are
// tested as boxes, all others as capsules; planes are not tested.
export function pick(picture, view, canvas, x, y) {
    const box = canvas.getBoundingClientRect(), tan = Math.tan(0.4), aspect = box.width / box.height;
    const u = (((x - box.left) / box.width) * 2 - 1) * tan * aspect, v = (1 - ((y - box.top) / box.height) * 2) * tan;
    const forward = unit(view.target.map((t, k) => t - view.eye[k])), right = unit(cross(forward, view.up)), up = cross(right, forward);
    const ray = unit(forward.map((f, k) => f + right[k] * u + up[k] * v));
    const floats = new Float32Array(picture.instances.slice().buffer), count = picture.counts[0] + picture.counts[1];
    let best = -1, nearest = Infinity;
    for (let i = 0; i < count; i++) {
        const f = floats.subarray(FLOATS * i, FLOATS * i + FLOATS), turn = [f[3], -f[4], -f[5], -f[6]];
        const from = rotate(turn, view.eye.map((e, k) => e - f[k])), along = rotate(turn, ray);
        const grow = view.distance * 0.004; // what is tiny can be hit all the same
        const t = i < picture.counts[0] ? meetCapsule(from, along, f[7] + grow, f[10]) : meetBox(from, along, [f[7], f[8], f[9]]);
        if (t < nearest) nearest = t, best = i;
    }
    return best;
}

const unit = (a) => {
    const l = Math.hypot(...a) || 1;
    return a.map((x) => x / l);
};
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
function rotate([w, ...q], v) {
    const t = cross(q, v).map((c, k) => c + w * v[k]), s = cross(q, t);
    return v.map((x, k) => x + 2 * s[k]);
}
function meetSphere(o, d, r) {
    const b = dot(o, d), root = b * b - (dot(o, o) - r * r);
    return root < 0 || -b - Math.sqrt(root) < 0 ? Infinity : -b - Math.sqrt(root);
}
function meetCapsule(o, d, r, half) {
    let best = Math.min(...[-half, half].map((z) => meetSphere([o[0], o[1], o[2] - z], d, r)));
    const a = d[0] * d[0] + d[1] * d[1], b = o[0] * d[0] + o[1] * d[1], root = b * b - a * (o[0] * o[0] + o[1] * o[1] - r * r);
    if (half > 0 && a > 1e-12 && root >= 0) {
        const t = (-b - Math.sqrt(root)) / a;
        if (t > 0 && Math.abs(o[2] + t * d[2]) <= half) best = Math.min(best, t);
    }
    return best;
}
function meetBox(o, d, half) {
    let low = 0, high = Infinity;
    for (let k = 0; k < 3; k++) {
        const a = (-half[k] - o[k]) / d[k], b = (half[k] - o[k]) / d[k];
        low = Math.max(low, Math.min(a, b));
        high = Math.min(high, Math.max(a, b));
    }
    return low <= high ? low : Infinity;
}

// A click that is not a drag.
export function onClick(canvas, f) {
    let down = null;
    canvas.addEventListener("pointerdown", (e) => (down = [e.clientX, e.clientY]));
    canvas.addEventListener("pointerup", (e) => {
        if (down && Math.hypot(e.clientX - down[0], e.clientY - down[1]) < 5) f(e.clientX, e.clientY);
        down = null;
    });
}

// Where a point of the world is on the canvas, in CSS pixels; null: behind the eye.
export function project(camera, point, canvas) {
    const [x, y, , w] = [0, 1, 2, 3].map((r) => camera[r] * point[0] + camera[4 + r] * point[1] + camera[8 + r] * point[2] + camera[12 + r]);
    return w > 0 ? [((x / w + 1) / 2) * canvas.clientWidth, ((1 - y / w) / 2) * canvas.clientHeight] : null;
}
