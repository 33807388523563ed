/** Uses up its stack: alone, in realloc, or with an open at every level, so that it runs out inside the host. */
import { acts, answer, asked, dropDescriptor, honestRealloc, list, open, preopen, reallocs, word } from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

let deepRealloc = false;

function alone(n: i32): i32 {
  return n === i32.MAX_VALUE ? 0 : alone(n + 1) + n;
}

function opening(root: i32, name: usize, size: usize, n: i32): i32 {
  const handle = open(root, name, size, true, false);
  return opening(root, name, size, n + 1) + handle;
}

function dropping(root: i32, name: usize, size: usize, n: i32): i32 {
  const handle = open(root, name, size, true, false);
  if (handle >= 0) dropDescriptor(handle);
  return dropping(root, name, size, n + 1) + handle;
}

reallocs((old: usize, oldSize: usize, align: usize, size: usize): usize =>
  deepRealloc ? <usize>alone(0) : honestRealloc(old, oldSize, align, size),
);
acts((): usize => {
  if (asked('well')) return answer();
  if (asked('alone')) alone(0);
  const root = preopen();
  if (asked('opening')) opening(root, word('lab/notes.md'), 12, 0);
  if (asked('dropping')) dropping(root, word('lab/notes.md'), 12, 0);
  if (asked('listing')) for (let depth = 0; ; depth++) listing(root, depth);
  deepRealloc = asked('in realloc');
  if (deepRealloc) preopen();
  return answer();
});

function listing(root: i32, depth: i32): i32 {
  return depth === 0 ? list(root) : listing(root, depth - 1) + 1;
}
