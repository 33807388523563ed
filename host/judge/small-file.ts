/**
 * A small file, read whole: rules, a repository's configuration, where its directory is. What governs something is read
 * with a bound and to its end, whatever the file says its size is. No I/O but through a `Place`.
 */

import { type Failure, failed, type OpenFile } from './place.js';

/**
 * All bytes of `file`, or `too-large` if there are more than `maxBytes`. Closes it. At most `maxBytes` + 1 bytes of
 * memory; a failure of the disk is a value.
 */
export function readSmall(file: OpenFile, maxBytes: number): Uint8Array | 'too-large' | Failure {
  try {
    const bytes = new Uint8Array(maxBytes + 1);
    let filled = 0;
    while (filled < bytes.length) {
      const got = file.read(bytes.subarray(filled), filled);
      if (failed(got)) return got;
      if (got === 0) break;
      filled += got;
    }
    return filled > maxBytes ? 'too-large' : bytes.subarray(0, filled);
  } finally {
    file.close();
  }
}
