/**
 * An entry of history on its way to the reader: its address as text, and its frame in the answer to a pattern, whole or
 * by its two ends. Bytes in, text out; whoever calls has proved them. A frame is fed piece by piece, in flat memory.
 * Spec: history, "Pattern answer".
 */

import { ENTRY_END_BYTES } from '../limits.js';
import { shownText } from '../tree/names.js';

/** The top-level directories of a commit whose files are entries. */
export const ENTRY_DIRECTORIES = ['messages', 'summary'] as const;

/** `<commit>:<path>`, exactly: of a path that is not UTF-8, as it is shown. */
export const addressOf = (commit: string, path: Uint8Array): string => `${commit}:${shownText(path)}`;

/** The same for a line of text: a path that holds a control character is written as a JSON string. Linear. */
export function spelled(commit: string, path: Uint8Array): string {
  const shown = shownText(path);
  return `${commit}:${/\p{Cc}/u.test(shown) ? JSON.stringify(shown) : shown}`;
}

/**
 * An empty line, the count of what follows, the bytes and one newline more: an entry's own text cannot forge a frame,
 * since whoever reads counts.
 */
export const framed = (address: string, body: string): string =>
  `\n<entry address="${address}" bytes="${encoder.encode(body).length}">\n${body}\n</entry>\n`;
const encoder = new TextEncoder();

/** An entry passing by: what a frame shows of it, and whether it holds the pattern. `take` its pieces in order. */
export class Passing {
  readonly #first = new Uint8Array(2 * ENTRY_END_BYTES);
  #last = new Uint8Array(0);
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #pattern: Seeking;
  #isText = true;
  #newlines = 0;
  #bytes = 0;
  #endsInNewline = true;

  constructor(pattern: Uint8Array) {
    this.#pattern = new Seeking(pattern);
  }

  /** Linear in the piece. */
  take(piece: Uint8Array): void {
    this.#pattern.take(piece);
    this.#isText &&= this.#decodes(piece);
    this.#first.set(
      piece.subarray(0, Math.max(0, this.#first.length - this.#bytes)),
      Math.min(this.#bytes, this.#first.length),
    );
    this.#last = joined(this.#last, piece).slice(-ENTRY_END_BYTES);
    for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, at + 1)) this.#newlines++;
    this.#endsInNewline = piece.at(-1) === NEWLINE;
    this.#bytes += piece.length;
  }

  /** Whether the pattern was met. */
  get holds(): boolean {
    return this.#pattern.isMet;
  }

  /** What stands in the frame, of the entry at this address; once all of it has passed. */
  body(address: string): string {
    const isText = this.#isText && this.#decodes();
    const whole = this.#bytes <= this.#first.length;
    if (!isText) return `[... entry is not UTF-8: ${this.#bytes} bytes; full record: ${address} ...]`;
    if (whole) return shownText(this.#first.subarray(0, this.#bytes));
    return this.#ends(address);
  }

  #ends(address: string): string {
    const head = this.#first.subarray(0, borderBefore(this.#first, ENTRY_END_BYTES));
    const tail = this.#last.subarray(borderAfter(this.#last));
    const lines = this.#newlines + (this.#endsInNewline ? 0 : 1);
    const marker =
      `[... entry truncated: ${this.#bytes} bytes / ${lines} lines total; ` +
      `showing the first ${head.length} and last ${tail.length} bytes; full record: ${address} ...]`;
    return `${shownText(head)}${head.at(-1) === NEWLINE ? '' : '\n'}${marker}\n${shownText(tail)}`;
  }

  /** Without a piece: whether what came is not the beginning of a character. */
  #decodes(piece?: Uint8Array): boolean {
    try {
      this.#decoder.decode(piece, { stream: piece !== undefined });
      return true;
    } catch {
      return false; // the decoder throws for nothing else: bytes are always bytes
    }
  }
}

/** Bytes that come in pieces and are wanted whole; their bound is the asker's. */
export class Collected {
  readonly #pieces: Uint8Array[] = [];

  take(piece: Uint8Array): void {
    this.#pieces.push(piece);
  }

  /** All of them, in their order. */
  bytes(): Uint8Array {
    const all = new Uint8Array(this.#pieces.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const piece of this.#pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    return all;
  }
}

/** Base64 of bytes, with padding (RFC 4648, section 4). Linear. */
export function base64Of(bytes: Uint8Array): string {
  let latin1 = '';
  for (const byte of bytes) latin1 += String.fromCharCode(byte);
  return btoa(latin1);
}

const NEWLINE = 0x0a;
const isInside = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The last border between characters at or before `at`, in text. */
function borderBefore(text: Uint8Array, at: number): number {
  let border = at;
  while (border > 0 && isInside(text[border])) border--;
  return border;
}

/** The first border in bytes that begin anywhere in a text. */
function borderAfter(text: Uint8Array): number {
  let border = 0;
  while (isInside(text[border])) border++;
  return border;
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Knuth, Morris and Pratt, over pieces: linear, whatever is looked for. */
class Seeking {
  readonly #pattern: Uint8Array;
  /** How much of the pattern still stands when the byte after so much of it does not fit. */
  readonly #fallback: Uint32Array;
  #matched = 0;
  isMet = false;

  constructor(pattern: Uint8Array) {
    this.#pattern = pattern;
    this.#fallback = new Uint32Array(pattern.length + 1);
    for (let length = 1, stands = 0; length < pattern.length; length++) {
      while (stands > 0 && pattern[stands] !== pattern[length]) stands = this.#fallback[stands] ?? 0;
      if (pattern[stands] === pattern[length]) stands++;
      this.#fallback[length + 1] = stands;
    }
  }

  take(piece: Uint8Array): void {
    for (let at = 0; at < piece.length && !this.isMet; at++) {
      while (this.#matched > 0 && this.#pattern[this.#matched] !== piece[at]) {
        this.#matched = this.#fallback[this.#matched] ?? 0;
      }
      if (this.#pattern[this.#matched] === piece[at]) this.#matched++;
      this.isMet = this.#matched === this.#pattern.length;
    }
  }
}
