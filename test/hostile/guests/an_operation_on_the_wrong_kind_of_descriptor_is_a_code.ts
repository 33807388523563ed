/** Reads a directory, lists a file, opens below a file, and tells the codes. */
import { acts, answer, list, openWord, preopen, readAt, RET, sayResult } from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

acts((): usize => {
  const root = preopen();
  readAt(root, 1, 0, RET);
  sayResult(load<u8>(RET) === 0 ? 0 : ~(<i32>load<u8>(RET, 4)));
  const file = openWord(root, 'lab/notes.md', false);
  sayResult(file);
  sayResult(list(file));
  sayResult(openWord(file, 'x', false));
  sayResult(openWord(file, '..', true));
  return answer();
});
