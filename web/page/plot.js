// SPDX-License-Identifier: MIT
// plot.js: curves over time on a canvas. It keeps a bounded number of points: the last ones or, for
// a whole history, every second, fourth ... one.

const POINTS_MAX = 1200;
export const COLOURS = ["#2f6fde", "#d2691e", "#14713a", "#b3171d", "#7b3fb5", "#0f8b8d", "#8a5200", "#c2347b"];

const short = (v) => (v === 0 ? "0" : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(1) : String(Number(v.toPrecision(4))));

export class Plot {
    // `series`: names. `logarithmic`: powers of ten. `recent`: only the last points, as time goes on.
    // `fromZero`: the axis begins at 0, for amounts.
    constructor(canvas, { series, logarithmic = false, recent = 0, unit = "", fromZero = false }) {
        Object.assign(this, { canvas, series, logarithmic, recent, unit, fromZero });
        this.clear();
    }

    clear() {
        this.points = []; // [x, y0, y1, ...]
        this.every = 1;
        this.seen = 0;
    }

    push(x, values) {
        if (this.seen++ % this.every !== 0) return;
        this.points.push([x, ...values]);
        if (this.recent) {
            if (this.points.length > this.recent) this.points.shift();
        } else if (this.points.length > POINTS_MAX) {
            this.points = this.points.filter((_, i) => i % 2 === 0);
            this.every *= 2;
        }
    }

    scale(value) {
        return this.logarithmic ? Math.log10(Math.max(value, 1e-18)) : value;
    }

    range() {
        let low = Infinity, high = -Infinity;
        for (const point of this.points)
            for (let s = 1; s < point.length; s++) {
                if (!Number.isFinite(point[s]) || (this.logarithmic && point[s] <= 0)) continue;
                const y = this.scale(point[s]);
                low = Math.min(low, y);
                high = Math.max(high, y);
            }
        if (low > high) return null;
        if (this.logarithmic) return [Math.floor(low), Math.max(Math.ceil(high), Math.floor(low) + 1)];
        if (this.fromZero && low >= 0) return [0, high * 1.06 || 1];
        const margin = (high - low) * 0.06 || Math.abs(high) * 0.05 || 1;
        return [low - margin, high + margin];
    }

    draw() {
        const { canvas } = this, ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
        if (!width || !height) return;
        if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio))
            canvas.width = Math.round(width * ratio), canvas.height = Math.round(height * ratio);
        const c = canvas.getContext("2d");
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.clearRect(0, 0, width, height);
        c.font = "11px system-ui, sans-serif";
        const range = this.range();
        if (!range || this.points.length < 2) return;
        this.drawAxes(c, range, width, height);
        const first = this.points[0][0], last = this.points[this.points.length - 1][0];
        const x = (t) => LEFT + ((width - LEFT - 6) * (t - first)) / (last - first || 1);
        const y = (v) => TOP + (height - TOP - BOTTOM) * (1 - (this.scale(v) - range[0]) / (range[1] - range[0]));
        this.series.forEach((_, s) => {
            c.strokeStyle = COLOURS[s % COLOURS.length];
            c.lineWidth = 1.5;
            c.beginPath();
            let pen = false;
            for (const point of this.points) {
                const v = point[s + 1], drawn = Number.isFinite(v) && !(this.logarithmic && v <= 0);
                if (drawn && pen) c.lineTo(x(point[0]), y(v));
                else if (drawn) c.moveTo(x(point[0]), y(v));
                pen = drawn;
            }
            c.stroke();
        });
        this.drawLegend(c);
        c.fillStyle = "#5b6779";
        c.textAlign = "left";
        c.fillText(short(first), LEFT, height - 3);
        c.textAlign = "right";
        c.fillText(`${short(last)} ${this.unit}`, width - 4, height - 3);
    }

    drawAxes(c, [low, high], width, height) {
        const rough = (high - low) / 3, power = 10 ** Math.floor(Math.log10(rough));
        const step = this.logarithmic ? Math.max(1, Math.round(rough)) : power * ([1, 2, 5, 10].find((m) => m * power >= rough) ?? 10);
        c.textAlign = "right";
        for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) {
            const y = TOP + (height - TOP - BOTTOM) * (1 - (v - low) / (high - low));
            c.fillStyle = "#e4e8ee";
            c.fillRect(LEFT, y, width - LEFT - 6, 1);
            c.fillStyle = "#5b6779";
            c.fillText(this.logarithmic ? `1e${Math.round(v)}` : short(Math.abs(v) < step * 1e-9 ? 0 : v), LEFT - 4, y + 4);
        }
    }

    drawLegend(c) {
        let at = LEFT;
        c.textAlign = "left";
        this.series.forEach((name, s) => {
            c.fillStyle = COLOURS[s % COLOURS.length];
            c.fillRect(at, 4, 10, 3);
            c.fillStyle = "#1b2230";
            c.fillText(name, at + 13, 10);
            at += 24 + c.measureText(name).width;
        });
    }
}
const LEFT = 48, TOP = 16, BOTTOM = 16;
