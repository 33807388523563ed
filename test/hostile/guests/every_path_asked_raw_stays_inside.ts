/** Asks wall 2 for the very path it is told, with every pair of flags, and tells all it learns. */
import { acts, answer, open, preopen, tell, told, toldSize } from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

acts((): usize => {
  const root = preopen();
  tell(open(root, told, toldSize, true, false), false, 0);
  tell(open(root, told, toldSize, false, false), false, 0);
  tell(open(root, told, toldSize, true, true), true, 3);
  tell(open(root, told, toldSize, false, true), true, 3);
  return answer();
});
