/** A building’s rules: what reads, what does not and is closed for it, and that no text of them is told. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FAILURE_SENTENCES } from '../../dist/judge/locate.js';
import type { Failure } from '../../dist/judge/place.js';
import { defaultVerdict, parseRules, readRules } from '../../dist/judge/rules.js';
import { RULES_MAX_BYTES } from '../../dist/limits.js';
import { City, fifo, file, link, type Node, type Shape } from './city.js';

const BASE = 'confidential = false\nwrite = "everything"\n';
const subject = (text: string, building = 'lab'): string => {
  const read = parseRules(text, building);
  return read.kind === 'broken' ? read.subject : read.kind;
};

describe('parseRules', () => {
  it('reads the two keys that must be there, and defaults for the others', () => {
    expect(parseRules(BASE, 'lab')).toEqual({
      kind: 'rules',
      rules: {
        does: [],
        conventions: [],
        confidential: false,
        write: 'everything',
        prefixes: [],
        review: false,
        browser: false,
        desktop: false,
        usersbrowser: false,
        egress: [],
        reading_room: [],
        harness_minutes: 60,
      },
    });
  });

  it('reads every known key', () => {
    const text = `
      does = "tests"
      conventions = ["short", "true"]
      confidential = false
      write = "documents"
      prefixes = ["lab", "lab/room"]
      review = true
      browser = true
      desktop = true
      usersbrowser = "ws://localhost:9222"
      egress = "example.org"
      reading_room = ["skill"]
      harness_minutes = 0.5
    `;
    expect(parseRules(text, 'lab')).toEqual({
      kind: 'rules',
      rules: {
        does: ['tests'],
        conventions: ['short', 'true'],
        confidential: false,
        write: 'documents',
        prefixes: ['lab', 'lab/room'],
        review: true,
        browser: true,
        desktop: true,
        usersbrowser: 'ws://localhost:9222',
        egress: ['example.org'],
        reading_room: ['skill'],
        harness_minutes: 0.5,
      },
    });
  });

  const faults: [string, string, string][] = [
    ['write = "everything"', '`confidential` is missing', 'without confidential'],
    ['confidential = true', '`write` is missing', 'without write'],
    ['', '`confidential` is missing', 'empty, but there'],
    [`${BASE}secret = 1`, 'line 3: an unknown key', 'an unknown key is not named'],
    [`${BASE}"se cret" = 1`, 'line 3: an unknown key', 'nor a quoted one'],
    [`${BASE}[table]\nx = 1`, 'an unknown key', 'nor a table'],
    [
      `${BASE}does = """\nsecret = 1\n"""\nsecret = 1`,
      'an unknown key',
      'a line inside a text is not taken for the key',
    ],
    [`${BASE}__proto__ = 1`, 'line 3: an unknown key', 'a name of the language is an unknown key'],
    [`${BASE}constructor = 1`, 'line 3: an unknown key', 'so is this'],
    [`${BASE}Confidential = true`, 'line 3: an unknown key', 'keys have one case'],
    [
      'confidential = "false"\nwrite = "everything"',
      'line 1: `confidential` must be true or false',
      'a text for a flag',
    ],
    ['confidential = 0\nwrite = "everything"', 'line 1: `confidential` must be true or false', 'a number for a flag'],
    ['confidential.x = true\nwrite = "everything"', 'line 1: `confidential` must be true or false', 'a dotted key'],
    ['confidential = false\nwrite = "nothing"', 'line 2: `write` must be "everything" or "documents"', 'another word'],
    ['confidential = false\nwrite = true', 'line 2: `write` must be "everything" or "documents"', 'a flag'],
    [`${BASE}does = 1`, 'line 3: `does` must be a text or a list of texts', 'does'],
    [`${BASE}conventions = false`, 'line 3: `conventions` must be a text or a list of texts', 'conventions'],
    [`${BASE}prefixes = [1]`, 'line 3: `prefixes` must be a text or a list of texts', 'prefixes'],
    [`${BASE}egress = ["a", 1]`, 'line 3: `egress` must be a text or a list of texts', 'egress'],
    [`${BASE}reading_room = 2020-01-01`, 'line 3: `reading_room` must be a text or a list of texts', 'reading_room'],
    [`${BASE}review = "yes"`, 'line 3: `review` must be true or false', 'review'],
    [`${BASE}browser = 1`, 'line 3: `browser` must be true or false', 'browser'],
    [`${BASE}desktop = []`, 'line 3: `desktop` must be true or false', 'desktop'],
    [
      `${BASE}usersbrowser = "http://x"`,
      'line 3: `usersbrowser` must be true, false or a ws:// address',
      'usersbrowser',
    ],
    [`${BASE}harness_minutes = 0`, 'line 3: `harness_minutes` must be a positive number', 'zero'],
    [`${BASE}harness_minutes = -1`, 'line 3: `harness_minutes` must be a positive number', 'negative'],
    [`${BASE}harness_minutes = inf`, 'line 3: `harness_minutes` must be a positive number', 'infinite'],
    [`${BASE}harness_minutes = nan`, 'line 3: `harness_minutes` must be a positive number', 'no number'],
    [`${BASE}prefixes = ["hall"]`, 'line 3: `prefixes` must be addresses inside the building', 'another building'],
    [
      `${BASE}prefixes = ["lab", "labs/x"]`,
      'line 3: `prefixes` must be addresses inside the building',
      'a longer name',
    ],
    [`${BASE}prefixes = ["lab/../hall"]`, 'line 3: `prefixes` must be addresses inside the building', 'dots'],
    [`${BASE}prefixes = [""]`, 'line 3: `prefixes` must be addresses inside the building', 'the city'],
    ['confidential = true\nwrite = ', 'line 2: it is not TOML', 'not parseable'],
    [`${BASE}confidential = true`, 'line 3: it is not TOML', 'twice'],
    [`${BASE}does = ${'['.repeat(5_000)}`, 'line 3: it is not TOML', 'nested without end'],
  ];
  for (const [text, fact, why] of faults) {
    it(`refuses rules (${why}): ${fact}`, () => {
      expect(subject(text)).toBe(`lab/.sprawling/RULES.toml: ${fact}`);
    });
  }

  for (const [outlet, value] of [
    ['egress', '["example.org"]'],
    ['browser', 'true'],
    ['usersbrowser', 'true'],
    ['usersbrowser', '"ws://x"'],
    ['desktop', 'true'],
  ] as const) {
    it(`refuses confidential together with ${outlet} = ${value}`, () => {
      const text = `confidential = true\nwrite = "everything"\n${outlet} = ${value}`;
      expect(subject(text)).toBe(
        `lab/.sprawling/RULES.toml: line 3: \`confidential\` does not go together with \`${outlet}\``,
      );
    });
  }

  it('accepts confidential beside outlets that are shut', () => {
    const text =
      'confidential = true\nwrite = "everything"\negress = []\nbrowser = false\nusersbrowser = false\ndesktop = false';
    expect(subject(text)).toBe('rules');
  });

  it('never repeats text of the file, whatever is wrong with it', () => {
    const word = fc.constantFrom(
      'CANARY',
      '"CANARY"',
      '["CANARY"]',
      '"""\nCANARY\n"""',
      "'CANARY",
      '{ CANARY = 1 }',
      'true',
      '"ws:CANARY"',
    );
    const key = fc.constantFrom(
      'does',
      'confidential',
      'write',
      'prefixes',
      'usersbrowser',
      'CANARY',
      '"CANARY"',
      '[CANARY]',
      '[[CANARY]]',
    );
    const entry = fc.tuple(key, fc.constantFrom(' = ', ' ', '.CANARY = '), word).map((parts) => parts.join(''));
    const text = fc.array(
      fc.oneof(entry, fc.constantFrom('confidential = false', 'write = "everything"', '#CANARY', 'CANARY')),
    );
    fc.assert(
      fc.property(text, (lines) => {
        expect(subject(lines.join('\n'))).not.toContain('CANARY');
      }),
      { numRuns: 1_000 },
    );
  });
});

const home = (rules: string | Node | Shape): City => new City({ lab: { '.sprawling': { 'RULES.toml': rules } } });

describe('readRules', () => {
  const none: [string, Shape][] = [
    ['there is no such building', {}],
    ['the building is a file', { lab: 'x' }],
    ['the building is a link, which is judged where it lands', { lab: link('vault'), vault: {} }],
    ['the building is neither', { lab: fifo }],
    ['it has no reserved room', { lab: {} }],
    ['the room has no rules file', { lab: { '.sprawling': {} } }],
  ];
  for (const [why, shape] of none) {
    it(`finds none where ${why}`, () => {
      expect(readRules(new City(shape).root, 'lab')).toEqual({ kind: 'none' });
    });
  }

  it('finds none for a building whose name no file system takes', () => {
    expect(readRules(new City({}).root, 'x'.repeat(300))).toEqual({ kind: 'none' });
  });

  const broken: [string, City, string][] = [
    [
      'the room is a link',
      new City({ lab: { '.sprawling': link('x'), x: { 'RULES.toml': BASE } } }),
      'no plain directory',
    ],
    ['the room is a file', new City({ lab: { '.sprawling': 'x' } }), 'no plain directory'],
    ['the file is a link', home(link('../x')), 'no plain file'],
    ['the file is a directory', home({}), 'no plain file'],
    ['the file is a FIFO', home(fifo), 'no plain file'],
    ['the file is not UTF-8', home(file(new Uint8Array([0xc4, 0xe3, 0xba, 0xc3]))), 'it is not UTF-8'],
    ['the file is over the cap', home(file(`${BASE}#${'x'.repeat(RULES_MAX_BYTES)}`)), 'it is larger than 65536 bytes'],
    [
      'the file is over the cap and says it is not',
      home(file(`${BASE}#${'x'.repeat(RULES_MAX_BYTES)}`, 0)),
      'it is larger than 65536 bytes',
    ],
    ['the file does not parse', home('='), 'line 1: it is not TOML'],
  ];
  for (const [why, city, fact] of broken) {
    it(`is broken where ${why}`, () => {
      const read = readRules(city.root, 'lab');
      expect(read).toMatchObject({ kind: 'broken', subject: expect.stringContaining(fact) });
      expect(city.open).toBe(0);
    });
  }

  it('reads a file of exactly the cap, through short reads, and a file that says it is empty', () => {
    const text = `${BASE}#`.padEnd(RULES_MAX_BYTES, 'x');
    for (const city of [home(file(text)), home(file(text, 0))]) {
      expect(readRules(city.root, 'lab').kind).toBe('rules');
      expect(city.open).toBe(0);
    }
  });

  it('opens the file where it lies: one that was moved meanwhile is found out', () => {
    const city = home(BASE);
    readRules(city.root, 'lab');
    expect(city.placed).toEqual(['lab/.sprawling/RULES.toml']);
  });

  it('is broken where the building may be held and nothing in it looked at: it is the building that does not open', () => {
    const city = home(BASE);
    for (const question of ['directory', 'look']) city.failures.set(`${question} lab/.sprawling`, 'access');
    const subject = `lab: ${FAILURE_SENTENCES.access}`;
    expect(readRules(city.root, 'lab')).toEqual({ kind: 'broken', subject });
    expect(city.open).toBe(0);
  });

  const failures: [string, Failure][] = [
    ['directory lab', 'access'],
    ['directory lab', 'moved'],
    ['directory lab/.sprawling', 'access'],
    ['directory lab/.sprawling', 'other-mount'],
    ['file lab/.sprawling/RULES.toml', 'hard-link'],
    ['file lab/.sprawling/RULES.toml', 'exhausted'],
    ['read lab/.sprawling/RULES.toml', 'io'],
  ];
  for (const [question, failure] of failures) {
    it(`is broken, never open, where \`${question}\` fails with ${failure}, and holds nothing`, () => {
      const city = home(BASE);
      city.failures.set(question, failure);
      // Where the building itself does not open, nobody came as far as its rules.
      const at = question === 'directory lab' ? 'lab' : 'lab/.sprawling/RULES.toml';
      const subject = `${at}: ${FAILURE_SENTENCES[failure]}`;
      expect(readRules(city.root, 'lab')).toEqual({ kind: 'broken', subject });
      expect(city.open).toBe(0);
    });
  }
});

describe('defaultVerdict', () => {
  it('is what the rules say to outsiders', () => {
    expect(defaultVerdict(home(BASE).root, 'hall', 'lab')).toEqual({ kind: 'open' });
    expect(defaultVerdict(home('confidential = true\nwrite = "documents"').root, null, 'lab')).toEqual({
      kind: 'confidential',
    });
    expect(defaultVerdict(home('?').root, null, 'lab').kind).toBe('rules-unreadable');
  });

  it('at home touches no disk', () => {
    const city = home('?');
    expect(defaultVerdict(city.root, 'lab', 'lab')).toEqual({ kind: 'open' });
    expect(city.log).toEqual([]);
  });
});
