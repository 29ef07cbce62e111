// SPDX-License-Identifier: MIT
// follow.js: moves a camera so that nearly all bodies of the last seconds are in view, without
// jumps. A user who pans it or changes its distance takes control of it; turning it does not.
const FORGOTTEN_MS = 8000; // the weight of old positions falls to 1/e in this time
const GLIDE_MS = 350; // the remaining distance falls to 1/e in this time
const LATE_MS = 50; // a later frame glides no farther ...
const FASTEST = 0.1; // ... and no frame by more than this share of the distance
const ENOUGH = 1e-3;
const FARTHEST = 25; // times the first distance: bodies that fly off without end are ignored
const FLOATS = 12; // of an instance

// The range of the bodies on each axis, without the few that are far from all others. (With ten
// bodies or fewer none is more than three deviations from the mean.)
function ends(floats, count) {
    const low = [0, 0, 0], high = [0, 0, 0];
    for (let k = 0; k < 3; k++) {
        let sum = 0, least = Infinity, most = -Infinity, square = 0;
        for (let i = k; i < FLOATS * count; i += FLOATS) {
            const x = floats[i];
            sum += x;
            if (x < least) least = x;
            if (x > most) most = x;
        }
        const mean = sum / count;
        for (let i = k; i < FLOATS * count; i += FLOATS) square += (floats[i] - mean) ** 2;
        const far = 3 * Math.sqrt(square / count);
        low[k] = Math.max(least, mean - far);
        high[k] = Math.min(most, mean + far);
    }
    return [low, high];
}

export class Follow {
    constructor(camera, canvas) {
        this.camera = camera;
        this.canvas = canvas; // of the picture; the camera's distance refers to its height
        this.restart();
    }

    restart() {
        this.low = null;
    }

    // A new picture, `passed` ms after the last one.
    see({ instances, counts }, passed) {
        const count = counts[0] + counts[1], floats = new Float32Array(instances.buffer, instances.byteOffset, instances.length / 4);
        if (count === 0) return;
        const [low, high] = ends(floats, count), forget = 1 - Math.exp(-passed / FORGOTTEN_MS);
        if (![...low, ...high].every(Number.isFinite)) return;
        if (this.low) {
            for (let k = 0; k < 3; k++) {
                this.low[k] = Math.min(low[k], this.low[k] + (low[k] - this.low[k]) * forget);
                this.high[k] = Math.max(high[k], this.high[k] + (high[k] - this.high[k]) * forget);
            }
            return;
        }
        [this.low, this.high, this.size] = [low, high, 0];
        for (let i = 0; i < count; i++) this.size = Math.max(this.size, Math.min(floats[FLOATS * i + 7], 3));
        this.first = this.wanted();
        this.put(low.map((x, k) => (x + high[k]) / 2), this.first);
    }

    // Extends the view to these points.
    include(points) {
        for (const p of this.low ? points : [])
            for (let k = 0; k < 3; k++) {
                this.low[k] = Math.min(this.low[k], p[k]);
                this.high[k] = Math.max(this.high[k], p[k]);
            }
    }

    // The camera that sees everything: the widest side of the box, or the sphere around it; farther
    // away in a narrow picture.
    wanted() {
        const sides = this.low.map((x, k) => this.high[k] - x);
        const { clientWidth, clientHeight } = this.canvas, narrow = Math.max(1, clientHeight / (clientWidth || 1));
        return narrow * Math.max(1.4 * Math.max(...sides), 1.05 * Math.hypot(...sides), this.size * 6, 1);
    }

    put(target, distance) {
        Object.assign(this.camera, { target, distance });
        Object.assign(this, { target, distance });
    }

    // Before each frame, `ms` milliseconds after the last one.
    glide(passed) {
        const { camera, target, distance } = this;
        if (!this.low || camera.target !== target || camera.distance !== distance) return;
        const share = 1 - Math.exp(-Math.min(passed, LATE_MS) / GLIDE_MS);
        const wider = Math.log(Math.min(this.wanted(), this.first * FARTHEST) / distance);
        const way = target.map((t, k) => (this.low[k] + this.high[k]) / 2 - t), far = Math.hypot(...way) / distance;
        if (Math.abs(wider) < ENOUGH && far < ENOUGH) return;
        const step = Math.min(share, FASTEST / (far || 1));
        this.put(target.map((t, k) => t + way[k] * step), distance * Math.exp(Math.max(-FASTEST, Math.min(FASTEST, wider * share))));
    }
}
