/** Loops for ever: at once, in a later page, or in its realloc; told which. */
import { acts, answer, asked, continues, PAUSED, preopen, reads, reallocs, honestRealloc } from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

let loopsInRealloc = false;

function forEver(): usize {
  while (true) {}
}

reallocs((old: usize, oldSize: usize, align: usize, size: usize): usize =>
  loopsInRealloc ? forEver() : honestRealloc(old, oldSize, align, size),
);
acts((): usize => {
  if (asked('well')) return answer();
  if (asked('in a later page')) return answer(PAUSED);
  loopsInRealloc = asked('in realloc');
  if (loopsInRealloc) preopen();
  return forEver();
});
continues(forEver);
reads(forEver);
