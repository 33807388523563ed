/** guest/git/digest.ts alone, for git.digest.test.ts. */

import { reserve } from '../../../guest/abi/arena';
import * as digest from '../../../guest/git/digest';

export function alloc(size: usize): usize {
  return reserve(size);
}

export function begin(size: usize): void {
  digest.beginDigest(size);
}

export function take(from: usize, end: usize): void {
  digest.digest(from, end);
}

export function end(to: usize): void {
  digest.endDigest(to);
}
