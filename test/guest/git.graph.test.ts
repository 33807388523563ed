/**
 * The commit-graph: used as git uses it, and believed only as far as nothing wrong can come of it. Damaged, of another
 * kind, in part or not there it changes no answer; made to lie, it may hide and misorder, and never makes an entry up.
 */

import fs from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CHAIN, CHAIN_DIR, Graph, layersOf, SINGLE } from '../support/graphs.js';
import { commitOf } from '../support/packs.js';
import { Dice, FORMATS, GRAPHS, makeRepository, once, Repository, STORAGES, WORDS } from '../support/repositories.js';
import { type FoundOrFault, linesOf, Reader, reading } from './git.js';

const SETTINGS = GRAPHS.flatMap((graph) => FORMATS.map((format) => ({ graph, format })));

describe.each(SETTINGS)('with the graph that git wrote, $graph, $format', ({ graph, format }) => {
  test.each([0, 1, 2])('the same hits in the same order as git has with it, seed %i', (seed) => {
    const storage = STORAGES[(seed + GRAPHS.indexOf(graph)) % STORAGES.length] ?? 'packed';
    const repository = makeRepository({ seed, storage, format, graph });
    try {
      reading(repository, (reader) => {
        for (const word of WORDS) {
          const found = reader.history(word);
          if ('fault' in found) throw new Error(`${word}: ${found.fault}`);
          expect([word, linesOf(found.entries)]).toEqual([word, linesOf(once(repository.log(word)))]);
          expect(found.ending).toBe('complete');
        }
      });
    } finally {
      repository.end();
    }
  });
});

// ---- what is not believed ----

const WORD = 'sluice';
const ask = (repository: Repository): FoundOrFault => reading(repository, (reader) => reader.history(WORD));
/** What is told, without the pages it took. */
const answerOf = (found: FoundOrFault): unknown => ('fault' in found ? found : { ...found, pages: 0 });

let repository: Repository;
let right: unknown;
/** Trees of commits replaced by nothing that exists: whoever uses this graph comes to a fault. */
function loud(graph: Graph): Graph {
  for (let position = 0; position < graph.count; position++) graph.data(position).fill(0x5a, 0, graph.oidBytes);
  return graph.seal();
}

describe.each(FORMATS)('a graph that does not hold is as if it were not there, %s:', (format) => {
  let sound: Graph;
  beforeAll(() => {
    repository = makeRepository({ seed: 31, format, graph: 'whole', commits: 60 });
    sound = Graph.of(repository);
    fs.rmSync(path.join(repository.dir, SINGLE));
    right = answerOf(ask(repository));
  });
  beforeEach(() => sound.write(repository));
  afterAll(() => repository.end());

  test('(as long as it holds, it is used)', () => {
    expect(answerOf(ask(repository))).toEqual(right);
    loud(Graph.of(repository)).write(repository);
    expect(ask(repository)).toEqual({ fault: 'corrupt' });
  });

  const word = (bytes: Buffer, at: number, value: number): void => void bytes.writeUInt32BE(value >>> 0, at);
  /** One chunk more, of no known kind, as the first of the table. */
  const prepend = (graph: Graph, offset: bigint): void => {
    const row = Buffer.alloc(12, 'XXXX');
    row.writeBigUInt64BE(offset, 4);
    const end = graph.tableEnd;
    for (let at = 8; at <= end; at += 12) {
      graph.bytes.writeBigUInt64BE(graph.bytes.readBigUInt64BE(at + 4) + 12n, at + 4);
    }
    graph.bytes = Buffer.concat([graph.bytes.subarray(0, 8), row, graph.bytes.subarray(8)]);
    graph.bytes.writeUInt8((graph.bytes[6] ?? 0) + 1, 6);
  };
  const rename = (graph: Graph, from: string, to: string): void =>
    void graph.bytes.write(to, graph.entryOf(from), 'latin1');
  test.each<[why: string, change: (graph: Graph) => void]>([
    ['another signature', (graph) => word(graph.bytes, 0, 0x43475049)],
    ['another version', (graph) => graph.bytes.writeUInt8(2, 4)],
    ['the other hash', (graph) => graph.bytes.writeUInt8(format === 'sha1' ? 2 : 1, 5)],
    ['an unknown hash', (graph) => graph.bytes.writeUInt8(3, 5)],
    ['layers below it', (graph) => graph.bytes.writeUInt8(1, 7)],
    ['no chunks', (graph) => graph.bytes.writeUInt8(0, 6)],
    ['a chunk fewer', (graph) => graph.bytes.writeUInt8((graph.bytes[6] ?? 0) - 1, 6)],
    ['a chunk more', (graph) => graph.bytes.writeUInt8((graph.bytes[6] ?? 0) + 1, 6)],
    ['255 chunks', (graph) => graph.bytes.writeUInt8(255, 6)],
    ['a table that ends early', (graph) => word(graph.bytes, graph.entryOf('CDAT'), 0)],
    ['a table that does not end', (graph) => word(graph.bytes, graph.tableEnd, 0x4f494446)],
    ['no fan-out', (graph) => rename(graph, 'OIDF', 'XXXX')],
    ['no names', (graph) => rename(graph, 'OIDL', 'XXXX')],
    ['no data', (graph) => rename(graph, 'CDAT', 'XXXX')],
    ['a chunk twice', (graph) => rename(graph, 'GDA2', 'CDAT')],
    ['a chunk twice, of a size that fits', (graph) => rename(graph, 'GDA2', 'EDGE')],
    ['a chunk in front that begins behind the next one', (graph) => prepend(graph, 1n << 20n)],
    ['a chunk in front that begins in the table', (graph) => prepend(graph, 8n)],
    ['a chunk inside the table', (graph) => graph.bytes.writeBigUInt64BE(8n, graph.entryOf('OIDF') + 4)],
    ['chunks out of order', (graph) => graph.bytes.writeBigUInt64BE(100n, graph.entryOf('OIDL') + 4)],
    ['a chunk beyond the file', (graph) => graph.bytes.writeBigUInt64BE(1n << 40n, graph.entryOf('CDAT') + 4)],
    ['a chunk at 2^64 - 1', (graph) => graph.bytes.writeBigUInt64BE((1n << 64n) - 1n, graph.entryOf('CDAT') + 4)],
    ['an end beyond the file', (graph) => graph.bytes.writeBigUInt64BE(1n << 29n, graph.tableEnd + 4)],
    [
      'an end before its hash',
      (graph) => graph.bytes.writeBigUInt64BE(BigInt(graph.bytes.length - 40), graph.tableEnd + 4),
    ],
    ['fewer names than data', (graph) => word(graph.chunk('OIDF'), 4 * 255, graph.count - 1)],
    ['more names than data', (graph) => word(graph.chunk('OIDF'), 4 * 255, graph.count + 1)],
    ['2^32 - 1 names', (graph) => word(graph.chunk('OIDF'), 4 * 255, 0xffff_ffff)],
    ['a fan-out that falls', (graph) => word(graph.chunk('OIDF'), 4 * 100, graph.count + 1)],
  ])('%s', (_, change) => {
    const graph = loud(Graph.of(repository));
    change(graph);
    graph.seal().write(repository);
    expect(answerOf(ask(repository))).toEqual(right);
  });

  test.each<[why: string, change: (bytes: Buffer) => Buffer]>([
    ['empty', () => Buffer.alloc(0)],
    ['its head alone', (bytes) => bytes.subarray(0, 8)],
    ['cut in its table', (bytes) => bytes.subarray(0, 50)],
    ['cut in its fan-out', (bytes) => bytes.subarray(0, 500)],
    ['a byte short', (bytes) => bytes.subarray(0, -1)],
    ['a byte longer', (bytes) => Buffer.concat([bytes, Buffer.of(0)])],
    ['a hash of zeros', (bytes) => Buffer.concat([bytes.subarray(0, -32), Buffer.alloc(32)])],
    ['noise', (bytes) => Buffer.alloc(bytes.length, 0xa5)],
  ])('%s', (_, change) => {
    const graph = loud(Graph.of(repository));
    graph.bytes = Buffer.from(change(graph.bytes));
    graph.write(repository);
    expect(answerOf(ask(repository))).toEqual(right);
  });

  test('a directory, or a link to a graph, in its place', () => {
    loud(Graph.of(repository)).write(repository, 'elsewhere');
    const at = path.join(repository.dir, SINGLE);
    fs.rmSync(at);
    fs.symlinkSync(path.join(repository.dir, 'elsewhere'), at);
    expect(answerOf(ask(repository))).toEqual(right);
    fs.rmSync(at);
    fs.mkdirSync(at);
    expect(answerOf(ask(repository))).toEqual(right);
  });

  test('one of another repository names no commit of this one', () => {
    const other = makeRepository({ seed: 32, format, graph: 'whole' });
    loud(Graph.of(other)).write(repository);
    other.end();
    expect(answerOf(ask(repository))).toEqual(right);
  });
});

describe('a graph whose parents lead nowhere is given up where that is met, and the commits are read from there on:', () => {
  const [NO_PARENT, BIT] = [0x7000_0000, 0x8000_0000];
  test.each<[why: string, first: number | undefined, second: number | undefined]>([
    ['a parent past the last commit', 1_000_000, NO_PARENT],
    ['a parent at 2^32 - 1', 0xffff_ffff, NO_PARENT],
    ['a second parent past the last commit', undefined, 1_000_000],
    ['a list past the last edge', undefined, (BIT | 0x00ff_ffff) >>> 0],
  ])('%s', (_, first, second) => {
    const place = makeRepository({ seed: 33, graph: 'whole', commits: 80 });
    try {
      const sound = Graph.of(place);
      const right = answerOf(ask(place));
      let changed = 0;
      for (let position = 0; position < sound.count; position += 3) {
        const graph = Graph.of(place);
        const data = graph.data(position);
        if (data.readUInt32BE(20) === NO_PARENT) continue;
        if (first !== undefined) data.writeUInt32BE(first, 20);
        if (second !== undefined) data.writeUInt32BE(second, 24);
        graph.seal().write(place);
        expect([position, answerOf(ask(place))]).toEqual([position, right]);
        sound.write(place);
        changed++;
      }
      expect(changed).toBeGreaterThan(10);
    } finally {
      place.end();
    }
  });
});

describe('a commit of more than two parents', () => {
  test.each([3, 4, 60])('of %i has them all from the graph', (count) => {
    const place = new Repository();
    try {
      const blob = place.say(['hash-object', '-w', '--stdin'], 'a needle');
      const tree = place.say(
        ['mktree'],
        `040000 tree ${place.say(['mktree'], `100644 blob ${blob}\t1.md\n`)}\tmessages\n`,
      );
      const empty = place.say(['mktree'], '');
      const put = (text: Buffer) => place.say(['hash-object', '-t', 'commit', '-w', '--stdin'], text);
      const parents = Array.from({ length: count }, (_, index) => put(commitOf(empty, [], 100 + index)));
      parents.push(put(commitOf(tree, [], 50)));
      place.git(['update-ref', 'refs/heads/agents/a', put(commitOf(tree, parents, 1_000))]);
      place.writeGraph('whole');
      const found = reading(place, (reader) => reader.history('needle'));
      expect(found).toMatchObject({ commits: count + 2, ending: 'complete' });
      expect('fault' in found ? found : linesOf(found.entries)).toEqual(linesOf(place.log('needle')));
    } finally {
      place.end();
    }
  });

  test('of more than are taken from the graph is read itself, and so is all behind it', () => {
    const place = new Repository();
    try {
      const count = 4_200;
      const roots = Array.from({ length: count }, (_, index) => {
        const mark = index + 1;
        return `commit refs/heads/r\nmark :${mark}\ncommitter A <a@x> ${mark} +0000\ndata 0\n${index > 0 ? 'reset refs/heads/r\n' : ''}\n`;
      });
      const merge = Array.from({ length: count - 1 }, (_, index) => `merge :${index + 2}\n`).join('');
      const top = `commit refs/heads/agents/a\ncommitter A <a@x> 100000 +0000\ndata 0\nfrom :1\n${merge}\n`;
      place.import(Buffer.from(`${roots.join('')}${top}`), 'pack');
      const without = reading(place, (reader) => reader.history('needle'));
      expect(without).toMatchObject({ commits: count + 1, ending: 'complete' });
      place.writeGraph('whole');
      expect(answerOf(reading(place, (reader) => reader.history('needle')))).toEqual(answerOf(without));
    } finally {
      place.end();
    }
  });
});

test.each(FORMATS)(
  'a byte spoiled anywhere in a graph or in a chain changes no answer, %s',
  { timeout: 60_000 },
  (format) => {
    for (const graph of ['whole-paths', 'chain-paths'] as const) {
      const place = makeRepository({ seed: 34, format, graph, storage: 'packs', commits: 30 });
      try {
        const files = graph.startsWith('whole') ? [SINGLE] : [CHAIN, ...layersOf(place)];
        const right = answerOf(ask(place));
        for (let seed = 0; seed < 60; seed++) {
          const dice = new Dice(seed);
          const file = path.join(place.dir, dice.pick(files));
          const sound = fs.readFileSync(file);
          const spoiled = Buffer.from(sound);
          const at = dice.below(spoiled.length);
          spoiled[at] = dice.may(0.5) ? (spoiled[at] ?? 0) ^ (1 << dice.below(8)) : dice.below(256);
          fs.rmSync(file);
          fs.writeFileSync(file, dice.may(0.1) ? spoiled.subarray(0, at) : spoiled);
          expect([seed, file, at, answerOf(ask(place))]).toEqual([seed, file, at, right]);
          fs.writeFileSync(file, sound);
        }
      } finally {
        place.end();
      }
    }
  },
);

test.each(FORMATS)(
  'a graph that lies makes nothing up: what is told is true of the commits, %s',
  { timeout: 120_000 },
  (format) => {
    const place = makeRepository({ seed: 35, format, graph: 'whole-paths', commits: 50 });
    try {
      const sound = Graph.of(place);
      // Which branch leads to a commit is the graph's word.
      const all = new Set(linesOf(place.log(WORD, '*')));
      const outcomes = { same: 0, other: 0, faults: 0 };
      const right = answerOf(ask(place));
      for (let seed = 0; seed < 250; seed++) {
        const dice = new Dice(seed);
        const graph = Graph.of(place);
        for (let changes = 1 + dice.below(4); changes > 0; changes--) lie(graph, dice);
        graph.seal().write(place);
        const found = ask(place);
        if ('fault' in found) outcomes.faults++;
        else {
          for (const line of linesOf(found.entries)) expect([seed, line, all.has(line)]).toEqual([seed, line, true]);
          if (JSON.stringify(answerOf(found)) === JSON.stringify(right)) outcomes.same++;
          else outcomes.other++;
        }
        sound.write(place);
      }
      expect(Math.min(outcomes.same, outcomes.other, outcomes.faults)).toBeGreaterThan(0);
    } finally {
      place.end();
    }
  },
);

/** One change that says something of commits: another one's data, parents, tree or date, or any byte. */
function lie(graph: Graph, dice: Dice): void {
  const { oidBytes } = graph;
  const data = graph.data(dice.below(graph.count));
  const other = graph.data(dice.below(graph.count));
  switch (dice.below(6)) {
    case 0:
      other.copy(data);
      return;
    case 1:
      other.copy(data, 0, 0, oidBytes);
      return;
    case 2:
      data.writeUInt32BE(dice.below(graph.count), oidBytes + 4 * dice.below(2));
      return;
    case 3:
      data.writeUInt32BE(0x7000_0000, oidBytes + 4 * dice.below(2));
      return;
    case 4:
      data.writeUInt32BE(dice.below(2 ** 32), oidBytes + 12);
      return;
    default:
      graph.bytes[dice.below(graph.bytes.length)] = dice.below(256);
  }
}

// ---- what is missing ----

describe('a commit that is in the graph and not in the repository', () => {
  test('is passed as git passes it, and no entry of it is told', () => {
    const place = makeRepository({ seed: 36, graph: 'whole', storage: 'loose', commits: 60 });
    try {
      const tips = new Set(place.say(['for-each-ref', '--format=%(objectname)']).split('\n'));
      const hits = place.log(WORD);
      const told = new Set(hits.map(({ commit }) => commit));
      const parents = new Set(
        place
          .say(['log', '--all', '--format=%H %P'])
          .split('\n')
          .flatMap((line) => {
            const [commit, ...above] = line.split(' ');
            return told.has(commit ?? '') ? above : [];
          }),
      );
      const reachable = place.say(['rev-list', '--branches=agents/*']).split('\n');
      const quiet = reachable.find((commit) => !told.has(commit) && !tips.has(commit) && !parents.has(commit)) ?? '';
      const loudOne = hits.find(({ commit }) => !tips.has(commit))?.commit ?? '';
      const away = (commit: string): string => path.join(place.dir, 'objects', commit.slice(0, 2), commit.slice(2));
      const right = answerOf(ask(place));
      fs.rmSync(away(quiet));
      expect(answerOf(ask(place))).toEqual(right);
      expect(linesOf(place.log(WORD))).toEqual(linesOf(hits));
      fs.rmSync(away(loudOne));
      expect(ask(place)).toEqual({ fault: 'missing' });
    } finally {
      place.end();
    }
  });
});

describe('a chain', () => {
  beforeEach(() => {
    repository = makeRepository({ seed: 37, graph: 'chain', storage: 'packs', commits: 60 });
    right = answerOf(ask(repository));
  });
  afterEach(() => repository.end());
  const chainOf = (lines: readonly string[]): void =>
    fs.writeFileSync(path.join(repository.dir, CHAIN), lines.map((line) => `${line}\n`).join(''));
  const hashesOf = (): string[] => layersOf(repository).map((file) => file.slice(-46, -6));
  /** Makes a layer loud, under the name that its hash then gives it. */
  const louden = (number: number, change: (graph: Graph) => void = () => {}): string => {
    const hashes = hashesOf();
    const graph = loud(Graph.of(repository, `${CHAIN_DIR}/graph-${hashes[number]}.graph`));
    change(graph);
    graph.seal();
    const hash = graph.bytes.toString('hex', graph.bytes.length - 20);
    graph.write(repository, `${CHAIN_DIR}/graph-${hash}.graph`);
    chainOf(hashes.map((before, index) => (index === number ? hash : before)));
    return hash;
  };

  test('has layers, and all are used', () => {
    expect(hashesOf()).toHaveLength(4);
    louden(3);
    expect(ask(repository)).toEqual({ fault: 'corrupt' });
  });

  test('is used up to the first layer that does not hold', () => {
    const top = louden(3);
    for (const number of [0, 1, 2]) {
      const [file, aside] = [
        path.join(repository.dir, layersOf(repository)[number] ?? ''),
        path.join(repository.dir, 'aside'),
      ];
      fs.renameSync(file, aside);
      expect([number, answerOf(ask(repository))]).toEqual([number, right]);
      fs.renameSync(aside, file);
    }
    expect(ask(repository)).toEqual({ fault: 'corrupt' });
    fs.rmSync(path.join(repository.dir, CHAIN_DIR, `graph-${top}.graph`));
    expect(answerOf(ask(repository))).toEqual(right);
  });

  test('of which a lower layer is another one than the upper ones were written on is used up to there', () => {
    louden(3);
    const [first, second, ...rest] = hashesOf();
    chainOf([second ?? '', first ?? '', ...rest]);
    expect(answerOf(ask(repository))).toEqual(right);
    chainOf([first ?? '', ...rest]);
    expect(answerOf(ask(repository))).toEqual(right);
  });

  test('is used below a layer that names other layers than it stands on', () => {
    louden(3, (graph) => graph.chunk('BASE').fill(0x5a, 20, 40));
    expect(answerOf(ask(repository))).toEqual(right);
  });

  test('is used below a layer whose file is not the one of its name', () => {
    const top = louden(3);
    const other = 'a'.repeat(40);
    const at = path.join(repository.dir, CHAIN_DIR);
    fs.renameSync(path.join(at, `graph-${top}.graph`), path.join(at, `graph-${other}.graph`));
    chainOf([...hashesOf().slice(0, 3), other]);
    expect(answerOf(ask(repository))).toEqual(right);
  });

  test.each<[why: string, lines: (hashes: readonly string[]) => readonly string[]]>([
    ['is empty', () => []],
    ['names no hash', (hashes) => ['x'.repeat(40), ...hashes]],
    ['names a path', (hashes) => [`../../${'0'.repeat(34)}`, ...hashes]],
    ['names a layer twice', ([first = '', ...rest]) => [first, first, ...rest]],
    ['has a line too long', ([first = '', ...rest]) => [`${first}0`, ...rest]],
  ])('that %s is used up to there', (_, lines) => {
    louden(3);
    chainOf(lines(hashesOf()));
    expect(answerOf(ask(repository))).toEqual(right);
  });

  test('is not looked at where there is one file that holds', () => {
    louden(3);
    repository.git(['commit-graph', 'write', '--reachable', '--no-progress']);
    expect(answerOf(ask(repository))).toEqual(right);
  });

  test('of more layers than are used is used in part', () => {
    const place = new Repository();
    try {
      const empty = place.say(['mktree'], '');
      let parent: string[] = [];
      for (let number = 0; number < 40; number++) {
        const commit = place.say(
          ['hash-object', '-t', 'commit', '-w', '--stdin'],
          commitOf(empty, parent, 100 + number),
        );
        place.git(['update-ref', 'refs/heads/agents/a', commit]);
        place.writeGraph('chain');
        parent = [commit];
      }
      expect(layersOf(place)).toHaveLength(40);
      expect(reading(place, (reader) => reader.history('needle'))).toMatchObject({ commits: 40, ending: 'complete' });
    } finally {
      place.end();
    }
  });
});

test('a graph costs pages, and a budget that is spent while it is checked ends in nothing found', () => {
  const place = makeRepository({ seed: 38, graph: 'whole', commits: 60 });
  try {
    reading(place, (reader) => {
      const many = reader.history(WORD, { pageBytes: 1 });
      const one = reader.history(WORD);
      expect([answerOf(many), 'fault' in many || many.pages > 2]).toEqual([answerOf(one), true]);
    });
    const reader = new Reader(place, 'fixed', { bytes: 2_000 });
    expect(reader.history(WORD)).toMatchObject({ entries: [], ending: 'budget' });
    reader.end();
  } finally {
    place.end();
  }
});

test('a trail is led to a commit by the graph too', () => {
  const place = makeRepository({ seed: 39, graph: 'whole', commits: 60 });
  try {
    const [hit] = place.log(WORD).slice(-1);
    if (hit === undefined) throw new Error('no hit');
    reading(place, (reader) => {
      const led = reader.trail(hit.commit, hit.path, { branches: ['agents/*'] });
      expect(led).toMatchObject({ ending: 'whole' });
      expect(reader.trail(hit.commit, hit.path, { branches: ['nobody/*'] })).toMatchObject({ ending: 'unreachable' });
    });
  } finally {
    place.end();
  }
});

// ---- filters of changed paths ----

describe('a filter of changed paths', () => {
  let sound: Graph;
  beforeAll(() => {
    repository = makeRepository({ seed: 40, graph: 'whole-paths', commits: 60 });
    sound = Graph.of(repository);
    fs.rmSync(path.join(repository.dir, SINGLE));
    right = answerOf(ask(repository));
  });
  beforeEach(() => sound.write(repository));
  afterAll(() => repository.end());
  const HEAD = 12;
  const copy = (): Graph => new Graph(Buffer.from(sound.bytes), sound.oidBytes);
  /** Filters that hold nothing: whoever asks them finds nothing. */
  const silent = (): Graph => {
    const graph = copy();
    graph.chunk('BDAT').fill(0, HEAD);
    return graph;
  };
  const told = (change: (graph: Graph) => void, from: () => Graph = silent): unknown => {
    const graph = from();
    change(graph);
    graph.seal().write(repository);
    return answerOf(ask(repository));
  };
  const word = (bytes: Buffer, at: number, value: number): void => void bytes.writeUInt32BE(value >>> 0, at);

  test('is asked: one that holds nothing hides everything, one that holds everything nothing', () => {
    expect(told(() => {})).toMatchObject({ entries: [], ending: 'complete' });
    expect(told((graph) => graph.chunk('BDAT').fill(0xff, HEAD))).toEqual(right);
  });

  test.each<[why: string, change: (graph: Graph) => void]>([
    ['has no bytes', (graph) => graph.chunk('BIDX').fill(0)],
    [
      'ends before it begins',
      (graph) => graph.chunk('BIDX').set(Buffer.from(graph.chunk('BIDX').map((_, at) => (at % 8 < 4 ? 0xff : 0)))),
    ],
    ['ends past the last one', (graph) => graph.chunk('BIDX').fill(0x7f)],
    ['is of an unknown version', (graph) => word(graph.chunk('BDAT'), 0, 3)],
    ['is of no version', (graph) => word(graph.chunk('BDAT'), 0, 0)],
    ['sets no bits', (graph) => word(graph.chunk('BDAT'), 4, 0)],
    ['sets 2^32 - 1 bits', (graph) => word(graph.chunk('BDAT'), 4, 0xffff_ffff)],
    ['is in no index', (graph) => void graph.bytes.write('XXXX', graph.entryOf('BIDX'), 'latin1')],
    ['is nowhere', (graph) => void graph.bytes.write('XXXX', graph.entryOf('BDAT'), 'latin1')],
    [
      'has an index of another size',
      (graph) =>
        graph.bytes.writeBigUInt64BE(
          graph.bytes.readBigUInt64BE(graph.entryOf('BDAT') + 4) + 4n,
          graph.entryOf('BDAT') + 4,
        ),
    ],
  ])('that %s is not asked', (_, change) => {
    expect(told(change)).toEqual(right);
  });

  test('of the second version is asked too: names of ASCII are hashed alike', () => {
    const second = (graph: Graph): void => word(graph.chunk('BDAT'), 0, 2);
    expect(told(second)).toMatchObject({ entries: [] });
    expect(told(second, copy)).toEqual(right);
  });

  test('is not asked for a directory whose name is not ASCII, which git hashed in two ways', () => {
    const place = new Repository();
    try {
      const say = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
      const file = (name: string): string => `M 100644 inline größe/${name}\n${say('a needle')}`;
      const commits = ['1.md', '2.md'].map(
        (name, index) => `commit refs/heads/agents/a\ncommitter A <a@x> ${index} +0000\n${say('')}${file(name)}`,
      );
      place.import(Buffer.from(commits.join('')), 'pack');
      place.writeGraph('whole-paths');
      const found = reading(place, (reader) => reader.history('needle', { directories: ['größe'] }));
      expect('fault' in found ? found : found.entries).toHaveLength(2);
    } finally {
      place.end();
    }
  });

  test('saves the trees of commits that touched nothing of it', () => {
    const place = new Repository();
    try {
      const say = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
      const commits = Array.from({ length: 300 }, (_, index) => {
        const file = index % 100 === 0 ? `messages/${index}.md` : `src/${index}`;
        return `commit refs/heads/agents/a\ncommitter A <a@x> ${index} +0000\n${say('')}M 100644 inline ${file}\n${say(`needle ${index}`)}`;
      });
      place.import(Buffer.from(commits.join('')), 'pack');
      // A page ends with each commit, and with each tree that is looked at.
      const told = () => reading(place, (reader) => reader.history('needle', { pageWork: 1 }));
      const pagesOf = (found: FoundOrFault): number => ('fault' in found ? 0 : found.pages);
      place.writeGraph('whole');
      const graphed = told();
      place.writeGraph('whole-paths');
      const filtered = told();
      expect(answerOf(filtered)).toEqual(answerOf(graphed));
      expect(pagesOf(graphed)).toBeGreaterThan(600);
      expect(pagesOf(filtered)).toBeLessThan(350);
    } finally {
      place.end();
    }
  });
});
