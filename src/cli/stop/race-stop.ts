/** Work that a signal may cut short. What only reads can be left where it stands; what writes must be waited for. */

/** What the work comes to, or `stopped` as soon as the signal says so; the work's own end is then nobody's concern. */
export async function raceStop<T>(work: Promise<T>, stop: AbortSignal): Promise<T | 'stopped'> {
  if (stop.aborted) {
    work.catch(() => {});
    return 'stopped';
  }
  let forget = () => {};
  const stopped = new Promise<'stopped'>((resolve) => {
    const end = () => resolve('stopped');
    stop.addEventListener('abort', end);
    forget = () => stop.removeEventListener('abort', end);
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    forget();
  }
}
