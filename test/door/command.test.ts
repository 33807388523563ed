/**
 * The command line with everything around it played by the test: what is asked of the runner, what goes to
 * which stream, and how it ends. The same command over the real runner is in cli.test.ts.
 */

import { afterEach, describe, expect, test, vi } from 'vitest';
import { typedPath } from '../../dist/door/answering.js';
import type { Surroundings } from '../../dist/door/asking.js';
import { main } from '../../dist/door/command.js';
import { type AxError, gateDenied, invalidArgs, type Outcome, refused } from '../../dist/error.js';
import { TOOLS } from '../../dist/tools/registry.js';
import { jsonSchema } from '../../dist/tools/tool.js';

interface Played {
  /** What the tool answers. */
  readonly outcome?: Outcome<unknown>;
  readonly terminal?: boolean;
  readonly platform?: string;
  readonly input?: Uint8Array;
  /** How the city answers to being entered, when it does not open. */
  readonly closed?: AxError;
  /** Milliseconds, one for each time the clock is looked at; then the last one for ever. */
  readonly times?: number[];
  readonly progress?: readonly { entries: number; matches: number }[];
  readonly interrupts?: boolean;
  /** What closing the runner waits for, given what standard output got before. */
  readonly closing?: (out: string) => Promise<void>;
  /** Threads that closing leaves behind. */
  readonly stuckWorkers?: number;
}

interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
  readonly entered: readonly unknown[][];
  readonly called: readonly unknown[][];
  readonly closed: number;
  readonly killed: number;
}

/** Runs the command in surroundings that remember what was done to them. */
async function run(words: readonly string[], played: Played = {}): Promise<Ended> {
  const { outcome = { ok: true, value: NOTHING_FOUND }, terminal = false, platform = 'linux' } = played;
  const said = { out: '', err: '' };
  const entered: unknown[][] = [];
  const called: unknown[][] = [];
  let closed = 0;
  let killed = 0;
  let interrupt = (): void => {};
  const city = {
    tree: 'linux',
    call: async (
      tool: string,
      args: unknown,
      options: { signal: AbortSignal; onProgress?: (so: { entries: number; matches: number }) => void },
    ) => {
      called.push([tool, args]);
      for (const so of played.progress ?? []) options.onProgress?.(so);
      if (played.interrupts) interrupt();
      return options.signal.aborted
        ? refused(invalidArgs({ action: tool, asked: '' }, 'cancelled', 'ask again'))
        : outcome;
    },
    leave: async () => {},
  };
  const runner = {
    enter: async (...how: unknown[]) => {
      entered.push(how);
      return played.closed ? refused(played.closed) : { ok: true, value: city };
    },
    stuckWorkers: played.stuckWorkers ?? 0,
    close: async () => {
      closed++;
      await played.closing?.(said.out);
    },
  };
  const sink = (name: 'out' | 'err') => ({
    isTerminal: terminal,
    write: async (text: string) => {
      said[name] += text;
    },
  });
  const times = [...(played.times ?? [0])];
  const around = {
    openRunner: async () => runner,
    out: sink('out'),
    err: sink('err'),
    input: async () => played.input ?? new Uint8Array(),
    onInterrupt: (listener: () => void) => {
      interrupt = listener;
      return () => {};
    },
    kill: () => {
      killed++;
    },
    now: () => (times.length > 1 ? times.shift() : times[0]) ?? 0,
    environment: { NO_COLOR: '1' },
    directory: '/somewhere',
    platform,
    version: '1.2.3',
    // The played runner has the shape the command uses, not all of the real one's.
  } as unknown as Surroundings;
  const status = await main(words, around);
  return { status, ...said, entered, called, closed, killed };
}

const COVERAGE = { entries: 3, looked: 2, directories: 1, links: 0, reserved: 0, not_text: 0, unread_by_cause: {} };
const NOTHING_FOUND = { matches: [], count: 0, truncated: false, unreadable: 0, unread: [], coverage: COVERAGE };
const found = (rest: object): Outcome<unknown> => ({ ok: true, value: { ...NOTHING_FOUND, ...rest } });
const text = (rest: object): Outcome<unknown> => ({ ok: true, value: { path: 'f', text: '', bytes: 0, ...rest } });

describe('search, for people', () => {
  test('asks the tool for exactly what was typed, of the current directory, as an outsider', async () => {
    const { called, entered, closed } = await run(['search', 'a b', 'lab', '--context', '2']);
    expect(called).toEqual([['search', { text: 'a b', context: 2, path: 'lab' }]]);
    expect(entered).toEqual([['/somewhere', { reader: null }]]);
    expect(closed).toBe(1);
  });

  test('--city and --reader are the city and the reader', async () => {
    const { entered } = await run(['search', 'x', '--city', '/w', '--reader', 'lab']);
    expect(entered).toEqual([['/w', { reader: 'lab' }]]);
  });

  test('--shelf is a shelf outside, and may be given again: the nearest last', async () => {
    const { entered } = await run(['read', 'skill', '--shelf', '/far', '--shelf', '/near', '--reader', 'lab']);
    expect(entered).toEqual([['/somewhere', { reader: 'lab', shelves: ['/far', '/near'] }]]);
  });

  test('prints path, number from 1 and line; the summary goes to the other stream', async () => {
    const matches = [{ path: 'lab/n.md', line: 0, text: 'a hit' }];
    const { out, err, status } = await run(['search', 'hit'], { outcome: found({ matches, count: 1 }) });
    expect({ out, err, status }).toEqual({
      out: 'lab/n.md:1:a hit\n',
      err: '1 hit in 1 file; 2 files looked at\n',
      status: 0,
    });
  });

  test('numbers context from the block’s first line, also where the file’s head leaves less of it', async () => {
    const matches = [
      { path: 'a', line: 1, text: 'one\nHIT\nthree\nfour' },
      { path: 'b', line: 9, text: 'eight\nnine\nHIT' },
    ];
    const { out } = await run(['search', 'HIT', '--context', '2'], { outcome: found({ matches, count: 2 }) });
    expect(out).toBe('a-1-one\na:2:HIT\na-3-three\na-4-four\n--\nb-8-eight\nb-9-nine\nb:10:HIT\n');
  });

  test('context beyond the cap is numbered as the tool clamps it', async () => {
    const matches = [{ path: 'a', line: 7, text: '4\n5\n6\n7\n8' }];
    const { out } = await run(['search', '8', '--context', '9'], { outcome: found({ matches, count: 1 }) });
    expect(out).toContain('a:8:8\n');
  });

  test('no hits is an answer, and exit 0', async () => {
    const { out, err, status } = await run(['search', 'x']);
    expect({ out, err, status }).toEqual({ out: '', err: 'no hits; 2 files looked at\n', status: 0 });
  });

  test('what was not looked at is named with its reason, what was cut with the way on', async () => {
    const { err } = await run(['search', 'x'], {
      outcome: found({
        unreadable: 3,
        unread: [{ path: 'big', why: 'larger than 1 MiB' }],
        coverage: { ...COVERAGE, not_text: 1 },
        truncated: true,
        stopped: 'stopped: the cap of 64 hits is reached; narrow it',
      }),
    });
    expect(err).toBe(
      'no hits; 2 files looked at\n1 file holds the text but not as UTF-8, so no lines are shown\n' +
        'not looked at: 3\n  big: larger than 1 MiB\n  … and 2 more\ncut: the cap of 64 hits is reached; narrow it\n',
    );
  });

  test('on a terminal no file sends escape sequences; on a pipe its text goes as it is, and names still do not', async () => {
    const matches = [{ path: 'a\u202eb', line: 0, text: 'x\u001b[2J' }];
    const outcome = found({ matches, count: 1, unreadable: 1, unread: [{ path: '\u001bn', why: 'gone' }] });
    const seen = await run(['search', 'x'], { outcome, terminal: true });
    expect(seen.out).toBe('a\\u{202e}b:1:x\\x1b[2J\n');
    expect(seen.err).toContain('  \\x1bn: gone\n');
    const piped = await run(['search', 'x'], { outcome });
    expect(piped.out).toBe('a\\u{202e}b:1:x\u001b[2J\n');
    expect(piped.err).toContain('  \\x1bn: gone\n');
  });
});

describe('read, for people', () => {
  test('asks only for what was typed', async () => {
    expect((await run(['read', 'f'], { outcome: text({}) })).called).toEqual([['read', { path: 'f' }]]);
    const all = ['read', 'f', '--offset', '3', '--limit', '2', '--byte', '5'];
    expect((await run(all, { outcome: text({}) })).called).toEqual([
      ['read', { path: 'f', offset: 3, limit: 2, byte: 5 }],
    ]);
  });

  test('--line is the number search prints', async () => {
    expect((await run(['read', 'f', '--line', '4'], { outcome: text({}) })).called).toEqual([
      ['read', { path: 'f', offset: 3 }],
    ]);
  });

  test.each(['', 'a', 'a\n', 'a\r\nb\r\n', '\ufeffa\u0000\u001b[2J\n\n'])(
    'a pipe gets the text as it is: %j',
    async (whole) => {
      const { out, err } = await run(['read', 'f'], { outcome: text({ text: whole }) });
      expect({ out, err }).toEqual({ out: whole, err: '' });
    },
  );

  test('a terminal gets numbers from 1, whole lines and nothing that it would obey', async () => {
    const { out } = await run(['read', 'f', '--offset', '8'], {
      outcome: text({ text: 'a\r\nb\u001bc\n\nd\re' }),
      terminal: true,
    });
    expect(out).toBe(' 9  a\n10  b\\x1bc\n11  \n12  d\\x0de\n');
  });

  test.each([
    { rest: { text: 'a\n', total_lines: 9, next_offset: 1 }, says: 'lines 1 to 1 of 9: go on with --offset 1\n' },
    {
      rest: { text: 'aaaa', total_lines: 1, next_offset: 0, next_byte: 4, cut_bytes: 7 },
      says: '7 bytes of line 1 are left: go on with --offset 0 --byte 4\n',
    },
    { rest: { total_lines: 0 }, says: 'nothing there: the file has 0 lines\n' },
    { rest: { text: 'a', note: 'only the interval was judged' }, says: 'only the interval was judged\n' },
  ])('says how to go on: $says', async ({ rest, says }) => {
    expect((await run(['read', 'f'], { outcome: text(rest) })).err).toBe(says);
  });
});

test('a refusal is its one line, what to do next and what is near; exit 1, nothing on standard output', async () => {
  const error = { ...gateDenied({ action: 'read', asked: 'v/\u001b' }, 'no', 'ask a resident'), nearby: ['a\u0007'] };
  const { out, err, status } = await run(['read', 'v'], { outcome: refused(error), terminal: true });
  expect({ out, err, status }).toEqual({
    out: '',
    err: 'E_GATE_DENIED: cannot read v/\\x1b: no\n→ ask a resident\nnearby:\n  a\\x07\n',
    status: 1,
  });
});

describe('history, for people', () => {
  const HITS = { text: 'c:messages/1\n\n<entry \u001b>\n', addresses: ['c:messages/1'], truncated: false };

  test('asks for a pattern, or for an entry by its address', async () => {
    expect((await run(['history', './x'], { outcome: { ok: true, value: HITS } })).called).toEqual([
      ['search_history', { pattern: './x' }],
    ]);
    expect((await run(['history', '--entry', 'c:messages/1'], { outcome: { ok: true, value: HITS } })).called).toEqual([
      ['search_history', { entry: 'c:messages/1' }],
    ]);
  });

  test.each([[['history']], [['history', 'x', '--entry', 'c:messages/1']]])(
    '%j is neither: wrong usage',
    async (words) => {
      const { status, err, called } = await run(words);
      expect({ status, called }).toEqual({ status: 2, called: [] });
      expect(err).toContain('a PATTERN or an --entry');
    },
  );

  test('prints the answer as it is on a pipe, visibly on a terminal, and how much it is to the other stream', async () => {
    const outcome = { ok: true, value: HITS } as const;
    expect(await run(['history', 'x'], { outcome })).toMatchObject({
      out: HITS.text,
      err: '1 entry, newest first\n',
      status: 0,
    });
    const { out } = await run(['history', 'x'], { outcome, terminal: true });
    expect(out).not.toContain('\u001b');
    expect(out).toContain('<entry');
  });

  test('says so where there are none, and where it was cut', async () => {
    const none = { text: '', addresses: [], truncated: false };
    expect(await run(['history', 'x'], { outcome: { ok: true, value: none } })).toMatchObject({
      out: '',
      err: 'no entries\n',
      status: 0,
    });
    const cut = { ...HITS, truncated: true, stopped: 'stopped: its time is over' };
    const { err } = await run(['history', 'x'], { outcome: { ok: true, value: cut } });
    expect(err).toBe('1 entry, newest first\ncut: stopped: its time is over\n');
  });

  test('an entry is its text, and of one that is not UTF-8 its bytes', async () => {
    const of = async (value: object, terminal = false) =>
      run(['history', '--entry', 'a'], { outcome: { ok: true, value }, terminal });
    expect(await of({ text: 'a\u001b' })).toMatchObject({ out: 'a\u001b', err: '' });
    expect((await of({ text: 'a\u001b' }, true)).out).not.toContain('\u001b');
    const { out } = await of({ base64: '/wA=' });
    expect(out).toBe(Buffer.from([255, 0]).toString());
  });

  test('--history and --branches say whose, for every command', async () => {
    const { entered } = await run([
      'call',
      'search_history',
      '{}',
      '--history',
      '/r',
      '--branches',
      'a/*',
      '--branches',
      'b',
    ]);
    expect(entered).toEqual([['/somewhere', { reader: null, history: { repository: '/r', branches: ['a/*', 'b'] } }]]);
  });
});

describe('call, for programs', () => {
  test('passes the arguments on as they are, and prints the value and a newline, exit 0', async () => {
    const value = { b: 1, a: ['\u001b\u009b'] };
    const { out, err, status, called } = await run(['call', 'tool', '{"z":1,"path":"./x/"}'], {
      outcome: { ok: true, value },
    });
    expect({ out, err, status }).toEqual({ out: `${JSON.stringify(value)}\n`, err: '', status: 0 });
    expect(called).toEqual([['tool', { z: 1, path: './x/' }]]);
  });

  test('prints the error’s JSON on standard output too, exit 1', async () => {
    const error = gateDenied({ action: 'read', asked: 'v' }, 'no', 'ask a resident');
    const { out, err, status } = await run(['call', 'read', '{}'], { outcome: refused(error) });
    expect({ out, err, status }).toEqual({ out: `${JSON.stringify(error)}\n`, err: '', status: 1 });
  });

  test('- takes the arguments from standard input', async () => {
    const { called } = await run(['call', 'read', '-'], { input: new TextEncoder().encode('{"path":"潮"}\n') });
    expect(called).toEqual([['read', { path: '潮' }]]);
  });

  test.each([
    { json: '{', input: undefined, why: 'JSON that does not parse' },
    { json: '', input: undefined, why: 'no JSON at all' },
    { json: '-', input: new Uint8Array(), why: 'an empty standard input' },
    { json: '-', input: new Uint8Array([0x22, 0xff, 0x22]), why: 'a standard input that is not UTF-8' },
  ])('$why is E_INVALID_ARGS of the tool, exit 1, and nothing is entered', async ({ json, input }) => {
    const { out, err, status, entered } = await run(['call', 'read', json], input ? { input } : {});
    expect(JSON.parse(out)).toMatchObject({ code: 'E_INVALID_ARGS', action: 'read', nearby: [], retry: 'no' });
    expect({ err, status, entered }).toEqual({ err: '', status: 1, entered: [] });
  });

  test('on a terminal the same value is written without what the terminal would obey', async () => {
    const value = { text: '\u009b2J\u202e' };
    const { out } = await run(['call', 'read', '{}'], { outcome: { ok: true, value }, terminal: true });
    expect(out).toBe('{"text":"\\u009b2J\\u202e"}\n');
    expect(JSON.parse(out)).toEqual(value);
  });

  test('a city that does not open is the error, and the runner is closed', async () => {
    const error = invalidArgs({ action: 'enter', asked: '/nowhere' }, 'there is nothing', 'name a directory');
    const { out, status, closed } = await run(['call', 'read', '{}'], { closed: error });
    expect({ out, status, closed }).toEqual({ out: `${JSON.stringify(error)}\n`, status: 1, closed: 1 });
  });
});

describe('usage', () => {
  test.each([
    { words: [], why: 'no command' },
    { words: ['sniff'], why: 'a command there is not' },
    { words: ['search'], why: 'no text' },
    { words: ['search', 'a', 'b', 'c'], why: 'an argument too many' },
    { words: ['search', 'a', '--depth', '3'], why: 'an option there is not' },
    { words: ['search', 'a', '--context', 'two'], why: 'a number that is none' },
    { words: ['read', 'f', '--limit', '1.5'], why: 'a number that is not whole' },
    { words: ['read', 'f', '--line', '0'], why: 'lines count from 1' },
    { words: ['read', 'f', '--line', '1', '--offset', '0'], why: 'one thing named twice' },
    { words: ['call', 'read'], why: 'no arguments' },
    { words: ['read', 'f', '--city'], why: 'an option without its value' },
    { words: ['read', 'f', '--receipts-key', 'k'], why: 'the key of a log that was not named' },
    { words: ['search', 'a', '--json'], why: 'an option other commands have' },
  ])('$why: exit 2, said on standard error, nothing entered', async ({ words }) => {
    const { status, out, err, entered } = await run(words);
    expect({ status, out, entered }).toEqual({ status: 2, out: '', entered: [] });
    expect(err).toMatch(/--help/);
  });

  test('repeats no escape sequence that was typed', async () => {
    expect((await run(['search', 'a', '--\u001b[2J'])).err).toContain("'--\\x1b[2J'");
  });

  test.each([['--help'], ['search', '--help'], ['read', '-h'], ['call', '--help']])(
    'help explains itself, exit 0: %s',
    async (...words) => {
      const { status, out, err } = await run(words);
      expect({ status, err }).toEqual({ status: 0, err: '' });
      expect(out).toMatch(/^Usage: portcullis/);
    },
  );

  test('the help of call names every argument of every tool, with the words of its schema', async () => {
    const words = (await run(['call', '--help'])).out.replaceAll(/\s+/g, ' ');
    for (const tool of TOOLS.values()) {
      const { properties = {}, required = [] } = jsonSchema(tool);
      expect(words).toContain(`${tool.title}: ${tool.name}, with a JSON object of`);
      for (const [name, property] of Object.entries(properties)) {
        const description = typeof property === 'object' ? property.description : undefined;
        expect(description).toBeTruthy();
        expect(words).toContain(`${name} ${description}${required.includes(name) ? ' Required.' : ''}`);
      }
    }
  });

  test('--version is the package’s', async () => {
    expect(await run(['--version'])).toMatchObject({ status: 0, out: '1.2.3\n' });
  });

  test('a text that starts with a dash comes after --', async () => {
    expect((await run(['search', '--', '--depth'])).called).toEqual([['search', { text: '--depth', context: 0 }]]);
  });
});

describe('the tree', () => {
  test('--portable opts in', async () => {
    const { entered, err } = await run(['search', 'x', '--portable']);
    expect(entered).toEqual([['/somewhere', { reader: null, tree: 'portable' }]]);
    expect(err).not.toContain('--portable');
  });

  test('a system other than Linux gets the portable tree and is told', async () => {
    const { entered, err } = await run(['search', 'x'], { platform: 'darwin' });
    expect(entered).toEqual([['/somewhere', { reader: null, tree: 'portable' }]]);
    expect(err).toContain('as with --portable');
  });

  test('on Linux nothing but the option selects it', async () => {
    const error = invalidArgs({ action: 'enter', asked: '' }, '/proc is not procfs', 'mount it');
    const { entered } = await run(['search', 'x'], { closed: error });
    expect(entered).toEqual([['/somewhere', { reader: null }]]);
  });
});

describe('typedPath', () => {
  test.each([
    ['lab', 'lab'],
    ['lab/', 'lab'],
    ['./lab', 'lab'],
    ['././lab/', 'lab'],
    ['.', undefined],
    ['./', undefined],
    ['', ''],
    ['/', '/'],
    ['.//etc', './/etc'],
    ['lab//', 'lab//'],
    ['../x', '../x'],
    ['./../x', '../x'],
    ['/abs/', '/abs'],
    ['.hidden/', '.hidden'],
  ])('%j becomes %j, and is judged as that', (typed, path) => {
    expect(typedPath(typed)).toBe(path);
  });
});

describe('progress', () => {
  const progress = [
    { entries: 10, matches: 0 },
    { entries: 20, matches: 1 },
    { entries: 30, matches: 2 },
  ];
  test('is one line on a terminal, after a while, not at every report, and gone before the answer', async () => {
    const { err } = await run(['search', 'x'], { terminal: true, progress, times: [100, 600, 650] });
    expect(err).toBe('\r\u001b[2K20 entries so far, hits: 1\r\u001b[2Kno hits; 2 files looked at\n');
  });
  test('is not shown on a pipe', async () => {
    const { err } = await run(['search', 'x'], { progress, times: [0, 1000, 2000, 3000] });
    expect(err).toBe('no hits; 2 files looked at\n');
  });
  test('is not shown for a short walk', async () => {
    const { err } = await run(['search', 'x'], { terminal: true, progress, times: [0, 1, 2, 3] });
    expect(err).toBe('no hits; 2 files looked at\n');
  });
});

test('an interrupt cancels the call by its signal, what is due is said, and the exit status is 130', async () => {
  const { status, err, closed } = await run(['search', 'x'], { interrupts: true });
  expect({ status, closed }).toEqual({ status: 130, closed: 1 });
  expect(err).toContain('cancelled');
});

describe('closing', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test('comes after the answer is out, and ends the process when a thread of it cannot be ended', async () => {
    vi.useFakeTimers();
    let before = '';
    const closing = async (out: string): Promise<void> => {
      before = out;
      await vi.advanceTimersByTimeAsync(60_000);
    };
    const { killed } = await run(['call', 'search', '{}'], { closing });
    expect(before).toBe(`${JSON.stringify(NOTHING_FOUND)}\n`);
    expect(killed).toBe(1);
  });

  test('that leaves a thread behind ends the process over it', async () => {
    const { killed, out } = await run(['call', 'search', '{}'], { stuckWorkers: 1 });
    expect({ killed, out }).toEqual({ killed: 1, out: `${JSON.stringify(NOTHING_FOUND)}\n` });
  });

  test('that is done in time kills nothing, then or later', async () => {
    vi.useFakeTimers();
    const { killed } = await run(['call', 'search', '{}']);
    await vi.advanceTimersByTimeAsync(60_000);
    expect({ killed, timers: vi.getTimerCount() }).toEqual({ killed: 0, timers: 0 });
  });
});
