/** Errors: one flat shape, a closed set of codes, a way on in each, and nothing echoed but what the caller wrote. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AX_CODES,
  type AxError,
  cancelled,
  casCorrupt,
  changedAfterJudged,
  configInvalid,
  echo,
  gateDenied,
  guestTrap,
  invalidArgs,
  limitReached,
  line,
  pathNotFound,
  storageFatal,
  toolNotOffered,
  toolUnknown,
  truncationMarker,
} from '../dist/error.js';
import { ECHO_CAP_BYTES, MARKER_MAX_BYTES, RETRY_AFTER_MS } from '../dist/limits.js';

const AT = { action: 'read', asked: 'lab/notes.md' };

/** Each constructor, with what it makes of the same question. */
const BUILT: readonly (readonly [why: string, error: AxError, code: string, retry: string])[] = [
  ['the caller’s mistake', invalidArgs(AT, 'fact', 'do this', ['lab/x']), 'E_INVALID_ARGS', 'no'],
  ['the bound says no', gateDenied(AT, 'fact', 'do this'), 'E_GATE_DENIED', 'no'],
  ['it moved while it was looked at', changedAfterJudged(AT), 'E_GATE_DENIED', 'yes'],
  ['a block that is gone', pathNotFound(AT, 'fact', 'do this'), 'E_PATH_NOT_FOUND', 'no'],
  ['a block of other bytes', casCorrupt(AT), 'E_CAS_CORRUPT', 'no'],
  ['a person has to fix it', configInvalid(AT, 'fact', 'do this'), 'E_CONFIG_INVALID', 'no'],
  ['the disk, for good', storageFatal(AT, 'fact', 'do this'), 'E_STORAGE_FATAL', 'no'],
  ['the disk, this time', storageFatal(AT, 'fact', 'do this', 'unknown'), 'E_STORAGE_FATAL', 'unknown'],
  ['a counted budget', limitReached(AT, 'fact', 'do this'), 'E_LIMIT', 'no'],
  ['a time budget', limitReached(AT, 'fact', 'do this', 'unknown'), 'E_LIMIT', 'unknown'],
  ['a full queue', limitReached(AT, 'fact', 'do this', 'yes'), 'E_LIMIT', 'yes'],
  ['the caller’s signal', cancelled(AT), 'E_CANCELLED', 'no'],
  ['no such tool', toolUnknown('lab/notes.md', ['read', 'search']), 'E_TOOL_UNKNOWN', 'no'],
  ['a tool for others', toolNotOffered('lab/notes.md', ['read', 'search']), 'E_TOOL_UNKNOWN', 'no'],
  ['the component broke its contract', guestTrap(AT, 'fact'), 'E_GUEST_TRAP', 'no'],
];

describe('an error', () => {
  it.each(BUILT)(
    'has its code, its retry and its fields in the order of the specification: %s',
    (_, error, code, retry) => {
      expect(error).toMatchObject({ code, retry });
      const fields = ['code', 'action', 'subject', 'nearby', 'recovery', 'retry'];
      expect(Object.keys(error)).toEqual(retry === 'yes' ? [...fields, 'retry_after_ms'] : fields);
      expect(error.retry_after_ms).toBe(retry === 'yes' ? RETRY_AFTER_MS : undefined);
      expect(JSON.parse(JSON.stringify(error))).toEqual(error); // nothing is dropped, nothing is null
    },
  );

  it.each(BUILT)('says what was asked, then the fact, and a way on: %s', (_, error) => {
    expect(error.subject).toMatch(/^lab\/notes\.md: \S/);
    expect(error.recovery).toMatch(/\S/);
    expect(line(error)).toBe(`${error.code}: cannot ${error.action} ${error.subject}`);
  });

  it('has one of a closed set of codes', () => {
    expect([...AX_CODES].sort()).toEqual([
      'E_CANCELLED',
      'E_CAS_CORRUPT',
      'E_CONFIG_INVALID',
      'E_GATE_DENIED',
      'E_GUEST_TRAP',
      'E_INVALID_ARGS',
      'E_LIMIT',
      'E_OUTSIDE_WRITE_DOMAIN',
      'E_PATH_NOT_FOUND',
      'E_STORAGE_FATAL',
      'E_TOOL_UNKNOWN',
      'E_VERSION_CONFLICT',
    ]);
  });

  it('can be built with every code but those of tools that write, which are not served', () => {
    const built = new Set(BUILT.map(([, { code }]) => code));
    const unbuilt = AX_CODES.filter((code) => !built.has(code));
    expect(unbuilt).toEqual(['E_OUTSIDE_WRITE_DOMAIN', 'E_VERSION_CONFLICT']);
  });

  it('cannot be built without a recovery', () => {
    // @ts-expect-error: the type says so
    const without = (): AxError => gateDenied(AT, 'fact');
    expect(without).toBeTypeOf('function');
    expect(() => gateDenied(AT, 'fact', '')).toThrow('without a way on');
  });

  it('has nearby also where there is none', () => {
    expect(gateDenied(AT, 'fact', 'do this').nearby).toEqual([]);
    expect(invalidArgs(AT, 'fact', 'do this').nearby).toEqual([]);
  });

  it('is its fact alone where nothing was asked', () => {
    expect(invalidArgs({ action: 'read', asked: '' }, 'fact', 'do this').subject).toBe('fact');
  });
});

describe('the echo of the caller’s words', () => {
  const cut = (text: string): string => invalidArgs({ action: 'read', asked: text }, 'fact', 'do this').subject;

  it.each([
    ['a'.repeat(512), 'a'.repeat(512), 'just fits'],
    ['a'.repeat(513), `${'a'.repeat(512)}[truncated: 1 bytes]`, 'one over'],
    [`${'a'.repeat(511)}é`, `${'a'.repeat(511)}[truncated: 2 bytes]`, 'never through a character of two bytes'],
    [`${'a'.repeat(509)}🙂`, `${'a'.repeat(509)}[truncated: 4 bytes]`, 'nor of four'],
    [`${'a'.repeat(508)}🙂`, `${'a'.repeat(508)}🙂`, 'counted in bytes'],
    [`\ufeffb`, `\ufeffb`, 'a leading U+FEFF is the caller’s own'],
    [`\ufeff${'b'.repeat(512)}`, `\ufeff${'b'.repeat(509)}[truncated: 3 bytes]`, 'also where it is cut'],
    ['a\ud800b', 'a\ufffdb', 'a lone surrogate has no UTF-8'],
    ['two\nlines\0', 'two\nlines\0', 'control characters are the door’s to show'],
  ])('is cut to its bytes with the usual marker: row %# (%s)', (text, shown) => {
    expect(cut(text)).toBe(`${shown}: fact`);
  });

  it('is well-formed, at most its cap and a head of what was asked, whatever that is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), fc.integer({ min: 0, max: 40 }), (text, cap) => {
        const bytes = Buffer.from(text);
        const shown = echo(text, cap);
        const kept = bytes.length <= cap ? shown : shown.slice(0, shown.lastIndexOf('[truncated: '));
        const cutBytes = bytes.length - Buffer.byteLength(kept);
        expect(text.startsWith(kept)).toBe(true);
        expect(shown).toBe(cutBytes === 0 ? text : kept + truncationMarker(cutBytes));
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(cap);
        expect(Buffer.byteLength(kept)).toBeGreaterThan(Math.min(cap, bytes.length) - 4);
      }),
    );
    expect(ECHO_CAP_BYTES).toBe(512);
  });

  it('has a marker within its limit, however much was cut', () => {
    expect(Buffer.byteLength(truncationMarker(Number.MAX_SAFE_INTEGER))).toBeLessThanOrEqual(MARKER_MAX_BYTES);
  });
});
