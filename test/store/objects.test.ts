/** The chain from a commit's name to a file's bytes: what it proves, and that nothing bent passes it. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Chain, entryOf, type Trailed, treeOf } from '../../dist/store/objects.js';
import type { TrailPage } from '../../dist/wasi/guest.js';
import { directory, Objects, trailOf } from '../support/objects.js';

const NOTHING = new Uint8Array(0);
const text = (of: string): Uint8Array => Buffer.from(of);

function made(format: 'sha1' | 'sha256' = 'sha1') {
  const objects = new Objects(format);
  const files = directory({
    'lab/notes.md': 'as it was\n',
    'lab/empty': '',
    'lab/long': 'x'.repeat(5_000),
    'lab/link': { mode: '120000', oid: objects.put('blob', 'notes.md') },
    'lab/run': { mode: '100755', oid: objects.put('blob', '#!\n') },
    'lab/old': { mode: '100664', oid: objects.put('blob', 'group\n') },
    'lab/module': { mode: '160000', oid: '1'.repeat(2 * objects.oidBytes) },
    'lab/room/deep.md': 'deep\n',
  });
  return { objects, commit: objects.commit(files) };
}

/** Takes the pages of a path; `bend` changes them first. What comes out, and the bytes if they count. */
async function followed(
  { objects, commit }: ReturnType<typeof made>,
  path: string,
  bend: (pages: TrailPage[]) => TrailPage[] = (pages) => pages,
  blobMaxBytes = 1 << 20,
): Promise<{ readonly end: Trailed | 'fault' | undefined; readonly bytes: string }> {
  const pieces: Uint8Array[] = [];
  const asked = { commit, path: text(path), oidBytes: objects.oidBytes, blobMaxBytes };
  const chain = await Chain.of(asked, (piece) => pieces.push(Uint8Array.from(piece)));
  let end: Trailed | 'fault' | undefined;
  try {
    for (const page of bend(trailOf(objects, { ...asked, branches: [], blobMax: 0, pageWork: 1, pageBytes: 1 }))) {
      end = chain.take(page);
      if (end !== undefined) break;
    }
  } catch (thrown) {
    expect(thrown).toHaveProperty('name', 'GuestFault');
    end = 'fault';
  }
  return { end, bytes: typeof end === 'object' && end.kind === 'blob' ? Buffer.concat(pieces).toString() : '' };
}

describe.each(['sha1', 'sha256'] as const)('in a %s repository', (format) => {
  it.each<[path: string, bytes: string]>([
    ['lab/notes.md', 'as it was\n'],
    ['lab/empty', ''],
    ['lab/long', 'x'.repeat(5_000)],
    ['lab/run', '#!\n'],
    ['lab/old', 'group\n'],
    ['lab/room/deep.md', 'deep\n'],
  ])('%s comes whole, and proved', async (path, bytes) => {
    const { end, bytes: given } = await followed(made(format), path);
    expect(end).toMatchObject({ kind: 'blob', sizeBytes: bytes.length, isLink: false });
    expect(given).toBe(bytes);
  });

  it('a link is the blob of its text, and said to be one', async () => {
    expect(await followed(made(format), 'lab/link')).toMatchObject({
      end: { kind: 'blob', isLink: true },
      bytes: 'notes.md',
    });
  });

  it.each<[path: string, kind: string]>([
    ['lab/missing', 'absent'],
    ['missing/notes.md', 'absent'],
    ['lab/Notes.md', 'absent'],
    ['lab/room/deep.md ', 'absent'],
    ['lab', 'not-file'],
    ['lab/room', 'not-file'],
    ['lab/notes.md/below', 'not-file'],
    ['lab/link/below', 'not-file'],
    ['lab/module/below', 'not-file'],
  ])('%s is proved to be %s', async (path, kind) => {
    expect((await followed(made(format), path)).end).toEqual({ kind });
  });

  it('another repository is proved to be one, by the name of its commit', async () => {
    const repository = made(format);
    const module = '1'.repeat(2 * repository.objects.oidBytes);
    expect((await followed(repository, 'lab/module')).end).toEqual({ kind: 'not-file', module });
  });

  it('any byte that was changed on the way is caught, wherever it stands', async () => {
    const repository = made(format);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('lab/room/deep.md', 'lab/long', 'lab/missing', 'lab'),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async (path, at, change) => {
          const flip = (bytes: Uint8Array, index: number): Uint8Array =>
            bytes.map((byte, here) => (here === index ? byte ^ change : byte));
          const bend = (pages: TrailPage[]): TrailPage[] => {
            let left =
              at % pages.reduce((sum, page) => sum + page.commit.length + sizeOf(page.trees) + page.piece.length, 0);
            const bent = (bytes: Uint8Array): Uint8Array => {
              const index = left;
              left -= bytes.length;
              return index >= 0 && index < bytes.length ? flip(bytes, index) : bytes;
            };
            return pages.map((page) => ({
              ...page,
              commit: bent(page.commit),
              trees: page.trees.map(bent),
              piece: bent(page.piece),
            }));
          };
          const { end } = await followed(repository, path, bend);
          expect(end === 'fault' || (end as Trailed).kind === 'mismatch').toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});

const sizeOf = (all: readonly Uint8Array[]): number => all.reduce((sum, { length }) => sum + length, 0);

describe('what no honest guest would give is refused', () => {
  const repository = made();
  const other = { ...repository, commit: repository.objects.commit(directory({ 'lab/notes.md': 'as it is\n' })) };

  it.each<[claim: string, path: string, bend: (pages: TrailPage[]) => TrailPage[]]>([
    [
      'another commit',
      'lab/notes.md',
      ([page, ...rest]) => [
        { ...at(page), commit: repository.objects.get(other.commit, 'commit') ?? NOTHING },
        ...rest,
      ],
    ],
    [
      'another tree',
      'lab/notes.md',
      ([page, ...rest]) => [{ ...at(page), trees: [...at(page).trees].reverse() }, ...rest],
    ],
    [
      'a tree as a blob’s bytes',
      'lab/notes.md',
      (pages) =>
        pages.map((page) => (page.piece.length > 0 ? { ...page, piece: text('as it is\n'), blobSize: 9 } : page)),
    ],
    [
      'a tree less',
      'lab/room/deep.md',
      ([page, ...rest]) => [{ ...at(page), trees: at(page).trees.slice(0, 2) }, ...rest],
    ],
    ['a tree more', 'lab/missing', ([page]) => [{ ...at(page), trees: [...at(page).trees, text('')] }]],
    ['no tree at all', 'lab/notes.md', ([page, ...rest]) => [{ ...at(page), trees: [] }, ...rest]],
    ['no commit', 'lab/notes.md', ([page, ...rest]) => [{ ...at(page), commit: NOTHING }, ...rest]],
    ['the trees twice', 'lab/long', ([page, ...rest]) => [at(page), at(page), ...rest]],
    ['absent, without a proof', 'lab/notes.md', () => [bare('absent')]],
    ['absent, of what is there', 'lab/notes.md', ([page]) => [{ ...at(page), ending: 'absent', piece: NOTHING }]],
    ['absent, of a directory', 'lab/room', ([page]) => [{ ...at(page), ending: 'absent' }]],
    ['not a file, of a file', 'lab/notes.md', ([page]) => [{ ...at(page), ending: 'not-file', piece: NOTHING }]],
    ['whole, of nothing', 'lab/notes.md', () => [bare('whole')]],
    ['whole, of a part', 'lab/long', (pages) => [...pages.slice(0, 3), { ...at(pages[3]), ending: 'whole' }]],
    [
      'a blob of another size',
      'lab/notes.md',
      (pages) => pages.map((page) => ({ ...page, blobSize: page.blobSize + 1 })),
    ],
    [
      'a size that changes',
      'lab/long',
      (pages) => pages.map((page, index) => ({ ...page, blobSize: page.blobSize + (index > 2 ? 1 : 0) })),
    ],
    [
      'more than its size',
      'lab/long',
      (pages) => [...pages.slice(0, -1), { ...at(pages.at(-1)), ending: 'paused' }, at(pages.at(-1))],
    ],
    ['bytes before their trees', 'lab/long', ([page, next]) => [at(next), at(page)]],
    ['bytes of an absent file', 'lab/missing', ([page]) => [{ ...at(page), piece: text('x'), blobSize: 1 }]],
    [
      'no such commit, and its objects',
      'lab/notes.md',
      ([page]) => [{ ...at(page), ending: 'no-commit', piece: NOTHING }],
    ],
    [
      'unreachable, and its objects',
      'lab/notes.md',
      ([page]) => [{ ...at(page), ending: 'unreachable', piece: NOTHING }],
    ],
  ])('%s', async (_, path, bend) => {
    const { end, bytes } = await followed(repository, path, bend);
    expect(end === 'fault' || (end as Trailed | undefined)?.kind === 'mismatch').toBe(true);
    expect(bytes).toBe('');
  });

  it('a blob over what was asked for', async () => {
    expect((await followed(repository, 'lab/long', undefined, 4_999)).end).toBe('fault');
    expect((await followed(repository, 'lab/long', undefined, 5_000)).end).toMatchObject({ kind: 'blob' });
  });

  it.each(['no-commit', 'unreachable', 'budget'] as const)('but %s is its word, and nothing leaves', async (ending) => {
    expect((await followed(repository, 'lab/notes.md', () => [bare(ending)])).end).toEqual({ kind: ending });
  });
});

const at = (page: TrailPage | undefined): TrailPage => page ?? bare('paused');
const bare = (ending: TrailPage['ending']): TrailPage => ({
  commit: NOTHING,
  trees: [],
  blobSize: 0,
  piece: NOTHING,
  ending,
});

describe('objects are read strictly', () => {
  const oid = 'ab'.repeat(20);
  const entry = (mode: string, name: string): Buffer =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]);
  const read = (...parts: Buffer[]) => entryOf(Buffer.concat(parts), text('x'), 20);

  it.each<[claim: string, parts: Buffer[], read: unknown]>([
    ['a file', [entry('100644', 'x')], { kind: 'file', oid }],
    ['a directory with the zero of old', [entry('040000', 'x')], { kind: 'tree', oid }],
    [
      'a name behind others',
      [entry('100644', 'a'), entry('100644', 'x '), entry('120000', 'x')],
      { kind: 'link', oid },
    ],
    ['nothing in an empty tree', [], 'absent'],
    ['a name that stands twice', [entry('100644', 'x'), entry('100644', 'x')], 'malformed'],
    ['an empty name', [entry('100644', ''), entry('100644', 'x')], 'malformed'],
    ['a name with a slash, beside the one asked', [entry('100644', 'x'), entry('100644', 'y/z')], 'malformed'],
    ['a mode that is none', [entry('100648', 'x')], 'malformed'],
    ['a mode of no kind', [entry('010000', 'x')], 'malformed'],
    ['no mode', [entry('', 'x')], 'malformed'],
    ['an end in a name of an object', [entry('100644', 'x').subarray(0, -1)], 'malformed'],
    ['an end in a name', [entry('100644', 'x'), Buffer.from('100644 y')], 'malformed'],
    ['no space', [Buffer.from('100644')], 'malformed'],
  ])('%s', (_, parts, expected) => {
    expect(read(...parts)).toEqual(expected);
  });

  it.each<[commit: string, tree: string | undefined]>([
    [`tree ${oid}\nparent x`, oid],
    [`tree ${oid}\n`, oid],
    [`tree ${oid}`, undefined],
    [`tree ${oid.toUpperCase()}\n`, undefined],
    [` tree ${oid}\n`, undefined],
    [`tree ${oid}0\n`, undefined],
    ['', undefined],
  ])('a commit %j', (commit, tree) => {
    expect(treeOf(text(commit), 20)).toBe(tree);
  });

  it('a commit that has its name and no tree is corrupt, not the guest’s fault', async () => {
    const { objects } = made();
    const commit = objects.put('commit', 'parent x\n');
    const chain = await Chain.of({ commit, path: text('a'), oidBytes: 20, blobMaxBytes: 1 }, () => {});
    const page = { ...bare('absent'), commit: text('parent x\n'), trees: [text('')] };
    expect(chain.take(page)).toEqual({ kind: 'fault', fault: 'corrupt' });
  });
});
