// SPDX-License-Identifier: MIT
// worlds.js: the page's side of world_worker.js: one promise for each request.

export class Worlds {
    constructor() {
        this.waiting = new Map();
        this.asked = 0;
        this.worker = new Worker("world_worker.js", { type: "module" });
        this.worker.onmessage = ({ data }) => {
            const { yes, no } = this.waiting.get(data.ask);
            this.waiting.delete(data.ask);
            if (data.failed) no(new Error(data.failed));
            else yes(data);
        };
        this.worker.onerror = (e) => {
            for (const { no } of this.waiting.values()) no(new Error(e.message || "its files are missing"));
            this.waiting.clear();
        };
    }

    ask(what) {
        return new Promise((yes, no) => {
            this.waiting.set(++this.asked, { yes, no });
            this.worker.postMessage({ ask: this.asked, ...what });
        });
    }

    // The answer of `make`: {status: 0, world, scene}, or {status, text, line, column, missing}.
    async make(what) {
        return (await this.ask({ make: what })).made;
    }

    async advance(what) {
        return (await this.ask({ advance: what })).advanced;
    }
}
