/** Makes one signal of one key press: the terminal sends Ctrl-C to npm and to us, and npm sends it to us again. */

/** Milliseconds in which a repeated signal is ignored: shorter than the time between two intended key presses. */
const repeatTime = 250;

/**
 * Calls the handler for each signal, except when the same signal came just before.
 * @param now in milliseconds, from any starting point
 */
export function debounceSignal(handler: () => void, now: () => number): (signal: string) => void {
  const last = new Map<string, number>();
  return (signal) => {
    const at = now();
    if (at - (last.get(signal) ?? Number.NEGATIVE_INFINITY) < repeatTime) return;
    last.set(signal, at);
    handler();
  };
}
