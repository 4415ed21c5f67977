/**
 * Which of the moments at which a process can be killed a test run tries. Without a setting every `usual`-th; `TRUEUP_BOUNDARIES=all`
 * tries all of them, and `1/4` to `4/4` one quarter each, so that four runs together try all.
 */
const setting = process.env['TRUEUP_BOUNDARIES'];
const quarter = /^([1-4])\/4$/.exec(setting ?? '')?.[1];
if (setting !== undefined && setting !== 'all' && quarter === undefined)
  throw new Error(`TRUEUP_BOUNDARIES is "all" or one of "1/4" to "4/4", and not "${setting}"`);

/** Whether all of them are tried. */
export const isThorough = setting === 'all';

/** With a step, the last boundary is among the chosen ones, except in the first three quarters. */
export function chooseBoundaries<T>(all: readonly T[], usual: number): T[] {
  const step = setting === 'all' ? 1 : quarter === undefined ? usual : 4;
  const last = all.length - 1 + Number(quarter ?? step);
  return all.filter((_, index) => index % step === last % step);
}
