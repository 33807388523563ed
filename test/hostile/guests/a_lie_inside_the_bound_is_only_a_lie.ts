/** Invents a hit and an unread in a building that may be read; says that a good file is no text. Stated, not seen. */
import { acts, addHit, COMPLETE, NOT_TEXT, page, passOver, reading, reads, told, toldSize } from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

acts((): usize => {
  addHit('lab/there-is-no-such-file', 7, told, toldSize);
  return page(1, COMPLETE);
});
reads((): usize => {
  passOver();
  return reading(NOT_TEXT);
});
