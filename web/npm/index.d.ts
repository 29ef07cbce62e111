// SPDX-License-Identifier: MIT
// index.d.ts: types of the package foliot. Numbers of a scene are in its own units.

type Content = string | ArrayBuffer | ArrayBufferView;
type Vector = [number, number, number];

/** An error of the library. `status` is its foliot_status; -1: of the package. */
export class FoliotError extends Error {
    status: number;
}

/** An error in a scene's text. `line` and `column` count from 1; 0: the text as a whole. */
export class SceneError extends FoliotError {
    line: number;
    column: number;
    /** The file that the scene names and `files` does not have; "": none. */
    missing: string;
}

export interface SceneSummary {
    name: string;
    integrator: string;
    dt: number;
    pace_hz: number;
    unit_time: string;
    unit_length: string;
    gravity: Vector;
    bodies: number;
    constraints: number;
    forces: number;
    players: number;
    /** The script that the scene names; the package does not run it. */
    rules: string;
}

export interface WorldOptions {
    /** Stands for the file in messages; "scene.yaml". */
    name?: string;
    /** Files that the scene names, such as CSV files, by their names in it. */
    files?: Record<string, Content>;
    /** Instead of the scene's. */
    integrator?: string;
    /** Instead of the scene's: a number, or a ratio such as "1/60". */
    dt?: number | string;
}

export interface Input {
    player: number;
    /** "control": sets the controls from now on. */
    kind?: "control" | "join" | "leave";
    /** x, y, z and turn, each from -1 to 1. */
    axes?: number[];
    /** Bits: 1 pull, 2 push, 4 jump. */
    buttons?: number;
}

export interface Body {
    slot: number;
    name: string;
    shape: string;
    mass: number;
    tag: number;
    asleep: boolean;
    frozen: boolean;
    position: Vector;
    velocity: Vector;
    /** w, x, y, z */
    orientation: [number, number, number, number];
    angular_velocity: Vector;
}

export interface WorldState {
    tick: number;
    time: number;
    kinetic: number;
    potential: number;
    potential_complete: boolean;
    momentum: Vector;
    angular_momentum: Vector;
    /** The causes that take energy out of the scene or put it in; null: none. */
    sinks: string | null;
    contacts: number;
    frozen: number;
    solver_failures: number;
}

/** A world that steps: the same bits as the native library's. */
export class World {
    private constructor();
    /** Throws a SceneError if the text is not a scene. */
    static create(text: string, options?: WorldOptions): Promise<World>;
    readonly scene: SceneSummary;
    readonly tick: number;
    readonly time: number;
    readonly energy: number;
    /** 32 hex digits, as foliot-lab prints them. */
    readonly digest: string;
    /** Slots up to the last body. */
    readonly slots: number;
    step(ticks?: number): void;
    /** Acts in the next tick. */
    input(input: Input): void;
    /** Acts in the next tick; an object as in docs/reference/commands.md. */
    command(command: Record<string, unknown>): void;
    /** Three numbers for each slot; NaN if there is no body. */
    positions(): Float64Array;
    body(slot: number): Body | null;
    about(): WorldState;
    /** The state as bytes, the same on every machine. */
    capture(): Uint8Array;
    restore(bytes: Content): void;
}

export interface Integrator {
    name: string;
    order: number;
    symplectic: boolean;
    /** Evaluations of all forces in a step; 0: as many as its solver needs. */
    evaluations: number;
    summary: string;
}
export function integrators(): Promise<Integrator[]>;

export interface RecordingSummary {
    scene?: string;
    format: number;
    kind: string;
    integrator: string;
    dt: number;
    build: string;
    version: string;
    rules: string;
    first_tick: number;
    last_tick: number;
    closed: boolean;
    bytes: number;
    players: number;
    inputs: number;
    commands: number;
    keyframes: number;
    digests: number;
    keyframe_ticks: number[];
    /** The damage; "": none. */
    text: string;
}

export interface Verdict {
    /** Every digest and keyframe agrees. */
    matches: boolean;
    status: number;
    status_text: string;
    /** Ticks that were replayed and agree. */
    ticks: number;
    digest: string;
    text: string;
    /** The first tick that differs, with a report. */
    diverged_tick?: number;
    body?: number;
    report?: string;
}

export class Recording {
    private constructor();
    /** Throws a FoliotError if the bytes are not a recording. */
    static open(content: Content): Promise<Recording>;
    readonly summary: RecordingSummary;
    readonly tick: number;
    readonly digest: string;
    readonly slots: number;
    /** Simulates the whole recording again, in one go. */
    verify(progress?: (tick: number) => void): Verdict;
    seek(tick: number): void;
    positions(): Float64Array;
}

export interface JoinOptions {
    name?: string;
    /** "": the server's first. */
    session?: string;
    spectates?: boolean;
    /** From `foliotctl token`; a link may have it after its #. */
    token?: string;
    password?: string;
    /** The WebSocket class: by default that of the browser or of Node; else that of the package ws. */
    WebSocket?: unknown;
}

export interface SessionEvent {
    kind: "joined" | "left" | "message" | "chat" | "ended";
    /** -1: about none. */
    player: number;
    text?: string;
    from?: string;
}

export interface SessionState {
    state: string;
    reason: string;
    scene?: string;
    player?: number;
    pace_hz?: number;
    tick?: number;
    delay_ms?: number;
    round_trip_ms?: number;
    loss?: number;
    bytes?: number;
    snapshots?: number;
    /** The slot of the player's body; -1: none. */
    own?: number;
    vars?: [string, string | number][];
    players?: Record<string, string>;
}

/** Bodies to draw: planes, boxes and round ones, not in the order of slots. */
export interface Sample {
    count: number;
    slots: Uint32Array;
    /** Three numbers each. */
    positions: Float32Array;
    /** w, x, y, z each. */
    orientations: Float32Array;
}

export class Session {
    private constructor();
    /** `link`: what foliot-server prints. Rejects if the server refuses. */
    static join(link: string, options?: JoinOptions): Promise<Session>;
    readonly state: "connecting" | "joining" | "playing" | "refused" | "closed" | "lost";
    /** Resolves when the session is over for this player. */
    readonly closed: Promise<{ state: string; reason: string }>;
    update(): void;
    sample(): Sample | null;
    position(slot: number): Vector | null;
    /** Sets the controls from now on: axes from -1 to 1, bits of buttons. */
    setInput(input: { axes?: number[]; buttons?: number }): void;
    say(text: string): void;
    /** Events since the last call. */
    events(): SessionEvent[];
    about(): SessionState;
    leave(): Promise<{ state: string; reason: string }>;
}
