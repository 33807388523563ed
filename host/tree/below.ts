/**
 * A directory of a tree as a tree of its own: for what stands under a reserved name and was judged as one thing, so that
 * whoever holds it holds that and nothing else. The block store, a package of a shelf and a git directory are entered so.
 *
 * Stands between a tool, which decided that the place may be handed over, and wasi/, which resolves only below it.
 */

import { type Dir, type Failure, failed, type Tree } from './tree.js';

/**
 * The tree below `segments`, each a plain name, from the root of `tree`; none: its root. No link is followed on the way,
 * and each name must stand in its listing as it is spelled: `is-link`, `no-entry` and the other failures are values.
 * The caller closes it; `tree` stays open for as long, and is not closed with it. Costs two system calls a segment.
 */
export function below(tree: Tree, segments: readonly string[]): Tree | Failure {
  const root = descend(tree.root, segments);
  return failed(root) ? root : new Below(tree, segments, root);
}

function descend(from: Dir, segments: readonly string[]): Dir | Failure {
  let dir = from.again();
  for (const segment of segments) {
    if (failed(dir)) return dir;
    const next = spelledSo(dir, segment) ?? dir.directory(segment);
    dir.close();
    dir = next;
  }
  return dir;
}

/** Undefined if the name stands so in the listing: an alias of a file system that folds names is not that name. */
function spelledSo(dir: Dir, segment: string): Failure | undefined {
  const stands = dir.stands(segment);
  if (failed(stands)) return stands;
  return stands ? undefined : 'no-entry';
}

class Below implements Tree {
  readonly kind: Tree['kind'];
  readonly containment: Tree['containment'];
  readonly spellings: Tree['spellings'];
  readonly root: Dir;
  readonly #above: Tree;

  constructor(above: Tree, segments: readonly string[], root: Dir) {
    const { entered, real, style } = above.spellings;
    const way = segments.map((segment) => `/${segment}`).join('');
    const under = (spelling: string): string => (spelling === '/' && way !== '' ? way : spelling + way);
    this.kind = above.kind;
    this.containment = above.containment;
    this.spellings = { entered: under(entered), real: under(real), style };
    this.root = root;
    this.#above = above;
  }

  openCount(): number {
    return this.#above.openCount();
  }

  close(): void {
    this.root.close();
  }
}
