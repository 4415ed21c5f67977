/**
 * Which of the moments at which a process can be killed a test run tries. Without a setting every `usual`-th; `TRUEUP_BOUNDARIES=all`
 * tries all of them, and `1/2` and `2/2` one half each, so that two runs together try all.
 */
const setting = process.env['TRUEUP_BOUNDARIES'];
const half = /^([12])\/2$/.exec(setting ?? '')?.[1];
if (setting !== undefined && setting !== 'all' && half === undefined)
  throw new Error(`TRUEUP_BOUNDARIES is "all", "1/2" or "2/2", and not "${setting}"`);

/** Whether all of them are tried. */
export const isThorough = setting === 'all';

/** With a step, the last boundary is among the chosen ones, except in the first half. */
export function chooseBoundaries<T>(all: readonly T[], usual: number): T[] {
  const step = setting === 'all' ? 1 : half === undefined ? usual : 2;
  const last = all.length - (half === '1' ? 2 : 1);
  return all.filter((_, index) => index % step === last % step);
}
