/**
 * Finds a sequence of units in a text that can be read in several ways. The algorithm is that of Knuth, Morris and Pratt, over all
 * readings at once: each reading keeps the length of the longest beginning of the sequence that it ends with.
 */
import { backslash } from './spellings.ts';

interface Found {
  start: number;
  end: number;
}

/** How many readings are followed at one offset. There are more only where a secret repeats itself and its own escapes. */
const mostReadings = 4;

export class Matcher {
  readonly #units: Uint16Array;
  readonly #fallbacks: Int32Array;
  #least = 0;
  #found: Found[] = [];
  // A node is a reading up to an offset. It knows how much of the sequence it ends with, and the node before the last unit.
  #lengths: number[] = [];
  #offsets: number[] = [];
  #before: number[] = [];
  #offset = 0;
  /** nodes at the current offset, at the next one, and at those beyond */
  #current: number[] = [];
  #next: number[] = [];
  readonly #later = new Map<number, number[]>();

  /** @param units a backslash is never followed by another: a run counts as one, because each level of escaping doubles it */
  constructor(units: Uint16Array) {
    this.#units = units;
    this.#fallbacks = fallbacksOf(units);
  }

  /** @param least length of a beginning that counts as found */
  begin(least: number): void {
    this.#least = Math.min(least, this.#units.length);
    this.#found = [];
    this.#later.clear();
    this.#next = [];
    this.startAt(0);
    this.#current = [];
  }

  /** Sorted, without overlaps. */
  found(): Found[] {
    return this.#found;
  }

  /** @returns false when no reading has begun to fit; then `startAt` goes on where one may begin */
  moveTo(offset: number): boolean {
    this.#offset = offset;
    let nodes = this.#next;
    this.#next = [];
    const escapes = this.#later.get(offset);
    if (escapes !== undefined) {
      this.#later.delete(offset);
      // first, as with the backslash that belongs to it
      for (const node of nodes) this.#arrive(escapes, node);
      nodes = escapes;
    }
    this.#current = nodes;
    for (const node of nodes) if ((this.#lengths[node] ?? 0) >= this.#least) this.#report(node);
    if (nodes.length > 0) return true;
    if (this.#later.size === 0) return false;
    nodes.push(this.#node(0, offset, -1));
    return true;
  }

  startAt(offset: number): void {
    this.#offset = offset;
    this.#lengths.length = this.#offsets.length = this.#before.length = 0;
    this.#current = [this.#node(0, offset, -1)];
  }

  /** Reads one or two units, which end at an offset. */
  read(end: number, unit: number, second?: number): void {
    for (const node of this.#current) {
      const first = this.#after(node, unit, end);
      const last = first === -1 || second === undefined ? first : this.#after(first, second, end);
      if (last === -1) continue;
      if (end === this.#offset + 1) this.#arrive(this.#next, last);
      else {
        const nodes = this.#later.get(end);
        if (nodes === undefined) this.#later.set(end, [last]);
        else this.#arrive(nodes, last);
      }
    }
  }

  #node(length: number, offset: number, before: number): number {
    this.#offsets.push(offset);
    this.#before.push(before);
    return this.#lengths.push(length) - 1;
  }

  /** The node after one more unit; -1 when it ends with no beginning of the sequence. */
  #after(node: number, unit: number, end: number): number {
    const [units, fallbacks] = [this.#units, this.#fallbacks];
    let length = this.#lengths[node] ?? 0;
    if (unit === backslash && length > 0 && units[length - 1] === backslash)
      return this.#node(length, end, this.#before[node] ?? -1);
    while (length >= 0 && units[length] !== unit) length = fallbacks[length] ?? -1;
    return length < 0 ? -1 : this.#node(length + 1, end, node);
  }

  #arrive(nodes: number[], node: number): void {
    const length = this.#lengths[node] ?? 0;
    let smallest = 0;
    for (const [at, other] of nodes.entries()) {
      const otherLength = this.#lengths[other] ?? 0;
      if (otherLength === length) return;
      if (otherLength < (this.#lengths[nodes[smallest] ?? 0] ?? 0)) smallest = at;
    }
    if (nodes.length < mostReadings) nodes.push(node);
    else if ((this.#lengths[nodes[smallest] ?? 0] ?? 0) < length) nodes[smallest] = node;
  }

  /** Walks back to the first unit, or to what was reported before: all walks together are as long as the text. */
  #report(node: number): void {
    const last = this.#found.at(-1);
    const reported = last?.end ?? -1;
    let at = node;
    let left = this.#lengths[node] ?? 0;
    for (; left > 0 && (this.#offsets[at] ?? 0) > reported; left--) at = this.#before[at] ?? -1;
    const [start, end] = [this.#offsets[at] ?? 0, this.#offsets[node] ?? 0];
    if (last === undefined || (left === 0 && start >= reported)) this.#found.push({ start, end });
    else last.end = end;
  }
}

/** For each length that was found, the next shorter one that may go on when the next unit does not fit; -1 for none. */
function fallbacksOf(units: Uint16Array): Int32Array {
  const fallbacks = new Int32Array(units.length + 1);
  fallbacks[0] = -1;
  let shorter = 0;
  for (let at = 1; at < units.length; at++, shorter++) {
    if (units[at] === units[shorter]) fallbacks[at] = fallbacks[shorter] ?? -1;
    else {
      fallbacks[at] = shorter;
      while (shorter >= 0 && units[at] !== units[shorter]) shorter = fallbacks[shorter] ?? -1;
    }
  }
  if (units.length > 0) fallbacks[units.length] = shorter;
  return fallbacks;
}
