/**
 * Hearing a message port in the words that all runtimes have. A port that was sent to another thread is Node's own there
 * in Node and in Bun, and a web port, without `on`, in Deno. Between pool.ts, worker.ts and shared-walk.ts.
 */

import type { MessagePort } from 'node:worker_threads';

/**
 * Calls `listener` with each message of the port until what comes back is called. Messages sent before are not lost.
 * `Message` is what the other side sends: both sides are ours.
 */
export function heard<Message>(port: MessagePort, listener: (message: Message) => void): () => void {
  // Whatever the type says: the other side of the port is this project's own code.
  const onMessage = (event: Event): void => listener((event as MessageEvent<Message>).data);
  port.addEventListener('message', onMessage);
  port.start();
  return () => port.removeEventListener('message', onMessage);
}
