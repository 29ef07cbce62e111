// SPDX-License-Identifier: MIT
// draw.js: draws bodies with WebGL2: one call per mesh, instances of 48 bytes in the layout of
// web/page.h, a sun with a shadow, and a ground grid on planes.

const INSTANCE_BYTES = 48;
const SHADOW_SIZE = 2048;
const SLOW_MS = 45;
const QUICK_MS = 20; // and less, over that number of frames: software that draws may get shadows
const QUICK_FRAMES = 60;

// A point's w: which half of the mesh it belongs to, -1, 0, 1. A turn: w, x, y, z. The w of a size:
// half length. A plane has no size: it goes as far as can be seen, around what is looked at. (These
// words are not in the shaders, since the minifier skips them.) A body is drawn at least some two
// pixels wide.
const COMMON = `#version 300 es
precision highp float;
layout(location=0) in vec4 point;
layout(location=1) in vec3 facing;
layout(location=2) in vec3 position;
layout(location=3) in vec4 turn;
layout(location=4) in vec4 size;
layout(location=5) in vec4 colour;
uniform mat4 camera, sun;
uniform vec3 focus;
uniform float reach;
vec3 turned(vec3 v) {
    vec3 u = turn.yzw;
    return v + 2.0 * cross(u, cross(u, v) + turn.x * v);
}
vec3 place() {
    if (size.x == 0.0) {
        vec3 n = turned(vec3(0, 0, 1));
        vec3 middle = focus - n * dot(focus - position, n);
        return middle + turned(vec3(point.xy * reach, 0));
    }
    float grow = max(1.0, 0.004 * (camera * vec4(position, 1)).w / max(size.x, max(size.y, size.z)));
    return position + turned(point.xyz * size.xyz + vec3(0, 0, point.w * size.w)) * grow;
}
`;
const VERTEX = COMMON + `
out vec3 normal, at; out vec4 paint, shade; flat out float plane; out vec2 ground;
void main() {
    at = place();
    plane = size.x == 0.0 ? 1.0 : 0.0;
    normal = turned(facing);
    paint = colour;
    ground = plane > 0.5 ? vec2(dot(at, turned(vec3(1, 0, 0))), dot(at, turned(vec3(0, 1, 0)))) : vec2(0);
    shade = sun * vec4(at, 1);
    gl_Position = camera * vec4(at, 1);
}`;
// A camera behind a wall sees the room.
const FRAGMENT = `#version 300 es
precision highp float;
precision highp sampler2DShadow;
in vec3 normal, at; in vec4 paint, shade; flat in float plane; in vec2 ground;
uniform vec3 light, eye, sky, focus;
uniform float reach;
out vec4 result;
`;
const SHADE = `
uniform sampler2DShadow shadow;
float lit() {
    vec3 p = shade.xyz / shade.w * 0.5 + 0.5;
    if (any(lessThan(p, vec3(0))) || any(greaterThan(p, vec3(1)))) return 1.0;
    p.z -= 0.0015;
    float sum = 0.0;
    for (int y = -1; y <= 1; y += 2)
        for (int x = -1; x <= 1; x += 2)
            sum += texture(shadow, p + vec3(x, y, 0) * (0.6 / ${SHADOW_SIZE}.0));
    return sum * 0.25;
}`;
const LIGHT = `
void main() {
    vec3 n = normalize(normal);
    vec3 base = paint.rgb;
    if (plane > 0.5) {
        if (dot(n, eye - at) < 0.0) discard;
        vec2 lines = abs(fract(ground - 0.5) - 0.5) / fwidth(ground);
        float line = 1.0 - min(min(lines.x, lines.y), 1.0);
        float fine = clamp(1.0 - max(fwidth(ground).x, fwidth(ground).y) * 3.0, 0.0, 1.0);
        base = mix(vec3(0.42, 0.45, 0.50), vec3(0.33, 0.36, 0.41), line * fine);
    }
    float facing = max(dot(n, light), 0.0) * lit();
    float ambient = 0.42 + 0.14 * dot(n, vec3(0, 0, 1));
    vec3 c = base * (ambient + 0.72 * facing);
    float fog = plane > 0.5 ? smoothstep(reach * 0.25, reach * 0.95, distance(at, focus)) : 0.0;
    result = vec4(mix(c, sky, fog), 1);
}`;
const SHADOW_VERTEX = COMMON + `void main() { gl_Position = sun * vec4(place(), 1); }`;
const SHADOW_FRAGMENT = `#version 300 es
precision lowp float;
void main() {}`;
// A shadow lookup takes half of a software renderer's time for a picture, even without a shadow.
const PROGRAMS = [
    [VERTEX, FRAGMENT + "#define lit() 1.0" + LIGHT],
    [VERTEX, FRAGMENT + SHADE + LIGHT],
    [SHADOW_VERTEX, SHADOW_FRAGMENT],
];
const PLAIN = 0, SHADED = 1, SHADOW = 2;

// -- vectors and matrices, column by column

export const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const unit = (a) => {
    const l = Math.hypot(...a) || 1;
    return [a[0] / l, a[1] / l, a[2] / l];
};
function multiply(a, b) {
    const m = new Float32Array(16);
    for (let c = 0; c < 4; c++)
        for (let r = 0; r < 4; r++)
            for (let k = 0; k < 4; k++) m[4 * c + r] += a[4 * k + r] * b[4 * c + k];
    return m;
}
function lookAt(eye, target, up) {
    const z = unit(sub(eye, target)), x = unit(cross(up, z)), y = cross(z, x);
    return [x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1];
}
function perspective(fov, aspect, near, far) {
    const f = 1 / Math.tan(fov / 2);
    return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0];
}
function orthographic(r, near, far) {
    return [1 / r, 0, 0, 0, 0, 1 / r, 0, 0, 0, 0, 2 / (near - far), 0, 0, 0, (far + near) / (near - far), 1];
}

// -- meshes: points of four numbers and their normals

function roundMesh(rows, columns) {
    const out = [];
    const corner = (i, j, upper) => {
        const a = Math.PI * (i / rows - 0.5), b = (2 * Math.PI * j) / columns;
        const v = [Math.cos(a) * Math.cos(b), Math.cos(a) * Math.sin(b), Math.sin(a)];
        out.push(...v, upper ? 1 : -1, ...v);
    };
    const quad = (i0, u0, i1, u1, j) => {
        corner(i0, j, u0), corner(i0, j + 1, u0), corner(i1, j + 1, u1);
        corner(i0, j, u0), corner(i1, j + 1, u1), corner(i1, j, u1);
    };
    const half = rows / 2;
    for (let j = 0; j < columns; j++) {
        for (let i = 0; i < half; i++) quad(i, false, i + 1, false, j);
        quad(half, false, half, true, j);
        for (let i = half; i < rows; i++) quad(i, true, i + 1, true, j);
    }
    return out;
}
function boxMesh() {
    const out = [];
    for (let axis = 0; axis < 3; axis++)
        for (const side of [-1, 1]) {
            const n = [0, 0, 0], u = [0, 0, 0], v = [0, 0, 0];
            n[axis] = side, u[(axis + 1) % 3] = 1, v[(axis + 2) % 3] = side;
            for (const [s, t] of [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]])
                out.push(...n.map((x, k) => x + s * u[k] + t * v[k]), 0, ...n);
        }
    return out;
}
function planeMesh() {
    return [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]].flatMap(([x, y]) => [x, y, 0, 0, 0, 0, 1]);
}
const MESHES = [roundMesh(12, 20), boxMesh(), planeMesh()];
const PLANE = 2;

function compile(gl, vertex, fragment) {
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
        const shader = gl.createShader(kind);
        gl.shaderSource(shader, text);
        gl.compileShader(shader);
        gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
        throw new Error("WebGL: " + gl.getProgramInfoLog(program) +
            gl.getAttachedShaders(program).map((s) => gl.getShaderInfoLog(s)).join(" "));
    const uniform = (name) => gl.getUniformLocation(program, name);
    const at = {};
    for (const name of ["camera", "sun", "focus", "reach", "shadow", "light", "eye", "sky"]) at[name] = uniform(name);
    return { program, at };
}

const SKY = [0.72, 0.80, 0.89];

export class Painter {
    constructor(canvas) {
        this.canvas = canvas;
        this.quality = 2;
        this.mean = 0; // of the time between two frames
        this.spent = 0; // within WebGL in the last frame, ms
        this.resize(); // a canvas that has its context waits for each change of its size
        const context = (more) => canvas.getContext("webgl2", { alpha: false, ...more });
        let gl = context({ failIfMajorPerformanceCaveat: true });
        let software = !gl;
        gl ??= context({ antialias: false });
        if (!gl) throw new Error("this browser has no WebGL2, or it is switched off");
        this.gl = gl;
        const named = gl.getExtension("WEBGL_debug_renderer_info");
        software ||= /swiftshader|llvmpipe|software/i.test(named && gl.getParameter(named.UNMASKED_RENDERER_WEBGL));
        if (software) this.quality = 1;
        this.software = software;
        this.quick = software ? QUICK_FRAMES : 0; // frames until it may get shadows
        canvas.addEventListener("webglcontextlost", (e) => e.preventDefault());
        canvas.addEventListener("webglcontextrestored", () => this.build());
        this.build();
    }

    build() {
        const gl = this.gl;
        this.programs = [];
        this.frame = this.drawing = null;
        if (this.quality === 2) this.buildShadow();
        else this.program(PLAIN);
        this.instances = gl.createBuffer();
        this.capacity = 0;
        this.meshes = MESHES.map((points) => this.buildMesh(new Float32Array(points)));
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        gl.enable(gl.DEPTH_TEST);
        gl.clearColor(...SKY, 1);
        gl.clear(gl.COLOR_BUFFER_BIT); // until there are bodies
    }

    program(kind) {
        return (this.programs[kind] ??= compile(this.gl, ...PROGRAMS[kind]));
    }

    buildShadow() {
        const gl = this.gl;
        this.program(SHADED);
        this.program(SHADOW);
        this.texture = gl.createTexture();
        gl.bindTexture(gl.TEXTURE_2D, this.texture);
        gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, SHADOW_SIZE, SHADOW_SIZE);
        for (const [name, value] of [[gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
            [gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
            [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]])
            gl.texParameteri(gl.TEXTURE_2D, name, value);
        this.frame = gl.createFramebuffer();
        gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
        gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.texture, 0);
    }

    resize() {
        const canvas = this.canvas, scale = [0.5, 1, Math.min(devicePixelRatio || 1, 2)][this.quality];
        const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((x) => Math.max(1, Math.round(x * scale)));
        if (canvas.width !== width) canvas.width = width;
        if (canvas.height !== height) canvas.height = height;
    }

    buildMesh(points) {
        const gl = this.gl, array = gl.createVertexArray(), buffer = gl.createBuffer();
        gl.bindVertexArray(array);
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        gl.bufferData(gl.ARRAY_BUFFER, points, gl.STATIC_DRAW);
        gl.enableVertexAttribArray(0);
        gl.vertexAttribPointer(0, 4, gl.FLOAT, false, 28, 0);
        gl.enableVertexAttribArray(1);
        gl.vertexAttribPointer(1, 3, gl.FLOAT, false, 28, 16);
        for (const i of [2, 3, 4, 5]) {
            gl.enableVertexAttribArray(i);
            gl.vertexAttribDivisor(i, 1);
        }
        return { array, vertices: points.length / 7 };
    }

    // There is no base instance in WebGL2: the pointers move instead.
    drawMesh(mesh, first, count) {
        const gl = this.gl, at = first * INSTANCE_BYTES;
        if (count === 0) return;
        gl.bindVertexArray(this.meshes[mesh].array);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
        gl.vertexAttribPointer(2, 3, gl.FLOAT, false, INSTANCE_BYTES, at);
        gl.vertexAttribPointer(3, 4, gl.FLOAT, false, INSTANCE_BYTES, at + 12);
        gl.vertexAttribPointer(4, 4, gl.FLOAT, false, INSTANCE_BYTES, at + 28);
        gl.vertexAttribPointer(5, 4, gl.UNSIGNED_BYTE, true, INSTANCE_BYTES, at + 44);
        gl.drawArraysInstanced(gl.TRIANGLES, 0, this.meshes[mesh].vertices, count);
    }

    drawAll(kind, counts, values, planes) {
        const gl = this.gl, program = this.program(kind);
        gl.useProgram(program.program);
        gl.uniformMatrix4fv(program.at.camera, false, values.camera);
        gl.uniformMatrix4fv(program.at.sun, false, values.sun);
        for (const name of ["focus", "light", "eye", "sky"]) gl.uniform3fv(program.at[name], values[name]);
        gl.uniform1f(program.at.reach, values.reach);
        gl.uniform1i(program.at.shadow, 0);
        let first = 0;
        counts.forEach((count, mesh) => {
            if (planes || mesh !== PLANE) this.drawMesh(mesh, first, count);
            first += count;
        });
    }

    // A slow machine gets no shadows, and then fewer dots; a software renderer begins without
    // shadows. Frames that are late for another reason (a hidden tab) are not counted.
    adapt(now) {
        const passed = now - (this.drawn ?? now);
        this.drawn = now;
        if (passed === 0 || passed > SLOW_MS * 20) return;
        this.mean += (passed - this.mean) * 0.15;
        if (this.quick > 0 && --this.quick === 0 && this.quality === 1 && this.mean < QUICK_MS) this.quality = 2;
        if (this.mean < SLOW_MS || this.quality === 0) return;
        this.quality--;
        this.mean = 0;
    }

    // Called after the drawing calls: the picture is drawn now, not with the next frame.
    prepare() {
        this.gl.deleteSync(this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0));
        this.gl.flush();
        this.drawing = null; // what comes may queue behind it
        this.rest();
    }

    // Whether a software renderer still draws the last picture. The browser shows a picture when
    // everything requested before is drawn: a second picture in the queue makes the first one late.
    busy() {
        const { gl, drawing } = this;
        return drawing && gl.getSyncParameter(drawing, gl.SYNC_STATUS) === gl.UNSIGNALED;
    }

    // A frame in which nothing changes: the time until the next one means nothing.
    rest() {
        this.drawn = undefined;
    }

    // `view`: {eye, target, up, distance}, from a camera.
    draw(picture, view) {
        const gl = this.gl, canvas = this.canvas;
        this.adapt(performance.now());
        const began = performance.now();
        this.resize();
        const light = unit([0.45, -0.35, 0.85]), r = view.distance * 1.2;
        const sunEye = view.target.map((x, k) => x + light[k] * r * 3);
        const sun = multiply(orthographic(r, r, r * 6), lookAt(sunEye, view.target, [0, 1, 0]));
        const camera = multiply(perspective(0.8, canvas.width / canvas.height, view.distance * 0.01, view.distance * 200),
            lookAt(view.eye, view.target, view.up));
        const values = { camera, sun, light, eye: view.eye, sky: SKY, focus: view.target, reach: view.distance * 12 };
        this.camera = camera;
        gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
        if (picture.instances.length > this.capacity) this.capacity = picture.instances.length * 2;
        gl.bufferData(gl.ARRAY_BUFFER, this.capacity, gl.STREAM_DRAW);
        gl.bufferSubData(gl.ARRAY_BUFFER, 0, picture.instances);
        const shadows = this.quality === 2;
        if (shadows) {
            if (!this.frame) this.buildShadow();
            gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
            gl.viewport(0, 0, SHADOW_SIZE, SHADOW_SIZE);
            gl.clear(gl.DEPTH_BUFFER_BIT);
            gl.bindTexture(gl.TEXTURE_2D, null);
            this.drawAll(SHADOW, picture.counts, values, false);
        }
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        gl.viewport(0, 0, canvas.width, canvas.height);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        gl.bindTexture(gl.TEXTURE_2D, shadows ? this.texture : null);
        this.drawAll(shadows ? SHADED : PLAIN, picture.counts, values, true);
        if (this.software) {
            gl.deleteSync(this.drawing);
            this.drawing = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
            gl.flush();
        }
        this.spent = performance.now() - began;
    }
}

// -- the camera: around a point, by mouse, touch and wheel

export class Camera {
    constructor(canvas) {
        this.target = [0, 0, 0];
        this.distance = 0; // 0: not fitted to anything yet
        this.around = -1.1;
        this.above = 0.45;
        const held = new Map();
        canvas.addEventListener("pointerdown", (e) => {
            canvas.setPointerCapture(e.pointerId);
            held.set(e.pointerId, e);
        });
        const release = (e) => held.delete(e.pointerId);
        canvas.addEventListener("pointerup", release);
        canvas.addEventListener("pointercancel", release);
        canvas.addEventListener("pointermove", (e) => {
            const before = held.get(e.pointerId);
            if (!before) return;
            const spread = () => {
                const [a, b] = [...held.values()];
                return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) || 1;
            };
            const wide = held.size === 2 ? spread() : 0;
            held.set(e.pointerId, e);
            if (held.size === 2) {
                this.distance *= wide / spread();
            } else if (e.shiftKey || before.button === 2) {
                this.pan(e.clientX - before.clientX, e.clientY - before.clientY, canvas.clientHeight);
            } else {
                this.around -= (e.clientX - before.clientX) * 0.007;
                this.above = Math.min(1.55, Math.max(-1.2, this.above + (e.clientY - before.clientY) * 0.007));
            }
        });
        canvas.addEventListener("contextmenu", (e) => e.preventDefault());
        canvas.addEventListener("wheel", (e) => {
            e.preventDefault();
            // A notch of a wheel is some 100 pixels or 3 lines; a touchpad sends many small steps
            // instead.
            const notches = (e.deltaY * [1, 33, 100][e.deltaMode]) / 100;
            this.distance *= Math.exp(Math.max(-1, Math.min(1, notches)) * 0.12);
        }, { passive: false });
    }

    pan(x, y, height) {
        const view = this.view(), forward = unit(sub(view.target, view.eye));
        const right = unit(cross(forward, view.up)), up = cross(right, forward), s = (0.85 * this.distance) / height;
        this.target = this.target.map((t, k) => t - right[k] * x * s + up[k] * y * s);
    }

    // Called once, when the first bodies are visible: fits everything except planes, or nearly
    // everything.
    fit(picture) {
        const count = picture.counts[0] + picture.counts[1];
        if (this.distance || count === 0) return;
        const floats = new Float32Array(picture.instances.slice().buffer);
        const axes = [0, 1, 2].map((k) => {
            const all = Array.from({ length: count }, (_, i) => floats[12 * i + k]).sort((a, b) => a - b);
            const low = all[Math.floor(count * 0.02)], high = all[Math.ceil(count * 0.98) - 1];
            return [(low + high) / 2, high - low];
        });
        let size = 0;
        for (let i = 0; i < count; i++) size = Math.max(size, Math.min(floats[12 * i + 7], 3));
        this.target = axes.map((a) => a[0]);
        this.distance = Math.max(1.4 * Math.max(...axes.map((a) => a[1])), size * 6, 1);
    }

    follow(position, share) {
        this.target = this.target.map((t, k) => t + (position[k] - t) * share);
    }

    view() {
        const c = Math.cos(this.above), out = [c * Math.cos(this.around), c * Math.sin(this.around), Math.sin(this.above)];
        const distance = this.distance || 10;
        return { eye: this.target.map((t, k) => t + out[k] * distance), target: this.target, up: [0, 0, 1], distance };
    }
}
