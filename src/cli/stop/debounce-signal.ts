/** One key press, one signal: a terminal sends Ctrl-C to npm and to us, and npm passes it on to us once more. */

/** As long as an echo may take, and shorter than two presses that are meant. Milliseconds. */
const echo = 250;

/**
 * Calls the handler for each signal but the echoes of the one before; another signal is never an echo.
 * @param now in milliseconds, from any beginning
 */
export function debounceSignal(handler: () => void, now: () => number): (signal: string) => void {
  const heard = new Map<string, number>();
  return (signal) => {
    const at = now();
    if (at - (heard.get(signal) ?? Number.NEGATIVE_INFINITY) < echo) return;
    heard.set(signal, at);
    handler();
  };
}
