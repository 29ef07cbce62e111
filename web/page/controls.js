// SPDX-License-Identifier: MIT
// controls.js: a player's controls: keys, a stick and buttons on the screen, a gamepad. Gives four
// axes from -1 to 1 (right, forward, up, turn left) and button bits. Knows nothing of the camera.

const KEYS = {
    KeyD: [0, 1], ArrowRight: [0, 1], KeyA: [0, -1], ArrowLeft: [0, -1], KeyW: [1, 1], ArrowUp: [1, 1],
    KeyS: [1, -1], ArrowDown: [1, -1], KeyR: [2, 1], KeyF: [2, -1], KeyQ: [3, 1], KeyE: [3, -1],
};
const BUTTONS = { Space: 1, Digit1: 2, Digit2: 4 }; // as in foliot-client
const DEAD = 0.15; // of a gamepad's sticks

export class Controls {
    constructor(stick, pads) {
        this.held = new Set();
        this.stick = [0, 0];
        this.touched = 0;
        addEventListener("keydown", (e) => {
            if (!(e.code in KEYS || e.code in BUTTONS) || e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === "INPUT") return;
            this.held.add(e.code);
            if (e.target.tagName !== "BUTTON") e.preventDefault();
        });
        addEventListener("keyup", (e) => {
            this.held.delete(e.code);
            if (e.key === "Meta") this.held.clear(); // a Mac tells of no key that was released meanwhile
        });
        addEventListener("blur", () => this.held.clear());
        this.bindStick(stick);
        for (const button of pads.querySelectorAll("[data-button]")) {
            const bit = Number(button.dataset.button);
            button.addEventListener("pointerdown", () => (this.touched |= bit));
            for (const kind of ["pointerup", "pointercancel", "pointerleave"])
                button.addEventListener(kind, () => (this.touched &= ~bit));
        }
    }

    bindStick(stick) {
        const knob = stick.querySelector("i");
        const put = (x, y) => {
            this.stick = [x, y];
            knob.style.transform = `translate(${x * 44}px, ${-y * 44}px)`;
        };
        const move = (e) => {
            const box = stick.getBoundingClientRect();
            const x = ((e.clientX - box.left) / box.width) * 2 - 1, y = 1 - ((e.clientY - box.top) / box.height) * 2;
            const long = Math.max(1, Math.hypot(x, y));
            put(x / long, y / long);
        };
        stick.addEventListener("pointerdown", (e) => {
            stick.setPointerCapture(e.pointerId);
            move(e);
        });
        stick.addEventListener("pointermove", (e) => stick.hasPointerCapture(e.pointerId) && move(e));
        for (const kind of ["pointerup", "pointercancel"]) stick.addEventListener(kind, () => put(0, 0));
    }

    read() {
        const axes = [this.stick[0], this.stick[1], 0, 0];
        let buttons = this.touched;
        for (const code of this.held) {
            if (code in KEYS) axes[KEYS[code][0]] += KEYS[code][1];
            buttons |= BUTTONS[code] ?? 0;
        }
        for (const pad of navigator.getGamepads?.() ?? []) {
            if (!pad?.connected) continue;
            const beyond = (value) => (Math.abs(value ?? 0) > DEAD ? value : 0);
            const pressed = (i) => pad.buttons[i]?.value ?? 0;
            axes[0] += beyond(pad.axes[0]);
            axes[1] -= beyond(pad.axes[1]);
            axes[2] += pressed(7) - pressed(6);
            axes[3] -= beyond(pad.axes[2]);
            buttons |= (pressed(2) ? 1 : 0) | (pressed(1) ? 2 : 0) | (pressed(0) ? 4 : 0);
        }
        return { axes: axes.map((a) => Math.max(-1, Math.min(1, a))), buttons };
    }
}
