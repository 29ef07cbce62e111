// SPDX-License-Identifier: MIT
// stepper.js: lets a page step the world itself: the stepping module, which is loaded on demand,
// and words about its state. Own keys act at once, as the page guesses the other players' actions;
// the server compares every digest.
import { load as loadModule } from "./wasm.js";

const MODES = { stepper: ["Watch", "The server's pictures, a little later."],
    watcher: ["Predict", "Your keys act at once: this page computes the world itself and predicts the other players."] };

function reason(about, stepped) {
    if (about.slow) return `A step takes ${about.step_ms.toFixed(1)} ms here, more than a quarter of a tick: this page watches.`;
    if (about.kind === "watcher" && !stepped) return "The server does not permit this page to step: it watches.";
    if (about.prediction === "memory") return "The world is too large to be predicted here: your keys act with the server's ticks.";
    return "";
}

// `page` has the functions that the module calls, except its clock.
export async function load(page) {
    const module = await loadModule("stepper.wasm", {
        ...page,
        clock: () => performance.now(),
    });
    let told = "", stepped = false;
    window.foliotPerturb = () => module.call.perturb(); // for other scripts of the page, and its tests: a bit flips
    return {
        module,
        // From the next join on, the other module's player is this one's.
        take(other) {
            module.put(module.call.ticket(), other.bytes(other.call.ticket(), other.call.ticket_bytes()).slice());
            module.call.take_over();
        },
        toggle: ({ kind }) => module.call.set_steps(kind === "stepper" ? 0 : 1),
        // Words for the header. A failure is shown once.
        describe(about, say) {
            const { kind, prediction, compared, divergences, heals } = about;
            Object.assign(document.body.dataset, { kind, prediction, compared, divergences, heals,
                key: about.key_ms.toFixed(1), keyMax: about.key_max_ms.toFixed(1), step: about.step_ms.toFixed(3), slow: about.slow, delay: about.input_delay.toFixed(2) });
            const button = document.getElementById("step");
            [button.textContent, button.title] = MODES[kind];
            stepped ||= kind === "stepper";
            const why = reason(about, stepped);
            if (why && why !== told) say(why, "event");
            told = why;
            if (kind === "watcher") return `watches, delay ${about.delay_ms.toFixed(0)} ms`;
            const late = about.input_delay >= 1 ? `, keys act ${about.input_delay.toFixed(0)} later` : "";
            return `predicts ${prediction === "on" ? about.ahead.toFixed(0) : "no"} ticks${late}, ${compared} digests equal`;
        },
    };
}
