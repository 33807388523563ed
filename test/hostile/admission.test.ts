/**
 * What is not admitted, and what an admitted module may still try with means that AssemblyScript does not have: its own
 * exceptions, catching the host's, a start function that calls, tables. Texts of WebAssembly (text.ts).
 */

import { describe, expect, it } from 'vitest';
import { GUEST_TABLE_MAX } from '../../dist/limits.js';
import { admitComponent } from '../../dist/runner/component.js';
import { asError } from '../support/outcomes.js';
import { compileGuest, GUEST_NAMES } from './build.js';
import { call } from './calls.js';
import { assemble, componentAround, EMPTY_PAGE, EXPORTS, IMPORTS, searching, world } from './text.js';

const admit = (text: string) => admitComponent(componentAround(assemble(text)));

describe('admission', () => {
  it('admits every guest of guests/: what stops them is the runner', async () => {
    for (const name of GUEST_NAMES) {
      await expect(admitComponent(componentAround(await compileGuest(name))), name).resolves.toBeDefined();
    }
  });

  it('admits the world as the texts have it: what follows is refused for its one change', async () => {
    await expect(admit(world())).resolves.toMatchObject({ memoryMaxPages: 16 });
    await expect(admit(world({}, `(table ${GUEST_TABLE_MAX} ${GUEST_TABLE_MAX} funcref)`))).resolves.toBeDefined();
  });

  const IMPORT = 'imports are not the promised ones';
  it.each<[why: string, text: string, says: string]>([
    ['imports exit', world({ exit: '(import "wasi:cli/exit@0.2.12" "exit" (func (param i32)))' }), IMPORT],
    ['imports a clock', world({ now: '(import "wasi:clocks/wall-clock@0.2.12" "now" (func (param i32)))' }), IMPORT],
    [
      'imports one more function of the file system',
      world({ stat: '(import "wasi:filesystem/types@0.2.12" "[method]descriptor.stat" (func (param i32 i32)))' }),
      IMPORT,
    ],
    ['imports a promised function twice', world({ again: IMPORTS['drop']?.replace('$drop', '$again') ?? '' }), IMPORT],
    ['imports less', world({ list: '' }), IMPORT],
    [
      'imports another version',
      world({ drop: '(import "wasi:filesystem/types@0.2.11" "[resource-drop]descriptor" (func (param i32)))' }),
      IMPORT,
    ],
    ['imports JavaScript', world({ evil: `(import "x']; evil(); //" "f" (func))` }), IMPORT],
    [
      'spells two imports as one',
      world({
        preopens: '',
        open: '(import "wasi:filesystem/preopens@0.2.12 get-directories\\0awasi:filesystem/types@0.2.12" "[method]descriptor.open-at" (func))',
      }),
      IMPORT,
    ],
    [
      'imports its memory',
      world({ memory: '(import "m" "memory" (memory 1 1)) (export "memory" (memory 0))' }),
      'no function',
    ],
    [
      'imports a promised name as a global',
      world({ drop: '(import "wasi:filesystem/types@0.2.12" "[resource-drop]descriptor" (global i32))' }),
      'no function',
    ],
    [
      'imports a handle of 64 bits',
      world({ drop: IMPORTS['drop']?.replace('i32', 'i64') ?? '' }),
      'imports a function by another type',
    ],
    [
      'imports a result that the host does not give',
      world({ drop: IMPORTS['drop']?.replace('(param i32)', '(param i32) (result i64)') ?? '' }),
      'imports a function by another type',
    ],
    ['imports objects', world({ drop: IMPORTS['drop']?.replace('i32', 'externref') ?? '' }), 'by another type'],
    ...Object.keys(EXPORTS).map((name): [string, string, string] => [
      `does not export ${name}`,
      world({ [name]: name === 'memory' ? '(memory 1 1)' : '' }),
      'does not export',
    ]),
    [
      'exports a memory that is a function',
      world({ memory: '(memory 1 1) (func (export "memory"))' }),
      'export memory',
    ],
    [
      'exports a realloc that is a global',
      world({ cabi_realloc: '(global (export "cabi_realloc") i32 (i32.const 0))' }),
      'does not export cabi_realloc',
    ],
    [
      'exports a realloc of 64 bits',
      world({ cabi_realloc: '(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i64) i64.const 0)' }),
      'does not export cabi_realloc',
    ],
    [
      'exports a realloc that gives two',
      world({
        cabi_realloc: '(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32 i32) i32.const 0 i32.const 0)',
      }),
      'does not export cabi_realloc',
    ],
    ['exports a search with too few', world({ search: '(func (export "search") (result i32) i32.const 0)' }), 'search'],
    ['has a memory without a maximum', world({ memory: '(memory (export "memory") 1)' }), 'maximum memory'],
    ['has a memory over the limit', world({ memory: '(memory (export "memory") 1 4097)' }), 'maximum memory'],
    ['has a shared memory', world({ memory: '(memory (export "memory") 1 16 shared)' }), 'maximum memory'],
    ['has a table of ten million', world({}, '(table 10000000 10000000 funcref)'), 'a table'],
    ['has a table that may grow', world({}, '(table 1 funcref)'), 'a table'],
    ['has tables that add up', world({}, `(table 1 ${GUEST_TABLE_MAX} funcref) (table 1 1 funcref)`), 'a table'],
    ['has a table of objects', world({}, '(table 1 1 externref)'), 'a table'],
  ])('refuses a component that %s', async (_, text, says) => {
    await expect(admit(text)).rejects.toThrow(says);
  });

  it('refuses two memories, and memory of 64 bits, whichever of the two checks finds it', async () => {
    await expect(admit(world({}, '(memory 1 1)'))).rejects.toThrow();
    await expect(admit(world({ memory: '(memory (export "memory") i64 1 16)' }))).rejects.toThrow();
  });

  it('refuses what is no component, and one cut short at any byte', async () => {
    const whole = componentAround(assemble(world()));
    for (let size = 0; size < whole.length; size++) {
      await expect(admitComponent(whole.subarray(0, size)), `${size} bytes`).rejects.toThrow();
    }
    await expect(admitComponent(assemble(world()))).rejects.toThrow('not a component');
  });
});

describe('an admitted module', () => {
  const run = async (text: string) => {
    const core = assemble(text);
    await admitComponent(componentAround(core));
    return call(new WebAssembly.Module(new Uint8Array(core)), 'x');
  };
  const isTrap = (outcome: Awaited<ReturnType<typeof run>>): void => expect(asError(outcome).code).toBe('E_GUEST_TRAP');

  it('that asks and answers is an answer: what follows is a trap for its one change', async () => {
    const outcome = await run(world({ search: searching(`i32.const 8 call $preopens ${EMPTY_PAGE}`) }));
    expect(outcome).toMatchObject({ ok: true, value: { count: 0, truncated: false } });
  });

  it.each([
    ['throws an exception of its own', world({ search: searching('throw $e') }, '(tag $e)')],
    ['throws one with values', world({ search: searching('i64.const 7 throw $e') }, '(tag $e (param i64))')],
    [
      'catches what a bogus handle threw, and answers as if nothing were',
      world({ search: searching(`try i32.const 77 call $drop catch_all end ${EMPTY_PAGE}`) }),
    ],
    [
      'catches it, and asks on',
      world({
        search: searching(
          `try i32.const 77 call $drop catch_all end try i32.const 8 call $preopens catch_all end ${EMPTY_PAGE}`,
        ),
      }),
    ],
    [
      'catches what a call back from realloc threw',
      world({
        cabi_realloc: `(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
          try i32.const 8 call $preopens catch_all end i32.const 1024)`,
        search: searching(EMPTY_PAGE),
      }),
    ],
    [
      'catches its own throw in realloc while the host allocates',
      world(
        {
          cabi_realloc: `(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
            (if (i32.eq (local.get 3) (i32.const 12)) (then (throw $e))) i32.const 1024)`,
          search: searching(`try i32.const 8 call $preopens catch_all end ${EMPTY_PAGE}`),
        },
        '(tag $e)',
      ),
    ],
    ['calls an import from its start function', world({}, '(func $begin i32.const 8 call $preopens) (start $begin)')],
    [
      'catches in its start function',
      world(
        { search: searching(EMPTY_PAGE) },
        '(func $begin try i32.const 8 call $preopens catch_all end) (start $begin)',
      ),
    ],
    ['traps in its start function', world({}, '(func $begin unreachable) (start $begin)')],
    ['fills a table past its end at instantiation', world({}, '(table 1 1 funcref) (elem (i32.const 1) $drop)')],
    ['has data past its memory', world({}, '(data (i32.const 262144) "x")')],
    ['has no memory at all', world({ memory: '(memory (export "memory") 0 16)' })],
  ])('that %s is a trap', async (_, text) => isTrap(await run(text)));
});
