/** Which changes wait for which. */
import type { PlanView } from '../../report-view.ts';

/** By position: what the change waits for, and what waits for it. */
export function findNeighbours({ waits }: PlanView) {
  const earlier = new Map<number, number[]>();
  const later = new Map<number, number[]>();
  const add = (to: Map<number, number[]>, key: number, value: number) => {
    const list = to.get(key);
    if (list === undefined) to.set(key, [value]);
    else list.push(value);
  };
  for (let at = 0; at + 1 < waits.length; at += 2) {
    const [cause = 0, waiting = 0] = [waits[at], waits[at + 1]];
    add(earlier, waiting, cause);
    add(later, cause, waiting);
  }
  return (index: number) => ({ earlier: earlier.get(index) ?? [], later: later.get(index) ?? [] });
}
