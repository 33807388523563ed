/**
 * A large search in several threads. Its own thread cuts what is left of the walk into parts, in walk order, and takes
 * the next one that nobody took, as every thread does that has joined; then it puts the answer together, part by part, as
 * one thread would have found it. Stands between search.ts and search.walk.ts.
 *
 * The answer is the one of a walk alone, to the byte, whoever walked what. A part is taken as it is only if a walk alone
 * would have gone through it in just that way: it ended complete, was refused nothing, and with all before it stays
 * within every cap and budget. At the first one that does not, the walk goes on alone from there, with what is left.
 */

import type { Verdict } from '../judge/bound.js';
import * as limits from '../limits.js';
import type { Call } from '../runner/call.js';
import type { Company, Joined } from '../runner/shared-walk.js';
import type { Ending } from '../wasi/guest.js';
import type { Stretch } from '../wasi/stretch.js';
import { bothFound, type Found, NOTHING_FOUND, progressOf, type SearchCaps, toValue } from './answer.js';
import { type PackedHits, packHits, unpackHits } from './hits.js';
import {
  type Asking,
  bothGained,
  fitsCall,
  type Gained,
  type Hand,
  NOTHING_GAINED,
  takeOn,
  Walk,
} from './search.walk.js';

/** What crosses to a thread that joins. */
interface Plan {
  readonly asking: Asking;
  readonly verdicts: readonly (readonly [building: string, verdict: Verdict])[];
  /** Where each part begins, in walk order; it ends where the next one does. */
  readonly borders: readonly (readonly string[])[];
}

/** What a part gave. */
interface Part extends Gained {
  /** Whether it may be taken as it is. */
  readonly isWhole: boolean;
}

const stretchOf = ({ borders }: Plan, part: number): Stretch => ({
  from: borders[part] ?? [],
  until: borders[part + 1] ?? [],
});

/** How a walk ended: what was found, and why there is no more. */
export interface Ended {
  readonly found: Found;
  readonly ending: Ending;
  /** The walk that came to the end, if one did: it may have met a start that does not open any more. */
  readonly last?: Walk;
}

/**
 * Goes on to the end of a walk, or of the time. Tells on the way what the call has found, with what was found `before`;
 * undefined: what the walk found is not yet part of the answer. False if the caller's signal ended it.
 */
async function walkOn(call: Call, walk: Walk, caps: SearchCaps, before: Found | undefined): Promise<boolean> {
  while (walk.ending === 'paused' && !call.meter.late()) {
    if (before !== undefined) tellWalk(call, walk, caps, before);
    if (!(await call.goOn())) return false;
    walk.more();
  }
  return true;
}

/**
 * Says what a call leaves that is ended from outside. Made only if somebody is told; and not for caps that no caller has,
 * since each time it is all that was found.
 */
export function tell(call: Call, caps: SearchCaps, isNews: boolean, found: () => Found): void {
  if (caps.matchCap > limits.MATCH_CAP) return;
  call.partial(
    () => toValue(found(), 'paused', call, caps),
    isNews,
    () => progressOf(found()),
  );
}

/** The same of a walk after its page, judged as an answer is; with what was found `before` it. */
export function tellWalk(call: Call, walk: Walk, caps: SearchCaps, before: Found = NOTHING_FOUND): void {
  tell(call, caps, walk.isNews, () => {
    walk.judgeAgain();
    return bothFound(before, walk.found());
  });
}

// ---- in a thread that joins ----

/** Walks parts until none is left or the thread is called back. A part that is left in the middle is lost. */
export async function joinSearch(call: Call, joined: Joined): Promise<void> {
  const plan = (await joined.plan()) as Plan | undefined; // the own thread of the same search made it
  if (plan === undefined) return;
  call.know(plan.verdicts);
  const hand = takeOn(call, plan.asking);
  for (let part = joined.take(); part !== undefined; part = joined.take()) {
    const walk = new Walk(call, plan.asking, hand, stretchOf(plan, part));
    while (walk.ending === 'paused' && joined.goOn() && !call.meter.isTimeOver()) walk.more();
    joined.give(part, walk.ending === 'paused' ? undefined : packed(partOf(walk)));
  }
}

function partOf(walk: Walk): Part {
  walk.judgeAgain();
  return { ...walk.gained(), isWhole: walk.isWhole() };
}

/** The same as it crosses between threads. */
interface PackedPart extends Omit<Part, 'found'> {
  readonly found: Omit<Found, 'hits'> & { readonly hits: PackedHits };
}

const packed = (part: Part): PackedPart => ({ ...part, found: { ...part.found, hits: packHits(part.found.hits) } });

const unpacked = (part: PackedPart): Part => ({ ...part, found: { ...part.found, hits: unpackHits(part.found.hits) } });

// ---- in the call's own thread ----

/** Whether a walk is worth sharing, asked between its pages: others are invited when it has gone on for a while. */
export class Sharing {
  readonly #call: Call;
  readonly #asking: Asking;
  readonly #hand: Hand;
  #tries = 0;

  constructor(call: Call, asking: Asking, hand: Hand) {
    this.#call = call;
    this.#asking = asking;
    this.#hand = hand;
  }

  /** The walk, if there is company and it stands where it can be cut. */
  cut(walk: Walk): SharedWalk | undefined {
    const { company } = this.#call;
    const { only } = this.#asking.start;
    if (company === undefined || only !== undefined || this.#tries >= limits.SHARE_TRIES_MAX) return undefined;
    company.invite();
    if (company.present === 0) return undefined;
    this.#tries++;
    const borders = walk.couldBeShared() ? walk.filesystem.ahead(limits.SHARED_PARTS_MAX) : undefined;
    if (borders !== undefined && borders.length > 1) {
      const plan = { asking: this.#asking, verdicts: this.#call.verdicts(), borders };
      return new SharedWalk(this.#call, this.#hand, company, plan);
    }
    if (this.#tries === limits.SHARE_TRIES_MAX) company.end();
    return undefined;
  }
}

/** A walk whose rest is cut. */
export class SharedWalk {
  readonly #call: Call;
  readonly #company: Company;
  readonly #plan: Plan;
  readonly #hand: Hand;
  /** What the call's own thread walked and has not yet taken into the answer. */
  readonly #own = new Map<number, Part>();
  /** All up to the next part. */
  #sum: Gained = NOTHING_GAINED;
  #next = 0;

  constructor(call: Call, hand: Hand, company: Company, plan: Plan) {
    this.#call = call;
    this.#hand = hand;
    this.#company = company;
    this.#plan = plan;
  }

  /** Goes on where `first` stands, to the end. Undefined if the caller's signal ended it. */
  async finish(first: Walk): Promise<Ended | undefined> {
    first.judgeAgain();
    this.#sum = first.gained();
    this.#company.begin(this.#plan, this.#plan.borders.length);
    try {
      return await this.#goOn();
    } finally {
      this.#company.end();
    }
  }

  async #goOn(): Promise<Ended | undefined> {
    for (;;) {
      const isTakenIn = this.#takeIn();
      this.#account();
      if (this.#next === this.#plan.borders.length) return { found: this.#sum.found, ending: 'complete' };
      if (this.#call.meter.late()) return { found: this.#sum.found, ending: 'paused' };
      if (!isTakenIn) return this.#alone();
      const part = this.#company.result(this.#next) === 'lost' ? this.#next : this.#company.take();
      if (part === undefined) await this.#company.news(this.#call.meter.leftMs);
      else if (!(await this.#walk(part))) return undefined;
    }
  }

  /** Takes in what there is of the parts that come next. False at one that a walk alone would not have given. */
  #takeIn(): boolean {
    for (; this.#next < this.#plan.borders.length; this.#next++) {
      const part = this.#own.get(this.#next) ?? this.#given(this.#next);
      if (part === undefined) return true;
      const sum = bothGained(this.#sum, part);
      if (!part.isWhole || !fitsCall(sum, this.#plan.asking.caps, this.#call)) return false;
      this.#sum = sum;
      this.#own.delete(this.#next);
      const { hits, unread } = part.found;
      tell(this.#call, this.#plan.asking.caps, hits.length + unread.length > 0, () => sum.found);
    }
    return true;
  }

  #given(part: number): Part | undefined {
    const result = this.#company.result(part);
    return typeof result === 'string' ? undefined : unpacked(result.value as PackedPart); // `joinSearch` made it
  }

  /** What the call has used is what all walks up to here have. */
  #account(): void {
    this.#call.meter.resume(this.#sum.used);
    this.#call.meter.arrived();
  }

  /** A part in this thread. False if the caller's signal ended it. */
  async #walk(part: number): Promise<boolean> {
    const { asking } = this.#plan;
    const isNext = part === this.#next;
    const walk = new Walk(this.#call, asking, this.#hand, stretchOf(this.#plan, part));
    // What comes behind parts that are still out cannot be told yet.
    if (!(await walkOn(this.#call, walk, asking.caps, isNext ? this.#sum.found : undefined))) return false;
    if (!this.#call.meter.isTimeOver()) this.#own.set(part, partOf(walk));
    else if (isNext) this.#takeInLast(walk);
    await this.#company.hear();
    return true;
  }

  /** The time is over: the part that was under way is the end of the answer, as far as it came. */
  #takeInLast(walk: Walk): void {
    walk.judgeAgain();
    const sum = bothGained(this.#sum, walk.gained());
    if (fitsCall(sum, this.#plan.asking.caps, this.#call)) this.#sum = sum;
  }

  /** From the next part to the end, as if nobody had joined. */
  async #alone(): Promise<Ended | undefined> {
    this.#company.end();
    const { asking, borders } = this.#plan;
    const stretch = { from: borders[this.#next] ?? [], until: [] };
    const walk = new Walk(this.#call, asking, this.#hand, stretch, this.#sum);
    if (!(await walkOn(this.#call, walk, asking.caps, NOTHING_FOUND))) return undefined;
    walk.judgeAgain();
    return { found: walk.found(), ending: walk.ending, last: walk };
  }
}
