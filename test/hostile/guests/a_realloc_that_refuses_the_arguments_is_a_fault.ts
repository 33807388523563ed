/** Has no place for what it is asked. */
import { acts, answer, reallocs } from '../prelude';
export { cabi_realloc, keepsTheImports, more, next, read, search } from '../prelude';

reallocs((old: usize, oldSize: usize, align: usize, size: usize): usize => 0xffff_0000);
acts((): usize => answer());
