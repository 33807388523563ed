/** Grows its memory until there is no more, and then ends as it is told. */
import { acts, answer, asked, sayNumber } from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

acts((): usize => {
  for (let pages = 1_024; pages > 0; pages >>= 1) while (memory.grow(pages) >= 0) {}
  if (asked('and traps')) unreachable();
  sayNumber(<u64>memory.size());
  return answer();
});
