// The limits of docs/protocol.md, "Bounds". They hold for whoever connects, so they are small before a peer has proved itself.

/** Longest line before the first valid code, in bytes. */
export const STRANGER_LINE_BYTES: number = 2 * 1024
/** Longest line after it, in bytes. */
export const PEER_LINE_BYTES: number = 64 * 1024
/** How long a client may take to its first valid code, in milliseconds. */
export const AUTHENTICATION_MS = 10_000
/** How many connections may wait for their first valid code. */
export const MAX_STRANGERS = 32
