/** Walks all it can reach, through every link, and tells every name and byte. */
import { acts, answer, preopen, tell } from '../prelude';
export { cabi_realloc, keepsTheImports, more, next, read, search } from '../prelude';

acts((): usize => {
  tell(preopen(), true, 4);
  return answer();
});
