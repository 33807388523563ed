/** Receipts as an embedder meets them: what a line says and does not say, and what a sink that fails does to whom. */

import { blake3 } from 'hash-wasm';
import { afterEach, describe, expect, it } from 'vitest';
import { derivedDigester } from '../../dist/audit/record.js';
import type { City, CityOptions, OpenTelemetry, ReceiptOptions, Runner } from '../../dist/index.js';
import { memoryCity, openRunner } from '../../dist/index.js';
import { RECEIPT_KEY_BYTES } from '../../dist/limits.js';
import { asError, asValue } from '../support/outcomes.js';
import { KEY, MemorySink, records, verified } from './logs.js';

const FILES = {
  'lab/notes.md': 'one\nthe needle\n',
  'lab/canary.txt': 'canary of the content\n',
  'vault/.sprawling/RULES.toml': 'confidential = true\nwrite = "documents"\n',
  'vault/s.txt': 'canary of the vault\n',
};
const CITY = memoryCity(Object.entries(FILES));

let runner: Runner | undefined;
afterEach(async () => {
  await runner?.close();
  runner = undefined;
});

async function entered(receipts: ReceiptOptions, options: CityOptions = {}, telemetry?: OpenTelemetry): Promise<City> {
  runner ??= await openRunner({ mode: 'inline', receipts, telemetry: telemetry ?? false });
  return asValue(await runner.enter(CITY, options));
}

const calls = (text: string) => records(text).filter(({ kind }) => kind === 'call');

describe('a receipt', () => {
  it('says who asked what of which component, what was decided and handed over, and what it took', async () => {
    const sink = new MemorySink();
    const city = await entered({ sink, key: KEY }, { tenant: 'acme', run: 'run 7' });
    const answer = await city.call('read', { path: 'lab/notes.md', offset: 1 });
    const [line] = calls(sink.text);
    const asked = await derivedDigester(KEY, 'asked', String(line?.['log']));
    const path = { hash: asked('lab/notes.md'), bytes: 12 };
    expect(line).toMatchObject({
      seq: 1,
      tenant: 'acme',
      run: 'run 7',
      tool: 'read',
      asked: { path, offset: 1 },
      verdict: 'admitted',
      code: null,
      rule: null,
      landing: path,
      handed: 'single',
      bytes_read: 15,
      bytes_out: Buffer.byteLength(JSON.stringify(asValue(answer))),
      component: runner?.componentHash,
    });
    for (const name of ['opens', 'entries', 'ms']) expect(line?.[name]).toBeTypeOf('number');
    expect(Math.abs(Date.parse(String(line?.['time'])) - Date.now())).toBeLessThan(60_000);
    expect(Object.keys(line ?? {})).toEqual(
      'log seq time kind tenant run tool asked verdict code rule landing handed opens entries bytes_read bytes_out ms component prev mac sum'.split(
        ' ',
      ),
    );
  });

  it.each<[string, string, unknown, Record<string, unknown>]>([
    [
      'a bound that says no',
      'read',
      { path: 'vault/s.txt' },
      {
        verdict: 'refused',
        code: 'E_GATE_DENIED',
        rule: 'it is in a confidential building',
        handed: 'none',
        landing: null,
      },
    ],
    [
      'a path out',
      'read',
      { path: '/etc/passwd' },
      { verdict: 'refused', code: 'E_GATE_DENIED', rule: 'it is outside the city' },
    ],
    [
      'a miss',
      'read',
      { path: 'lab/nothing' },
      { verdict: 'refused', code: 'E_INVALID_ARGS', rule: 'there is no such file' },
    ],
    [
      'a field that is not one',
      'read',
      { path: 'lab/notes.md', 'canary/argument': 1 },
      { verdict: 'refused', rule: 'its arguments do not fit the schema' },
    ],
    ['no arguments', 'read', null, { verdict: 'refused', code: 'E_INVALID_ARGS' }],
    ['no tool', 'canary/tool', {}, { verdict: 'refused', code: 'E_TOOL_UNKNOWN', tool: null }],
    [
      'a number beyond JSON',
      'read',
      { path: 'lab/notes.md', limit: Number.POSITIVE_INFINITY },
      { verdict: 'admitted', asked: { limit: null } },
    ],
    [
      'a search of everything',
      'search',
      { text: 'needle' },
      { verdict: 'admitted', handed: 'directory', landing: { bytes: 0 } },
    ],
  ])('is there for %s, too', async (_, tool, args, line) => {
    const sink = new MemorySink();
    await (await entered({ sink })).call(tool, args);
    expect(calls(sink.text)).toHaveLength(1);
    expect(calls(sink.text)[0]).toMatchObject(line);
  });

  it('is there for a call of a city that was left, and for one that was cancelled', async () => {
    const sink = new MemorySink();
    const city = await entered({ sink });
    await city.call('search', { text: 'x' }, { signal: AbortSignal.abort() });
    await city.leave();
    await city.call('search', { text: 'x' });
    expect(calls(sink.text)).toMatchObject([
      { verdict: 'failed', code: 'E_CANCELLED' },
      { verdict: 'refused', rule: 'the city was left' },
    ]);
  });

  it('does not make up what a call used that was ended from outside', async () => {
    const sink = new MemorySink();
    runner = await openRunner({ workers: 1, receipts: { sink } });
    const cancel = new AbortController();
    const policy = (): Promise<never> => {
      cancel.abort();
      return new Promise(() => {});
    };
    const city = await entered({ sink }, { policy });
    await city.call('search', { text: 'needle' }, { signal: cancel.signal });
    const unknown = { handed: 'unknown', landing: null, opens: null, entries: null, bytes_read: null };
    expect(calls(sink.text)).toMatchObject([{ verdict: 'failed', code: 'E_CANCELLED', ...unknown }]);
  });

  it('is there for a bug of the host, which is thrown all the same', async () => {
    const sink = new MemorySink();
    const city = await entered({ sink });
    const args = {
      get path(): string {
        throw new Error('canary');
      },
    };
    await expect(city.call('read', args)).rejects.toThrow('canary');
    expect(calls(sink.text)).toMatchObject([
      { verdict: 'failed', code: null, rule: 'a bug of the host', bytes_out: 0 },
    ]);
    expect(sink.text).not.toContain('canary');
  });

  it.each<[string, boolean]>([
    ['hashed', false],
    ['full', true],
  ])('kept %s has the words that were asked: %s; never a file’s content', async (asked, isKept) => {
    const sink = new MemorySink();
    const city = await entered({ sink, asked: asked as 'hashed' | 'full' });
    asValue(await city.call('read', { path: 'lab/canary.txt' }));
    asValue(await city.call('search', { text: 'canary of the', path: 'lab' }));
    await city.call('read', { path: 'vault/canary' });
    await city.call('canary', { canary: 'canary' });
    expect(sink.text.includes('lab/canary.txt')).toBe(isKept);
    expect(sink.text.includes('canary')).toBe(isKept);
    expect(sink.text).not.toContain('canary of the content');
  });

  it('kept full cuts a long text, and still has the digest of all of it', async () => {
    const sink = new MemorySink();
    const city = await entered({ sink, asked: 'full' });
    await city.call('search', { text: '\u0001'.repeat(100_000), path: 'x'.repeat(50_000) });
    expect(calls(sink.text)[0]).toMatchObject({
      asked: { text: { bytes: 100_000, text: expect.stringContaining('[truncated: ') } },
    });
    expect((await verified(sink.text)).verdict).toBe('intact');
  });

  it('has digests that differ between runners without a key, and from a plain hash', async () => {
    const hashes = [];
    for (let time = 0; time < 2; time++) {
      const sink = new MemorySink();
      await (await entered({ sink })).call('read', { path: 'lab/notes.md' });
      hashes.push(JSON.stringify(calls(sink.text)[0]?.['asked']));
      await runner?.close();
      runner = undefined;
    }
    expect(hashes[0]).not.toBe(hashes[1]);
    expect(hashes.join()).not.toContain(await blake3('lab/notes.md'));
  });

  it('has no path and no word of a caller in its rule', async () => {
    const sink = new MemorySink();
    const city = await entered({ sink });
    for (const path of [
      'canary',
      'canary/../x',
      '/canary',
      'lab/canary',
      'vault/canary',
      '.git/canary',
      'canary:\\x',
      'cas:canary',
    ]) {
      await city.call('read', { path });
      await city.call('search', { text: 'canary', path });
    }
    const rules = calls(sink.text).map(({ rule }) => rule);
    expect(rules).toHaveLength(16);
    expect(rules.join()).not.toContain('canary');
    expect(rules.filter((rule) => rule === null).length).toBeLessThan(3);
  });

  it.each([
    ['a name twice', 'confidential = false\nwrite = "documents"\nreading_room = ["canary", "canary"]\n'],
    ['rules that do not read', 'canary = '],
  ])('nor a name of a reading room that has %s', async (_, rules) => {
    const sink = new MemorySink();
    runner ??= await openRunner({ mode: 'inline', receipts: { sink }, telemetry: false });
    const poisoned = memoryCity([
      ['canary/.sprawling/RULES.toml', rules],
      ['lab/notes.md', 'notes\n'],
    ]);
    const city = asValue(await runner.enter(poisoned, { reader: 'canary' }));
    expect(asError(await city.call('read', { path: 'lab/notes.md' })).recovery).toContain('canary');
    const [line] = calls(sink.text);
    expect(line).toMatchObject({ rule: expect.stringMatching(/^(the catalog cannot be|what this run may open)/) });
    expect(String(line?.['rule'])).not.toContain('canary');
  });
});

describe('a thousand calls at once', () => {
  it('have a thousand lines, gapless, in one whole chain', async () => {
    const sink = new MemorySink();
    const city = await entered({ sink });
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, offset) => city.call('read', { path: 'lab/notes.md', offset })),
    );
    expect(answers.every(({ ok }) => ok)).toBe(true);
    expect(records(sink.text).map(({ seq }) => seq)).toEqual(Array.from({ length: 1_001 }, (_, seq) => seq));
    expect((await verified(sink.text)).verdict).toBe('intact');
    const asked = calls(sink.text).map((line) => (line['asked'] as { offset: number }).offset);
    expect(asked.sort((a, b) => a - b)).toEqual(Array.from({ length: 1_000 }, (_, offset) => offset));
  });
});

describe('a sink that does not take a line', () => {
  const sinks = { good: new MemorySink(), bad: new MemorySink() };
  const sink = (tenant: string | null) => sinks[tenant as 'good' | 'bad'];

  it.each(['fails', 'throws', 'takes and fails', 'hangs'] as const)(
    'withholds its tenant’s answers and nobody else’s, until it takes one again: it %s',
    async (mood) => {
      Object.assign(sinks, { good: new MemorySink(), bad: new MemorySink() });
      const bad = await entered({ sink, timeMs: 300 }, { tenant: 'bad' });
      const good = await entered({ sink, timeMs: 300 }, { tenant: 'good' });
      sinks.bad.mood = mood;
      for (let time = 0; time < 2; time++) {
        const error = asError(await bad.call('read', { path: 'lab/notes.md' }));
        expect(error).toMatchObject({
          code: 'E_STORAGE_FATAL',
          subject: 'lab/notes.md: the audit sink did not take the line',
          retry: 'unknown',
        });
        expect(JSON.stringify(error)).not.toContain('canary');
        asValue(await good.call('read', { path: 'lab/notes.md' }));
      }
      sinks.bad.mood = 'takes';
      sinks.bad.release();
      await new Promise(setImmediate);
      asValue(await bad.call('read', { path: 'lab/notes.md' }));
      expect(await verified(sinks.good.text)).toMatchObject({ verdict: 'intact', lines: 3, lost: 0 });
      expect(await verified(sinks.bad.text)).toMatchObject({ verdict: 'intact' });
    },
  );

  it('also withholds a refusal: what may be read is an answer', async () => {
    Object.assign(sinks, { bad: new MemorySink() });
    sinks.bad.mood = 'fails';
    const city = await entered({ sink }, { tenant: 'bad' });
    for (const [tool, args] of [
      ['read', { path: 'vault/s.txt' }],
      ['nope', {}],
      ['read', {}],
    ] as const) {
      expect(asError(await city.call(tool, args)).code).toBe('E_STORAGE_FATAL');
    }
  });

  it('lets answers go where the embedder chose so, and the log says how many', async () => {
    Object.assign(sinks, { bad: new MemorySink() });
    sinks.bad.mood = 'fails';
    const city = await entered({ sink, onFailure: 'open' }, { tenant: 'bad' });
    for (let time = 0; time < 3; time++) asValue(await city.call('read', { path: 'lab/notes.md' }));
    sinks.bad.mood = 'takes';
    asValue(await city.call('read', { path: 'lab/notes.md' }));
    expect(records(sinks.bad.text).find(({ kind }) => kind === 'resumed')).toMatchObject({
      lost: 3,
      answers: 'released',
    });
  });

  it.each<[string, ReceiptOptions['sink']]>([
    [
      'throws',
      () => {
        throw new Error('canary');
      },
    ],
    ['rejects', () => Promise.reject(new Error('canary'))],
    ['never answers', () => new Promise(() => {})],
    // biome-ignore lint/suspicious/noExplicitAny: a JavaScript embedder may give anything
    ['gives none', () => undefined as any],
  ])('is also one that cannot be had: the embedder’s function %s', async (_, given) => {
    const city = await entered({ sink: given, timeMs: 100 }, { tenant: 'x' });
    const error = asError(await city.call('read', { path: 'lab/notes.md' }));
    expect(error.code).toBe('E_STORAGE_FATAL');
    expect(JSON.stringify(error)).not.toContain('canary');
  });

  it('is asked for again at the next call', async () => {
    let asked = 0;
    const later = () => {
      if (++asked === 1) throw new Error('not yet');
      return new MemorySink();
    };
    const city = await entered({ sink: later }, { tenant: 'x' });
    asError(await city.call('read', { path: 'lab/notes.md' }));
    asValue(await city.call('read', { path: 'lab/notes.md' }));
    asValue(await city.call('read', { path: 'lab/notes.md' }));
    expect(asked).toBe(2);
  });

  it('is not known to a tenant by another’s: each has its own log, and an unnamed one is null', async () => {
    const own = new Map<string | null, MemorySink>();
    const perTenant = (tenant: string | null) => {
      const made = own.get(tenant) ?? new MemorySink();
      own.set(tenant, made);
      return made;
    };
    for (const options of [{ tenant: 'a' }, { tenant: 'b' }, { tenant: 'a' }, {}]) {
      await (await entered({ sink: perTenant }, options)).call('search', { text: 'x' });
    }
    expect([...own].map(([tenant, { text }]) => [tenant, calls(text).map((line) => line['tenant'])])).toEqual([
      ['a', ['a', 'a']],
      ['b', ['b']],
      [null, [null]],
    ]);
  });
});

describe('a listener of trouble that throws itself', () => {
  it('neither ends the process nor stops the log', async () => {
    const sink = new MemorySink();
    let fails = true;
    const append = async (lines: string) => {
      if (fails) throw new Error('full');
      await sink.append(lines);
    };
    const onTrouble = () => {
      throw new Error('a bug of the embedder');
    };
    const city = await entered({ sink: { append }, onTrouble });
    const withheld = asError(await city.call('read', { path: 'lab/notes.md' }));
    expect(withheld.subject).toContain('the audit sink did not take the line');
    fails = false;
    expect((await city.call('read', { path: 'lab/notes.md' })).ok).toBe(true);
    expect(calls(sink.text)).toHaveLength(1);
  });
});

describe('leaving a city', () => {
  it('waits for the receipts under way', async () => {
    const sink = new MemorySink();
    const city = await entered({ sink });
    const call = city.call('read', { path: 'lab/notes.md' });
    await city.leave();
    expect(calls(sink.text)).toHaveLength(1);
    asValue(await call);
  });
});

describe('the options', () => {
  it.each<[string, Partial<ReceiptOptions>]>([
    ['a key of another length', { key: new Uint8Array(RECEIPT_KEY_BYTES - 1) }],
    ['no time', { timeMs: 0 }],
  ])('with %s are a bug of the embedder, and thrown', async (_, wrong) => {
    await expect(openRunner({ receipts: { sink: new MemorySink(), ...wrong } })).rejects.toThrow(RangeError);
  });
});

describe('spans', () => {
  interface Seen {
    name: string;
    attributes: Record<string, unknown>;
    status?: unknown;
    ended: number;
  }
  /** `@opentelemetry/api`, as far as it is used. */
  function played(): { api: OpenTelemetry; spans: Seen[] } {
    const spans: Seen[] = [];
    const startSpan = (name: string, { attributes }: { attributes: Record<string, unknown> }) => {
      const seen: Seen = { name, attributes: { ...attributes }, ended: 0 };
      spans.push(seen);
      return {
        setAttribute: (key: string, value: unknown) => {
          seen.attributes[key] = value;
        },
        setStatus: (status: unknown) => {
          seen.status = status;
        },
        end: () => {
          seen.ended++;
        },
      };
    };
    return { api: { trace: { getTracer: () => ({ startSpan }) } }, spans };
  }

  it('are one a call, named by the tool, with the status of its outcome, and without a word of the caller', async () => {
    const { api, spans } = played();
    const city = await entered({ sink: new MemorySink() }, {}, api);
    await city.call('search', { text: 'canary' });
    await city.call('read', { path: 'vault/canary' });
    await city.call('canary', {});
    expect(spans.map(({ name, status, ended }) => [name, status, ended])).toEqual([
      ['execute_tool search', undefined, 1],
      ['execute_tool read', { code: 2, message: 'E_GATE_DENIED' }, 1],
      ['execute_tool', { code: 2, message: 'E_TOOL_UNKNOWN' }, 1],
    ]);
    expect(spans[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'search',
    });
    expect(spans[1]?.attributes).toMatchObject({ 'error.type': 'E_GATE_DENIED' });
    expect(JSON.stringify(spans)).not.toContain('canary');
  });

  it('that fail change no answer', async () => {
    const broken = {
      trace: {
        getTracer: () => {
          throw new Error('canary');
        },
      },
    };
    const city = await entered({ sink: new MemorySink() }, {}, broken);
    asValue(await city.call('search', { text: 'needle' }));
  });

  it('say that an answer was withheld', async () => {
    const { api, spans } = played();
    const sink = new MemorySink();
    sink.mood = 'fails';
    await (await entered({ sink }, {}, api)).call('search', { text: 'needle' });
    expect(spans[0]).toMatchObject({ status: { code: 2, message: 'E_STORAGE_FATAL' }, ended: 1 });
  });
});
