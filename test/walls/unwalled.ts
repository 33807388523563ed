/**
 * A call whose guest is handed the whole city, by neither wall: it shows that an attack can succeed at all, and that
 * what a guest gets hold of then is still judged where it would leave.
 */

import { Bound } from '../../dist/judge/bound.js';
import type { Call } from '../../dist/runner/call.js';
import { TOOLS } from '../../dist/tools/registry.js';
import { Filesystem } from '../../dist/wasi/filesystem.js';
import type { Guest } from '../../dist/wasi/guest.js';
import type { CallOptions } from '../support/cities.js';

/** Options of one call of `tool` from the top of the city, whose guest `make` makes over a tree that nothing bounds. */
export function unwalled(
  tool: string,
  args: object,
  make: (filesystem: Filesystem) => Guest,
): Pick<CallOptions, 'work' | 'unchecked'> {
  let under: Call | undefined;
  return {
    work: (call) => {
      const work = TOOLS.get(tool);
      if (work === undefined) throw new Error('no such tool');
      under = call;
      return work.run(call, args);
    },
    unchecked: {
      guest: () => {
        if (under === undefined) throw new Error('a guest before its call');
        const { tree, meter } = under;
        // What it leaves open is closed with the tree.
        const preopen = { kind: 'directory', shown: '', path: '' } as const;
        return make(new Filesystem({ tree, meter, bound: Bound.openUnchecked(), preopen }));
      },
    },
  };
}
