/** Names whose sizes no memory has, and one byte over the longest, and tells the codes. */
import { acts, alloc, answer, open, preopen, sayResult, word } from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

acts((): usize => {
  const root = preopen();
  const name = word('lab');
  sayResult(open(root, name, 0xffff_ffff, true, true));
  sayResult(open(root, name, 0x8000_0000, true, true));
  sayResult(open(root, 0xffff_ffff, 0xffff_ffff, true, true));
  const long = alloc(65_537, 1);
  memory.fill(long, 0x61, 65_537);
  sayResult(open(root, long, 65_537, true, true));
  sayResult(open(root, long, 65_536, true, true));
  return answer();
});
