/**
 * A span of one file as a tree of its own: whoever holds it reads those bytes as a whole file, and the rest does not
 * exist for them. So a range of a block is handed to a guest that knows nothing of ranges. Beside below.ts, which it is
 * used on. Spans are `[start, end)` in bytes.
 */

import type { Dir, Entry, Failure, FileOptions, Identity, LinkText, Look, OpenFile, Tree } from './tree.js';
import { failed } from './tree.js';

/** Bytes of a file. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * `tree`, of whose root only the file `name` is met, and of that only the span. Closing it closes `tree`. Costs nothing
 * by itself.
 */
export function windowOn(tree: Tree, name: string, span: Span): Tree {
  return {
    kind: tree.kind,
    containment: tree.containment,
    spellings: tree.spellings,
    root: new WindowDir(tree.root, name, span),
    openCount: () => tree.openCount(),
    close: () => tree.close(),
  };
}

class WindowDir implements Dir {
  readonly identity: Identity;
  readonly #dir: Dir;
  readonly #name: string;
  readonly #span: Span;

  constructor(dir: Dir, name: string, span: Span) {
    this.identity = dir.identity;
    this.#dir = dir;
    this.#name = name;
    this.#span = span;
  }

  look(name: string): Look | Failure {
    if (name !== this.#name) return 'no-entry';
    const look = this.#dir.look(name);
    return failed(look) ? look : { ...look, sizeBytes: this.#span.end - this.#span.start };
  }

  directory(name: string): Dir | Failure {
    return name === this.#name ? 'not-directory' : 'no-entry';
  }

  file(name: string, options?: FileOptions): OpenFile | Failure {
    if (name !== this.#name) return 'no-entry';
    const file = this.#dir.file(name, options);
    return failed(file) ? file : new WindowFile(file, this.#span);
  }

  linkText(name: string): LinkText | Failure {
    return name === this.#name ? this.#dir.linkText(name) : 'no-entry';
  }

  stands(name: string, seen?: Look): boolean | Failure {
    return name === this.#name && this.#dir.stands(name, seen);
  }

  list(): readonly Entry[] | Failure {
    return [{ name: this.#name, kind: 'file', nameable: true }];
  }

  again(): Dir | Failure {
    const again = this.#dir.again();
    return failed(again) ? again : new WindowDir(again, this.#name, this.#span);
  }

  close(): void {
    this.#dir.close();
  }
}

class WindowFile implements OpenFile {
  readonly sizeBytes: number;
  readonly #file: OpenFile;
  readonly #span: Span;

  constructor(file: OpenFile, span: Span) {
    this.sizeBytes = span.end - span.start;
    this.#file = file;
    this.#span = span;
  }

  identity(): Identity {
    return this.#file.identity();
  }

  read(into: Uint8Array, offsetBytes: number): number | Failure {
    if (!Number.isSafeInteger(offsetBytes) || offsetBytes < 0) return 'io';
    const room = Math.max(0, Math.min(into.length, this.sizeBytes - offsetBytes));
    return this.#file.read(room === into.length ? into : into.subarray(0, room), this.#span.start + offsetBytes);
  }

  close(): void {
    this.#file.close();
  }
}
