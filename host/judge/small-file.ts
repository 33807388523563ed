/**
 * A small file, read whole: rules, a repository's configuration, where its directory is. What governs something is read
 * with a bound and to its end, whatever the file says its size is. No I/O but through a `Place`.
 */

import { type Failure, failed, type OpenFile } from './place.js';

/**
 * All bytes of `file`, or `too-large` if there are more than `maxBytes`. Closes it. Takes memory for what is there, not
 * for what could be: a buffer of the bound would be collected again and again. A failure of the disk is a value.
 */
export function readSmall(file: OpenFile, maxBytes: number): Uint8Array | 'too-large' | Failure {
  try {
    let bytes = new Uint8Array(Math.min(file.sizeBytes, maxBytes) + 1);
    let filled = 0;
    for (;;) {
      const got = file.read(bytes.subarray(filled), filled);
      if (failed(got)) return got;
      if (got === 0) return bytes.subarray(0, filled);
      filled += got;
      if (filled > maxBytes) return 'too-large';
      if (filled === bytes.length) bytes = grown(bytes, maxBytes + 1);
    }
  } finally {
    file.close();
  }
}

/** The same bytes with as many again behind them, and no more than `atMost`. */
function grown(bytes: Uint8Array, atMost: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(2 * bytes.length, atMost));
  larger.set(bytes);
  return larger;
}
