// SPDX-License-Identifier: MIT
// channel.js: a data channel in addition to the WebSocket, for unreliable packets: a lost one does
// not delay later ones. The WebSocket carries offer and answer, and all packets while there is no
// channel. The server chooses the path; the page sends on the path of the last packet received.
const OFFER = 3, ANSWER = 4; // the first byte of a signal
const BY_CHANNEL = 2; // of a packet, to the module
const AGAIN_MS = 5000; // after a failure; doubled each time
const AGAIN_MS_MAX = 80000;
const CLOGGED_BYTES = 16384; // beyond, it would only come late

export class Channel {
    flows = null; // the channel, while packets come by it

    constructor(signal, received) {
        Object.assign(this, { signal, received, wait: AGAIN_MS });
    }

    async open() {
        this.close();
        if (!globalThis.RTCPeerConnection) return;
        const peer = (this.peer = new RTCPeerConnection());
        const channel = peer.createDataChannel("", { negotiated: true, id: 0, ordered: false, maxRetransmits: 0 });
        channel.binaryType = "arraybuffer";
        channel.onopen = () => (this.wait = AGAIN_MS);
        channel.onmessage = ({ data }) => {
            if (peer !== this.peer) return;
            this.flows = channel;
            const packet = new Uint8Array(data.byteLength + 1);
            packet[0] = BY_CHANNEL;
            packet.set(new Uint8Array(data), 1);
            this.received(packet);
        };
        channel.onclose = peer.onconnectionstatechange = () => {
            if (peer === this.peer && (channel.readyState === "closed" || peer.connectionState === "failed")) this.again();
        };
        await peer.setLocalDescription();
        if (peer === this.peer) this.signal(OFFER, peer.localDescription.sdp);
    }

    // A signal of the server. Any signal other than an answer is a refusal; the page offers again
    // later.
    take(bytes) {
        const sdp = new TextDecoder().decode(bytes.subarray(1));
        if (bytes[0] !== ANSWER) this.again();
        else this.peer?.setRemoteDescription({ type: "answer", sdp }).catch(() => this.again());
    }

    again() {
        this.close();
        this.timer = setTimeout(() => this.open(), this.wait);
        this.wait = Math.min(2 * this.wait, AGAIN_MS_MAX);
    }

    // False: the packet must go by the WebSocket.
    send(bytes) {
        const channel = this.flows;
        if (channel?.readyState !== "open") return false;
        if (channel.bufferedAmount < CLOGGED_BYTES) channel.send(bytes);
        return true;
    }

    close() {
        clearTimeout(this.timer);
        const peer = this.peer;
        this.peer = this.flows = null;
        peer?.close();
    }
}
