/**
 * The arguments of every tool: what is taken, what is refused, and what a refusal says. Validated before anything is
 * opened, so none of this needs a city. Spec: search and read, "Arguments"; errors.
 */

import { describe, expect, it } from 'vitest';
import { type AxError, line } from '../../dist/error.js';
import { ECHO_CAP_BYTES, FILE_CAP_BYTES, PATH_MAX_BYTES } from '../../dist/limits.js';
import { TOOLS } from '../../dist/tools/registry.js';
import { jsonSchema, parseArgs } from '../../dist/tools/tool.js';
import { city } from '../support/cities.js';
import { asError } from '../support/outcomes.js';

function tool(name: string) {
  const found = TOOLS.get(name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  return found;
}
const parsed = (name: string, args: unknown) => parseArgs(tool(name), args);

const LONE = ['\ud800', 'a\udc00', '\udc00\ud800', 'x\ud83d'];
const WHOLE = (least: number) => `must be a whole number of ${least} or more`;

interface Refused {
  readonly args: unknown;
  /** Of the subject, behind what was asked. */
  readonly fact: string;
  readonly asked?: string;
  readonly why: string;
}

const SEARCH: readonly Refused[] = [
  { args: {}, fact: 'text must be text', why: 'missing' },
  { args: { text: undefined }, fact: 'text must be text', why: 'left undefined' },
  { args: { text: null }, fact: 'text must be text', why: 'null' },
  { args: { text: 7 }, fact: 'text must be text', why: 'a number' },
  { args: { text: ['needle'] }, fact: 'text must be text', why: 'a list' },
  { args: { text: '' }, fact: 'text is empty', why: 'an empty one would match every line' },
  ...LONE.map((text) => ({ args: { text }, fact: 'text has an unpaired surrogate', asked: text, why: 'ill-formed' })),
  { args: { text: 'a\nb' }, fact: 'text has a newline', asked: 'a\nb', why: 'a hit is one line' },
  { args: { text: '\n' }, fact: 'text has a newline', asked: '\n', why: 'a newline alone' },
  { args: { text: 'a\r\n' }, fact: 'text has a newline', asked: 'a\r\n', why: 'with its CR' },
  { args: { text: 'n', path: '' }, fact: 'path is empty', asked: 'n', why: 'a written empty path is not left out' },
  { args: { text: 'n', path: null }, fact: 'path must be text', asked: 'n', why: 'null is not left out' },
  { args: { text: 'n', path: 1 }, fact: 'path must be text', asked: 'n', why: 'a number' },
  { args: { text: 'n', path: ['lab'] }, fact: 'path must be text', asked: 'n', why: 'a list' },
  ...[-1, -0.5, 0.5, Number.NaN, -(2 ** 60), Number.NEGATIVE_INFINITY, '1', null, true, [1]].map((context) => ({
    args: { text: 'n', context },
    fact: `context ${WHOLE(0)}`,
    asked: 'n',
    why: 'not a whole number from 0 on',
  })),
  {
    args: { text: 'n'.repeat(FILE_CAP_BYTES + 1) },
    fact: 'text is longer than any file that is searched',
    asked: `${'n'.repeat(ECHO_CAP_BYTES)}[truncated: ${FILE_CAP_BYTES + 1 - ECHO_CAP_BYTES} bytes]`,
    why: 'a guest’s memory is not filled with what no file holds',
  },
  {
    args: { text: 'n', path: 'x/'.repeat(PATH_MAX_BYTES) },
    fact: 'path is longer than any path',
    asked: `${'x/'.repeat(ECHO_CAP_BYTES / 2)}[truncated: ${2 * PATH_MAX_BYTES - ECHO_CAP_BYTES} bytes]`,
    why: 'nor a thread with segments that lead nowhere',
  },
  { args: { text: 'n', regex: true }, fact: 'unknown argument "regex"', asked: 'n', why: 'unknown' },
  { args: { text: 'n', a: 1, b: 2 }, fact: 'unknown argument "a", "b"', asked: 'n', why: 'two unknown' },
  { args: { text: 'n', Path: 'lab' }, fact: 'unknown argument "Path"', asked: 'n', why: 'names have their case' },
  {
    args: JSON.parse('{"text":"n","__proto__":{}}'),
    fact: 'unknown argument "__proto__"',
    asked: 'n',
    why: 'a name like any other',
  },
  {
    args: { text: 'n', path: 'lab', x: 1 },
    fact: 'unknown argument "x"',
    asked: 'lab',
    why: 'the path is what was asked',
  },
];

const READ: readonly Refused[] = [
  { args: {}, fact: 'path must be text', why: 'missing' },
  { args: { path: null }, fact: 'path must be text', why: 'null' },
  { args: { path: 1 }, fact: 'path must be text', why: 'a number' },
  ...(['offset', 'byte'] as const).flatMap((name) =>
    [-1, 1.5, Number.NaN, Number.NEGATIVE_INFINITY, '0', null].map((value) => ({
      args: { path: 'a', [name]: value },
      fact: `${name} ${WHOLE(0)}`,
      asked: 'a',
      why: 'not a whole number from 0 on',
    })),
  ),
  ...[0, -0, -1, 0.5, Number.NaN, '1', null].map((limit) => ({
    args: { path: 'a', limit },
    fact: `limit ${WHOLE(1)}`,
    asked: 'a',
    why: 'not a whole number from 1 on',
  })),
  { args: { path: 'a', text: 'n' }, fact: 'unknown argument "text"', asked: 'a', why: 'unknown' },
];

const SHAPELESS: readonly unknown[] = [undefined, null, 7, 'needle', true, [], ['needle'], [{ text: 'n' }], () => 1];
const FORM = 'the arguments are not an object of the tool’s form';

function isWellMade(error: AxError, name: string): void {
  expect(Object.keys(error)).toEqual(['code', 'action', 'subject', 'nearby', 'recovery', 'retry']);
  expect(error).toMatchObject({ code: 'E_INVALID_ARGS', action: name, nearby: [], retry: 'no' });
  expect(error.recovery).not.toBe('');
  expect(line(error)).toBe(`E_INVALID_ARGS: cannot ${name} ${error.subject}`);
}

describe.each([
  ['search', SEARCH],
  ['read', READ],
] as const)('arguments of %s', (name, rows) => {
  it.each(rows)('$args is refused: $why', ({ args, fact, asked }) => {
    const error = asError(parsed(name, args));
    isWellMade(error, name);
    expect(error.subject).toBe(asked === undefined ? fact : `${asked.toWellFormed()}: ${fact}`);
  });

  it.each(SHAPELESS.map((args) => [args]))('%s is no object of arguments', (args) => {
    const error = asError(parsed(name, args));
    isWellMade(error, name);
    expect(error.subject).toBe(FORM);
    expect(error.recovery).toMatch(/^pass a JSON object with /);
  });

  it('an unknown argument is answered with those there are', () => {
    const { recovery } = asError(parsed(name, { text: 'n', path: 'a', x: 1 }));
    expect(recovery).toBe(`pass only ${Object.keys(jsonSchema(tool(name)).properties ?? {}).join(', ')}`);
  });

  it('what was asked is repeated up to 512 bytes, with the usual marker', () => {
    const { subject } = asError(parsed(name, { path: 'é'.repeat(400), text: 'n', x: 1 }));
    expect(subject.startsWith(`${'é'.repeat(256)}[truncated: 288 bytes]: `)).toBe(true);
  });

  it('unknown arguments are repeated up to 512 bytes, however many there are', () => {
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`unknown${n}`, 1]));
    const { subject } = asError(parsed(name, { text: 'n', path: 'a', ...many }));
    expect(subject).toMatch(/unknown argument .*"unknown0", "unknown1", .*\[truncated: \d+ bytes\]$/);
    expect(subject.length).toBeLessThan(2 * ECHO_CAP_BYTES);
  });

  it('has a JSON Schema, derived, that says its words: every argument described, no other allowed', () => {
    const schema = jsonSchema(tool(name));
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
    for (const property of Object.values(schema.properties ?? {})) {
      if (typeof property !== 'object') throw new Error('a schema of no object');
      expect(property.description).toMatch(/\w+/);
      expect(['string', 'integer']).toContain(property.type);
    }
  });
});

describe('what is taken', () => {
  const COUNTS = [0, 1, 512, 2 ** 31, 2 ** 53, 2 ** 60, 1e308, JSON.parse('1e400')] as const;

  it.each(COUNTS)('any whole number a JSON text can spell, %d', (value) => {
    expect(parsed('search', { text: 'n', context: value })).toEqual({ ok: true, value: { text: 'n', context: value } });
    expect(parsed('read', { path: 'a', offset: value, byte: value }).ok).toBe(true);
    expect(parsed('read', { path: 'a', limit: value }).ok).toBe(value >= 1);
  });

  it.each([' ', '\r', '\0', '.*', '🙂', '\u2028', '\ufeff', 'x'.repeat(100_000)])(
    'any text of one line, %#',
    (text) => {
      expect(parsed('search', { text })).toEqual({ ok: true, value: { text } });
    },
  );

  it.each(['../x', '/etc', 'a//b', 'C:\\x', ' ', '\0', '\ud800'])(
    'a path of any spelling, %j: the judge refuses it',
    async (path) => {
      expect(parsed('search', { text: 'n', path }).ok).toBe(true);
      const place = city({ tree: 'memory', binding: 'fixed' }, []);
      for (const [name, args] of [
        ['search', { text: 'n', path }],
        ['read', { path }],
      ] as const) {
        const error = asError(await place.call(name, args));
        expect(['E_INVALID_ARGS', 'E_GATE_DENIED']).toContain(error.code);
        expect(JSON.stringify(error).isWellFormed()).toBe(true);
      }
      place.end();
    },
  );

  it('a limit beyond every count clamps; an offset beyond every text is past the end', async () => {
    const place = city({ tree: 'memory', binding: 'fixed' }, [['lab/a', 'one\ntwo\n']]);
    const huge: number = JSON.parse('1e400');
    expect(await place.read({ path: 'lab/a', limit: huge })).toMatchObject({ ok: true, value: { text: 'one\ntwo\n' } });
    for (const offset of [3, 2 ** 53, 1e308, huge]) {
      expect(await place.read({ path: 'lab/a', offset })).toMatchObject({
        ok: true,
        value: { text: '', total_lines: 2 },
      });
    }
    place.end();
  });
});

describe('a text with a newline', () => {
  it('is told to search for one line of it', () => {
    expect(asError(parsed('search', { text: 'a\nb' })).recovery).toMatch(/search for one line of it/);
  });
});

describe('a tool that is not there', () => {
  it.each(['', 'Search', 'grep', '__proto__', 'constructor'])(
    '%j is E_TOOL_UNKNOWN, and nearby lists the tools',
    async (name) => {
      const place = city({ tree: 'memory', binding: 'fixed' }, []);
      const error = asError(await place.call(name, {}));
      expect(error).toMatchObject({ code: 'E_TOOL_UNKNOWN', nearby: [...TOOLS.keys()], retry: 'no' });
      expect(error.recovery).not.toBe('');
      place.end();
    },
  );
});
