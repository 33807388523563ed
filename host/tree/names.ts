/**
 * What a tree says about names before any disk is asked: which text is one segment, which spellings could be an
 * alias, and strict UTF-8. Used by every tree, in the browser too.
 */

import { NAME_MAX_BYTES } from '../limits.js';

// One segment of plain ASCII: the quick answer for nearly every name. Neither NUL nor '/'.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are legal in names, NUL is not
const ASCII_SEGMENT = /^[\x01-\x2e\x30-\x7f]+$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Bytes of `text` as UTF-8; a lone surrogate counts as the three bytes of U+FFFD. Linear, no allocation. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // Each half of a pair brings two of the pair's four bytes.
    if (unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff || !paired(text, i))) bytes += 2;
    else if (unit >= 0x80) bytes += 1;
  }
  return bytes;
}

function paired(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  const other = text.charCodeAt(unit < 0xdc00 ? index + 1 : index - 1);
  return unit < 0xdc00 ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other <= 0xdbff;
}

/**
 * Whether `name` is one segment that a file system can be asked for: not empty, not `.` or `..` (the kernel would
 * honour them), no `/`, no NUL, well-formed Unicode, at most NAME_MAX_BYTES. Linear in at most NAME_MAX_BYTES units.
 */
export function isSegment(name: string): boolean {
  if (name.length > NAME_MAX_BYTES || name === '.' || name === '..') return false;
  if (ASCII_SEGMENT.test(name)) return true;
  if (name === '' || name.includes('/') || name.includes('\0') || LONE_SURROGATE.test(name)) return false;
  return utf8Bytes(name) <= NAME_MAX_BYTES;
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const shownUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** The text of the bytes, or undefined if they are not UTF-8. A leading U+FEFF is part of it. Linear. */
export function strictText(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined; // the decoder throws for nothing else: bytes are always bytes
  }
}

/** How bytes that are not UTF-8 are shown: U+FFFD for what is not. Linear. */
export const shownText = (bytes: Uint8Array): string => shownUtf8.decode(bytes);

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII but '~'
const PLAIN_ASCII = /^[\x01-\x7d\x7f]*$/;

/** Whether case is all that a file system can fold of this name: no other than ASCII, no `~` (short names of FAT and NTFS). */
export const isPlainAscii = (name: string): boolean => PLAIN_ASCII.test(name);

/**
 * The spelling whose absence proves that a file system does not fold the case of `name`, which is plain ASCII: every
 * letter in its other case. Equal to `name` if it has no letter. Linear.
 */
export const otherCase = (name: string): string =>
  name.replace(/[a-zA-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) ^ 0x20));
