/** Counts its calls in a global and in memory, and tells the counts. */
import { acts, answer, say, sayNumber } from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

let calls: u64 = 0;
const COUNT: usize = memory.data(8, 8);

acts((): usize => {
  store<u64>(COUNT, load<u64>(COUNT) + 1);
  sayNumber(++calls);
  say(' ');
  sayNumber(load<u64>(COUNT));
  return answer();
});
