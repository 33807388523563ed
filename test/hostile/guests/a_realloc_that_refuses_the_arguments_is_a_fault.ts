/** Has no place for what it is asked. */
import { acts, answer, reallocs } from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

reallocs((old: usize, oldSize: usize, align: usize, size: usize): usize => 0xffff_0000);
acts((): usize => answer());
