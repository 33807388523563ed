/** Gives the file's true text, but reads it as its name says. */
import { asked, open, passOver, preopen, readAt, reads, RET, slice, told, toldSize, whole } from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

reads((): usize => {
  const root = preopen();
  if (asked('never')) return slice(whole, 0, 0, 0, 0);
  const file = open(root, told, toldSize, true, false);
  if (asked('from the middle')) readAt(file, 4, 4, RET);
  if (asked('not to the end')) readAt(file, 4, 0, RET);
  if (asked('backwards')) {
    readAt(file, 100, 8, RET);
    readAt(file, 8, 0, RET);
  }
  if (asked('with a gap')) {
    readAt(file, 4, 0, RET);
    readAt(file, 100, 8, RET);
  }
  if (asked('past 2^53')) readAt(file, 1, u64.MAX_VALUE, RET);
  if (asked('twice')) passOver();
  if (asked('not to the end')) {
    const text = load<usize>(RET, 4);
    return slice(text, 4, 1, 1, 0);
  }
  const size = asked('never') ? 0 : passOver();
  return slice(whole, size, 3, 3, 0);
});
