/**
 * The closed set of answers wasi:filesystem knows, in the order of `error-code` in wit/deps, and what each
 * failure of a tree is called there. The guest is told these words and nothing else; why something happened
 * is kept on the host's side (filesystem.ts).
 */

import type { Failure } from '../tree/tree.js';

/** wasi:filesystem/types.error-code; the index is what crosses into the guest. */
export const ERROR_CODES = [
  'access',
  'would-block',
  'already',
  'bad-descriptor',
  'busy',
  'deadlock',
  'quota',
  'exist',
  'file-too-large',
  'illegal-byte-sequence',
  'in-progress',
  'interrupted',
  'invalid',
  'io',
  'is-directory',
  'loop',
  'too-many-links',
  'message-size',
  'name-too-long',
  'no-device',
  'no-entry',
  'no-lock',
  'insufficient-memory',
  'insufficient-space',
  'not-directory',
  'not-empty',
  'not-recoverable',
  'unsupported',
  'no-tty',
  'no-such-device',
  'overflow',
  'not-permitted',
  'pipe',
  'read-only',
  'invalid-seek',
  'text-file-busy',
  'cross-device',
] as const;
/** One of them. */
export type ErrorCode = (typeof ERROR_CODES)[number];

const NUMBERS: ReadonlyMap<string, number> = new Map(ERROR_CODES.map((code, number) => [code, number]));

/** The number of a code in the canonical ABI. */
export const codeNumber = (code: ErrorCode): number => NUMBERS.get(code) ?? 0;

/** What the guest is told when a tree fails. Total: a new failure does not compile without its code. */
export const CODE_OF_FAILURE: Readonly<Record<Failure, ErrorCode>> = {
  'no-entry': 'no-entry',
  access: 'access',
  'not-directory': 'not-directory',
  'is-directory': 'is-directory',
  'is-link': 'loop',
  'not-regular': 'unsupported',
  'other-mount': 'cross-device',
  'hard-link': 'cross-device',
  moved: 'no-entry',
  'too-many-entries': 'overflow',
  'bad-name': 'illegal-byte-sequence',
  'not-granted': 'not-permitted',
  exhausted: 'io',
  io: 'io',
};
