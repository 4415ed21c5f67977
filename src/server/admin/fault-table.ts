/**
 * The faults that requests shall meet, in the order in which they were asked for.
 * Invariant: a request meets at most one fault, the oldest that fits, and a fault is gone once it was met as often as it
 * says.
 */
import { newId } from '../identifiers.ts';

/** What happens to a request. */
export interface FaultEffect {
  /** Milliseconds until anything happens. */
  readonly latency: number;
  /** The answer, in place of what was asked for: nothing else is done. */
  readonly refusal?: { readonly status: number; readonly retryAfter: number | undefined };
  /** The connection is cut without an answer, before the request is carried out or after. */
  readonly cut?: 'before-commit' | 'after-commit';
}

export interface Fault extends FaultEffect {
  readonly id: string;
  /** `*` is any. */
  readonly method: string;
  /** Path pattern: `*` or `:name` is any one segment, a last `**` any rest, none included. */
  readonly route: string;
  /** How many requests it meets yet. */
  readonly count: number;
}

export class FaultTable {
  #faults: readonly Fault[] = [];

  list(): readonly Fault[] {
    return this.#faults;
  }

  add(fault: Omit<Fault, 'id'>): Fault {
    const added = { id: newId('fault'), ...fault };
    this.#faults = [...this.#faults, added];
    return added;
  }

  /** Whether there was such a fault. */
  remove(id: string): boolean {
    const before = this.#faults.length;
    this.#faults = this.#faults.filter((fault) => fault.id !== id);
    return this.#faults.length < before;
  }

  clear(): void {
    this.#faults = [];
  }

  /** What a request meets; it is counted. `path` is without query. */
  meet(method: string, path: string): FaultEffect | undefined {
    const met = this.#faults.find((fault) => isMethod(fault.method, method) && fits(fault.route, path));
    if (met === undefined) return undefined;
    const left = { ...met, count: met.count - 1 };
    this.#faults = this.#faults.flatMap((fault) => {
      if (fault !== met) return [fault];
      return left.count > 0 ? [left] : [];
    });
    return met;
  }
}

function isMethod(wanted: string, given: string): boolean {
  return wanted === '*' || wanted === given;
}

function fits(route: string, path: string): boolean {
  const wanted = route.split('/');
  const given = path.replace(/\/$/, '').split('/');
  const isOpen = wanted.at(-1) === '**';
  const segments = isOpen ? wanted.slice(0, -1) : wanted;
  if (isOpen ? given.length < segments.length : given.length !== segments.length) return false;
  return segments.every((part, index) => part === '*' || part.startsWith(':') || part === given[index]);
}
